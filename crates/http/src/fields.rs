use crate::head::canonical_name;
use crate::method::is_token_byte;

/// The header fields of a request, in one buffer in wire format, so encoding is a copy. Names are
/// stored in canonical form (`X-Request-Id`).
#[derive(Clone, Debug, Default)]
pub struct Fields {
    wire: Vec<u8>,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    name_end: u32,
    end: u32,
}

impl Fields {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Sets a field. Replaces any fields with the same name.
    ///
    /// # Errors
    /// If the name is not a token, or the value contains a control byte (RFC 9110, section 5.5). With a
    /// line break in a value, a script could inject another field.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.remove(name);
        self.append(name, value)
    }

    /// Adds a field and keeps any fields with the same name.
    ///
    /// # Errors
    /// See [`Fields::set`].
    pub fn append(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(format!("net/http: invalid header field name {name:?}"));
        }
        if value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f) {
            let name = canonical_name(name);
            return Err(format!("net/http: invalid header field value for {name:?}"));
        }
        let start = self.wire.len();
        let mut upper = true;
        for byte in name.bytes() {
            self.wire.push(if upper {
                byte.to_ascii_uppercase()
            } else {
                byte.to_ascii_lowercase()
            });
            upper = byte == b'-';
        }
        let name_end = self.wire.len();
        self.wire.extend_from_slice(b": ");
        let trimmed = value.trim_matches([' ', '\t']);
        self.wire.extend_from_slice(trimmed.as_bytes());
        let end = self.wire.len();
        self.wire.extend_from_slice(b"\r\n");
        let offset =
            |at: usize| u32::try_from(at).map_err(|_| "header fields exceed 4 GiB".to_owned());
        self.spans.push(Span {
            start: offset(start)?,
            name_end: offset(name_end)?,
            end: offset(end)?,
        });
        Ok(())
    }

    /// Removes all fields with the given name.
    pub fn remove(&mut self, name: &str) {
        while let Some(at) = self
            .spans
            .iter()
            .position(|span| self.name(*span).eq_ignore_ascii_case(name))
        {
            let span = self.spans.remove(at);
            let line = span.end + 2 - span.start;
            self.wire
                .drain(span.start as usize..(span.end + 2) as usize);
            for later in self.spans.iter_mut().skip(at) {
                later.start -= line;
                later.name_end -= line;
                later.end -= line;
            }
        }
    }

    /// The first value of the given field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Names in canonical form, and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.spans.iter().map(|&span| {
            let value = self
                .wire
                .get(span.name_end as usize + 2..span.end as usize)
                .unwrap_or_default();
            (
                self.name(span),
                std::str::from_utf8(value).unwrap_or_default(),
            )
        })
    }

    /// All fields in wire format, each with its line break.
    pub(crate) fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// Clears the list but keeps its memory.
    pub fn clear(&mut self) {
        self.wire.clear();
        self.spans.clear();
    }

    fn name(&self, span: Span) -> &str {
        let name = self
            .wire
            .get(span.start as usize..span.name_end as usize)
            .unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_canonical_and_unique_by_name() {
        let mut fields = Fields::new();
        fields.set("content-type", "a").unwrap();
        fields.set("X-REQUEST-ID", " 1 ").unwrap();
        fields.set("Content-Type", "b").unwrap();
        fields.append("x-request-id", "2").unwrap();
        let all: Vec<_> = fields.iter().collect();
        assert_eq!(
            all,
            [
                ("X-Request-Id", "1"),
                ("Content-Type", "b"),
                ("X-Request-Id", "2")
            ]
        );
        fields.remove("x-request-id");
        assert_eq!(fields.wire(), b"Content-Type: b\r\n");
        assert_eq!(fields.get("CONTENT-TYPE"), Some("b"));
    }

    #[test]
    fn a_value_cannot_inject_another_field() {
        let mut fields = Fields::new();
        assert!(fields.set("A", "b\r\nC: d").is_err());
        assert!(fields.set("A: b\r\nC", "d").is_err());
        assert!(fields.set("", "d").is_err());
        assert!(fields.is_empty());
    }
}
