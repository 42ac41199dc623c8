//! Data from gRPC servers: framed messages, cut anywhere, and their conversion to JSON. Also the reverse: JSON
//! that scripts send.

use plimsoll_grpc::{Deframer, Found, Schema, Source};

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "grpc_messages",
    run,
    seeds: &[
        b"\0\0\0\0\x02\x0a\0",
        b"\0\0\0\0\x04\x0a\x02hi\0\0\0\0\0",
        b"\x01\0\0\0\x03\x1f\x8b\x08",
        b"{\"text\":\"a\",\"more\":[{\"text\":\"b\"}],\"when\":\"2020-01-01T00:00:00Z\"}",
    ],
    words: &[
        "\0\0\0\0", "\u{1}", "\"text\"", "\"more\"", "\"when\"", "1.5s", "Z",
    ],
};

struct Text;

impl Source for Text {
    fn read(&self, name: &str) -> Option<String> {
        let text = "syntax = \"proto3\"; import \"google/protobuf/timestamp.proto\"; message M { string text = 1; repeated M more = 2; google.protobuf.Timestamp when = 3; map<int32, bytes> by = 4; }";
        (name == "m.proto").then(|| text.to_owned())
    }
}

thread_local! {
    static SCHEMA: Schema = {
        let mut schema = Schema::new();
        // The schema above is valid.
        let _ = schema.compile(&["m.proto".to_owned()], Text);
        schema
    };
}

fn run(data: &[u8]) {
    let Some(message) = SCHEMA.with(|schema| schema.message("M")) else {
        return;
    };
    if let Ok(bytes) = message.encode(&text(data)) {
        let _ = message.to_json(&bytes);
    }
    let (one, other) = halves(data);
    let mut deframer = Deframer::new(1 << 16);
    deframer.set_encoding("gzip");
    for piece in [one, other] {
        deframer.push(piece.to_vec().into());
        loop {
            match deframer.next_message() {
                Ok(Found::Message(bytes)) => {
                    let _ = message.to_json(&bytes);
                }
                Ok(Found::Decompressing) => {}
                Ok(Found::Nothing) | Err(_) => break,
            }
        }
    }
}
