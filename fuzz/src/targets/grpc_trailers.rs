//! Data from a gRPC server at the end of a call: `grpc-status`, `grpc-message`, `grpc-status-details-bin` and other
//! metadata; and the responses of its reflection service.

use plimsoll_grpc::in_memory::{read_reflection, read_trailers};

use super::Target;

pub const TARGET: Target = Target {
    name: "grpc_trailers",
    run,
    seeds: &[
        b"grpc-status: 5\ngrpc-message: not%20here\ngrpc-status-details-bin: CAUSCG5vdCBoZXJl",
        b"grpc-status: 3\ngrpc-status-details-bin: CAMSAGoaNgoqdHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucHJvdG9idWYuRHVyYXRpb24SAghaGg0KBWEuYi9OEgQBAgME",
        b"grpc-status: x\nx-raw-bin: AP8H,AQ==\nx-text: a",
        // Reflection: a list with two services, and a file that imports another.
        b"\x32\x0a\x0a\x03\x0a\x01S\x0a\x03\x0a\x01T",
        b"\x22\x10\x0a\x0e\x0a\x07m.proto\x1a\x03a.b",
    ],
    words: &[
        "grpc-status: ", "grpc-message: ", "grpc-status-details-bin: ", "-bin: ", "\n", ",", "%20", "%", "==", "16",
        "type.googleapis.com/google.protobuf.Any", "type.googleapis.com/google.protobuf.Struct", "\u{12}", "\u{1a}",
    ],
};

/// One field per line.
fn run(data: &[u8]) {
    let fields = data.split(|&byte| byte == b'\n').filter_map(|line| {
        let at = line.windows(2).position(|two| two == b": ")?;
        Some((line.get(..at)?, line.get(at + 2..)?))
    });
    let (_, details, metadata) = read_trailers(fields);
    assert!(
        serde_json::from_str::<serde_json::Value>(&details).is_ok(),
        "{details}"
    );
    for (name, value) in metadata.iter() {
        assert!(!name.is_empty() && value.len() <= data.len());
    }
    let (services, files) = read_reflection(data);
    assert!(services <= data.len() && files <= data.len());
}
