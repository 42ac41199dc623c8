//! Status codes of close frames that this crate sends or reports: RFC 6455, section 7.4.1.

pub const NORMAL: u16 = 1000;
pub const GOING_AWAY: u16 = 1001;
pub const PROTOCOL_ERROR: u16 = 1002;
/// Only reported, never sent: the close frame had no code.
pub const NO_STATUS: u16 = 1005;
/// Only reported, never sent: there was no close frame.
pub const ABNORMAL: u16 = 1006;
pub const INVALID_DATA: u16 = 1007;
pub const TOO_BIG: u16 = 1009;
