//! Parses headers that the strict parser rejects, as Go's client does. Unusual names are accepted
//! if there is a colon, and a line that starts with a space continues the previous line.

use crate::error::ErrorInfo;
use crate::head::{Head, check_status_line, printable, transport_broken};
use crate::proto::Proto;

/// Parses headers that are complete in `raw`, including the empty line.
pub(crate) fn parse(raw: &[u8]) -> Result<Head, ErrorInfo> {
    let raw = after_empty_lines(raw);
    check_status_line(raw)?;
    let mut lines = raw.split(|&b| b == b'\n').map(without_return);
    let status_line = String::from_utf8_lossy(lines.next().unwrap_or_default());
    let (version, rest) = status_line.split_once(' ').unwrap_or_default();
    let (status, reason) = match rest.trim_start().split_once(' ') {
        Some((status, reason)) => (status, reason),
        None => (rest.trim_start(), ""),
    };
    let proto = match version {
        "HTTP/1.0" => Proto::Http10,
        _ => Proto::Http11,
    };
    let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            let Some((_, value)) = fields.last_mut() else {
                let shown = printable(line);
                return Err(transport_broken(format!(
                    "malformed MIME header initial line: \"{shown}\""
                )));
            };
            // Folded lines are joined with one space (RFC 9112, section 5.2).
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii());
            continue;
        }
        fields.push(field(line)?);
    }
    let fields = fields
        .iter()
        .map(|(name, value)| (name.as_str(), &value[..]));
    Head::build(
        proto,
        status.parse().unwrap_or(0),
        reason.as_bytes(),
        fields,
    )
}

/// The error for headers that are truncated by the end of the connection.
pub(crate) fn cut_off(raw: &[u8]) -> ErrorInfo {
    let raw = after_empty_lines(raw);
    if let Err(error) = check_status_line(raw) {
        return error;
    }
    // The last line is truncated as well, and is checked unchanged.
    let last = raw.rsplit(|&b| b == b'\n').next().unwrap_or_default();
    let is_field = raw.contains(&b'\n') && !last.is_empty() && !last.starts_with(b" ");
    match field(without_return(last)) {
        Err(error) if is_field => error,
        _ => transport_broken("unexpected EOF".to_owned()),
    }
}

fn field(line: &[u8]) -> Result<(String, Vec<u8>), ErrorInfo> {
    let shown = || printable(line);
    let Some(colon) = line.iter().position(|&b| b == b':') else {
        return Err(transport_broken(format!(
            "malformed MIME header: missing colon: \"{}\"",
            shown()
        )));
    };
    let (name, value) = line.split_at(colon);
    let value = value.get(1..).unwrap_or_default().trim_ascii();
    // Control bytes are not allowed in values (RFC 9110, section 5.5).
    let is_control = |b: &u8| (*b < b' ' && *b != b'\t') || *b == 0x7f;
    if name.is_empty() || value.iter().any(is_control) {
        return Err(transport_broken(format!(
            "malformed MIME header line: \"{}\"",
            shown()
        )));
    }
    Ok((String::from_utf8_lossy(name).into_owned(), value.to_vec()))
}

fn after_empty_lines(raw: &[u8]) -> &[u8] {
    let start = raw.iter().position(|b| !matches!(b, b'\r' | b'\n'));
    raw.get(start.unwrap_or(raw.len())..).unwrap_or_default()
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_names_and_folded_values_are_accepted() {
        let head = parse(b"HTTP/1.1 200 All right\r\nX Y: a\r\n\tb \r\nZ : c\r\n\r\n").unwrap();
        let fields: Vec<_> = head.fields().collect();
        assert_eq!(fields, [("X Y", &b"a b"[..]), ("Z ", b"c")]);
        assert_eq!((head.status(), &*head.reason()), (200, "All right"));
    }

    #[test]
    fn an_error_contains_the_invalid_field() {
        let message = |raw: &[u8]| parse(raw).unwrap_err().message;
        assert_eq!(
            message(b"HTTP/1.1 200 OK\r\n: v\r\n\r\n"),
            "malformed MIME header line: \": v\""
        );
        assert_eq!(
            message(b"HTTP/1.1 200 OK\r\n v\r\n\r\n"),
            "malformed MIME header initial line: \" v\""
        );
    }

    #[test]
    fn the_received_part_of_incomplete_headers_is_checked() {
        let message = |raw: &[u8]| cut_off(raw).message;
        assert_eq!(message(b"HTTP/1.1 200 OK\r\n"), "unexpected EOF");
        assert_eq!(message(b"HTTP/1.1 200 OK\r\nA: b"), "unexpected EOF");
        assert_eq!(
            message(b"HTTP/1.1 200 OK\r\nCont"),
            "malformed MIME header: missing colon: \"Cont\""
        );
        assert_eq!(message(b"HTTP/1.1 20"), "malformed HTTP status code \"20\"");
    }
}
