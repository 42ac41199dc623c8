//! Descriptions of gRPC services: `.proto` files, and descriptors from a server's reflection service.

use plimsoll_grpc::{Schema, Source};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "grpc_schema",
    run,
    seeds: &[
        b"syntax = \"proto3\"; package p; message M { string a = 1; repeated M b = 2; map<int32, M> c = 3; oneof d { int64 e = 4; bytes f = 5; } } service S { rpc R(M) returns (stream M); }",
        b"syntax = \"proto2\"; import \"google/protobuf/any.proto\"; enum E { A = 0; B = -1; } message M { required E e = 1 [default = A]; extensions 100 to max; reserved 2, 4 to 5, \"x\"; optional group G = 3 { optional float f = 1; } }",
        b"edition = \"2023\"; message M { int32 a = 1 [features.field_presence = IMPLICIT]; }",
        // A set with one file: m.proto, package p, message M, service S with method R.
        b"\x0a\x2f\x0a\x07m.proto\x12\x01p\x22\x03\x0a\x01M\x32\x14\x0a\x01S\x12\x0f\x0a\x01R\x12\x04.p.M\x1a\x04.p.M\x62\x06proto3",
        // Once caused a panic: the syntax is unknown.
        b"\x0a\x2f\x0a\x07m.proto\x12\x01p\x22\x03\x0a\x01M\x32\x14\x0a\x01S\x12\x0f\x0a\x01R\x12\x04.p.M\x1a\x04.p.M\x62\x06proto4",
    ],
    words: &[
        "syntax = \"proto3\";", "message ", "enum ", "service ", "rpc ", "returns ", "stream ", "oneof ", "map<", "repeated ",
        "optional ", "required ", "group ", "extend ", "extensions ", "reserved ", "option ", "import ", "package ", "{", "}",
        "[", "]", " = 1;", "536870911", "google/protobuf/any.proto", "\u{a}", "\u{12}", "\u{1a}", "\u{22}", "\u{32}",
    ],
};

/// Provides the input as the only file, `m.proto`.
struct One(String);

impl Source for One {
    fn read(&self, name: &str) -> Option<String> {
        (name == "m.proto").then(|| self.0.clone())
    }
}

fn run(data: &[u8]) {
    let mut described = Schema::new();
    let source = One(text(data).into_owned());
    let _ = described.compile(&["m.proto".to_owned()], source);
    let mut sent = Schema::new();
    let _ = sent.add_set(data);
    for schema in [&described, &sent] {
        for method in schema.methods() {
            assert!(method.path().starts_with('/'));
            if let Ok(bytes) = method.input().encode("{}") {
                let _ = method.output().to_json(&bytes);
            }
        }
    }
    let _ = described.merge(&sent);
}
