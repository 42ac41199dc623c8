//! Close frames: RFC 6455, sections 5.5.1 and 7.4.

use crate::code;
use crate::violation::Violation;

/// Maximum payload of a control frame (section 5.5).
pub(crate) const MAX_CONTROL: usize = 125;

/// The payload of a close frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseFrame {
    /// [`code::NO_STATUS`] if the frame was empty.
    pub code: u16,
    pub reason: String,
}

impl CloseFrame {
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Violation> {
        match payload {
            [] => Ok(CloseFrame {
                code: code::NO_STATUS,
                reason: String::new(),
            }),
            [_] => Err(Violation::CloseOfOneByte),
            [high, low, reason @ ..] => {
                let code = u16::from_be_bytes([*high, *low]);
                if !is_sendable(code) {
                    return Err(Violation::CloseCode(code));
                }
                let reason = std::str::from_utf8(reason).map_err(|_| Violation::CloseReason)?;
                Ok(CloseFrame {
                    code,
                    reason: reason.to_owned(),
                })
            }
        }
    }
}

/// Whether a close frame may contain `code`: sections 7.4.1 and 7.4.2, and the codes registered
/// since then (1012 to 1014).
pub fn is_sendable(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
