use std::fmt;

use plimsoll_units::GRPC_CODES;

/// The code of a gRPC status. Servers may send numbers that have no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u32);

impl Code {
    pub const OK: Code = Code(0);
    pub const CANCELED: Code = Code(1);
    pub const UNKNOWN: Code = Code(2);
    pub const INVALID_ARGUMENT: Code = Code(3);
    pub const DEADLINE_EXCEEDED: Code = Code(4);
    pub const NOT_FOUND: Code = Code(5);
    pub const ALREADY_EXISTS: Code = Code(6);
    pub const PERMISSION_DENIED: Code = Code(7);
    pub const RESOURCE_EXHAUSTED: Code = Code(8);
    pub const FAILED_PRECONDITION: Code = Code(9);
    pub const ABORTED: Code = Code(10);
    pub const OUT_OF_RANGE: Code = Code(11);
    pub const UNIMPLEMENTED: Code = Code(12);
    pub const INTERNAL: Code = Code(13);
    pub const UNAVAILABLE: Code = Code(14);
    pub const DATA_LOSS: Code = Code(15);
    pub const UNAUTHENTICATED: Code = Code(16);

    /// The code's name, if any.
    pub fn name(self) -> Option<&'static str> {
        GRPC_CODES.get(self.0 as usize).copied()
    }

    pub fn is_ok(self) -> bool {
        self == Code::OK
    }

    /// The code for an HTTP response without a gRPC status ("HTTP to gRPC Status Code Mapping" in the
    /// gRPC documentation).
    pub(crate) fn of_http(status: u16) -> Code {
        match status {
            400 => Code::INTERNAL,
            401 => Code::UNAUTHENTICATED,
            403 => Code::PERMISSION_DENIED,
            404 => Code::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => Code::UNAVAILABLE,
            _ => Code::UNKNOWN,
        }
    }

    /// The code for a reset of the stream ("gRPC over HTTP2", HTTP2 Transport Mapping).
    pub(crate) fn of_reset(code: u32) -> Code {
        match code {
            7 => Code::UNAVAILABLE,
            8 => Code::CANCELED,
            11 => Code::RESOURCE_EXHAUSTED,
            12 => Code::PERMISSION_DENIED,
            _ => Code::INTERNAL,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Code({})", self.0),
        }
    }
}
