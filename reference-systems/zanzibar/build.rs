//! Compiles the service's description. `protox` is a protobuf compiler in Rust, so that no `protoc`
//! is needed to build. The JSON form of messages follows protobuf: both spellings of a name are
//! accepted, and empty fields are omitted.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptions = protox::compile(["proto/zanzigo/v1/zanzigo.proto"], ["proto"])?;
    let messages = [
        "Tuple",
        "WriteRequest",
        "WriteResponse",
        "DeleteRequest",
        "DeleteResponse",
        "ReadRequest",
        "ReadResponse",
        "Pagination",
        "ListRequest",
        "ListResponse",
        "CheckRequest",
        "CheckResponse",
    ];
    let mut build = tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false);
    for message in messages {
        build = build.message_attribute(
            format!("zanzigo.v1.{message}"),
            "#[derive(serde::Serialize, serde::Deserialize)]\
             #[serde(default, deny_unknown_fields, rename_all = \"camelCase\")]",
        );
    }
    for field in ["object", "subject"] {
        for part in ["type", "id", "relation"] {
            build = build.field_attribute(
                format!("zanzigo.v1.Tuple.{field}_{part}"),
                format!(
                    "#[serde(alias = \"{field}_{part}\", skip_serializing_if = \"String::is_empty\", \
                     deserialize_with = \"crate::service::json::text\")]"
                ),
            );
        }
    }
    for text in ["Pagination", "ListResponse", "ReadResponse"] {
        let name = if text == "ReadResponse" {
            "uuid"
        } else {
            "cursor"
        };
        build = build.field_attribute(
            format!("zanzigo.v1.{text}.{name}"),
            "#[serde(skip_serializing_if = \"String::is_empty\", \
             deserialize_with = \"crate::service::json::text\")]",
        );
    }
    for message in [
        "WriteRequest.tuple",
        "DeleteRequest.tuple",
        "ReadRequest.tuple",
        "CheckRequest.tuple",
        "ListRequest.filter",
        "ListRequest.pagination",
    ] {
        build = build.field_attribute(
            format!("zanzigo.v1.{message}"),
            "#[serde(deserialize_with = \"crate::service::json::message\")]",
        );
    }
    build
        .field_attribute(
            "zanzigo.v1.Pagination.limit",
            "#[serde(deserialize_with = \"crate::service::json::count\")]",
        )
        .field_attribute(
            "zanzigo.v1.ListResponse.tuples",
            "#[serde(skip_serializing_if = \"Vec::is_empty\")]",
        )
        .field_attribute(
            "zanzigo.v1.CheckResponse.result",
            "#[serde(skip_serializing_if = \"std::ops::Not::not\")]",
        )
        .compile_fds(descriptions)?;
    Ok(())
}
