//! Streams of server-sent events (HTML standard, section "Server-sent events").

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The last identifier that the server has sent, if any.
    pub id: String,
    /// The name of the event. Empty if the server sent none.
    pub name: String,
    pub data: String,
    /// The comments before the event.
    pub comment: String,
}

/// The maximum length of an event. A server that never ends an event must not exhaust memory.
const MAX_EVENT: usize = 16 << 20;

/// An event is longer than 16 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Reads events from a stream that arrives in pieces of any size.
#[derive(Debug, Default)]
pub struct Events {
    /// An incomplete line.
    line: Vec<u8>,
    /// The last byte was a carriage return. A line feed after it belongs to the same line ending.
    after_return: bool,
    has_begun: bool,
    last_id: String,
    name: String,
    data: String,
    has_data: bool,
    comment: String,
}

impl Events {
    /// Reads bytes, and passes each event that they complete to `sink`.
    ///
    /// # Errors
    /// If an event is too long.
    pub fn read(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event)) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            if self.line.len() + self.data.len() + self.comment.len() + part.len() > MAX_EVENT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(ending) = after.first() else {
                return Ok(());
            };
            self.after_return = *ending == b'\r';
            rest = after.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, sink);
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], sink: &mut dyn FnMut(Event)) {
        let text = String::from_utf8_lossy(line);
        let mut text: &str = &text;
        if !std::mem::replace(&mut self.has_begun, true) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            return self.end_event(sink);
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => {
                if !self.comment.is_empty() {
                    self.comment.push('\n');
                }
                self.comment.push_str(value);
            }
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "id" if !value.contains('\0') => value.clone_into(&mut self.last_id),
            // Other fields are ignored, and so is `retry`: a script decides when to reconnect.
            _ => {}
        }
    }

    fn end_event(&mut self, sink: &mut dyn FnMut(Event)) {
        let event = Event {
            id: self.last_id.clone(),
            name: std::mem::take(&mut self.name),
            data: std::mem::take(&mut self.data),
            comment: std::mem::take(&mut self.comment),
        };
        // Without data, it is not an event, whatever other fields it has.
        if std::mem::take(&mut self.has_data) {
            sink(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<Event> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in pieces {
            events.read(piece, &mut |event| found.push(event)).unwrap();
        }
        found
    }

    const STREAM: &[u8] = b"\xef\xbb\xbf: hello\r\ndata: one\r\ndata:two\r\nid: 7\r\n\r\n\
        event: ping\n: only a comment\n\n\
        event: add\rdata\rdata:  x:y\r\r\
        data: {}\nid\nretry: 5\nother: z\n\n\
        data: cut off";

    #[test]
    fn events_match_the_examples_of_the_standard() {
        let event = |id: &str, name: &str, data: &str, comment: &str| Event {
            id: id.to_owned(),
            name: name.to_owned(),
            data: data.to_owned(),
            comment: comment.to_owned(),
        };
        assert_eq!(
            all(&[STREAM]),
            [
                event("7", "", "one\ntwo", "hello"),
                event("7", "add", "\n x:y", ""),
                event("", "", "{}", ""),
            ]
        );
    }

    #[test]
    fn events_do_not_depend_on_the_size_of_the_pieces() {
        let whole = all(&[STREAM]);
        for size in [1, 2, 3, 7] {
            let pieces: Vec<&[u8]> = STREAM.chunks(size).collect();
            assert_eq!(all(&pieces), whole, "{size}");
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = Events::default();
        let line = [&b"data: "[..], &vec![b'x'; 1 << 20], b"\n"].concat();
        let ended = (0..20).find(|_| events.read(&line, &mut |_| {}).is_err());
        assert_eq!(ended, Some(15));
    }
}
