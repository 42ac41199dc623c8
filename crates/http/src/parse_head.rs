use crate::error::ErrorInfo;
use crate::head::Head;
use crate::odd_head;

/// Parses headers that are complete in `raw`, including the empty line.
pub(crate) fn parse_head(raw: &[u8]) -> Result<Head, ErrorInfo> {
    Head::parse_strict(raw).unwrap_or_else(|| odd_head::parse(raw))
}
