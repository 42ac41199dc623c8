//! Text that contains values which are known only when the script runs.

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(String),
    /// A JavaScript expression.
    Code(String),
}

/// Text that the script assembles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Piece>);

impl Text {
    /// The literal text, and `None` in place of each expression.
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with `…` in place of each expression, for names and messages.
    pub fn shown(&self) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Literal(text) => text.as_str(),
            Piece::Code(_) => "…",
        });
        pieces.collect()
    }

    pub fn push_literal(&mut self, text: &str) {
        if let Some(Piece::Literal(last)) = self.0.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.0.push(Piece::Literal(text.to_owned()));
        }
    }

    pub fn push_code(&mut self, code: &str) {
        self.0.push(Piece::Code(code.to_owned()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first piece, if it is literal.
    pub fn start(&self) -> &str {
        match self.0.first() {
            Some(Piece::Literal(text)) => text,
            _ => "",
        }
    }

    /// Replaces the start of the first piece, if it is literal and starts with that.
    pub fn replace_start(&mut self, length: usize, by: &str) {
        if let Some(Piece::Literal(first)) = self.0.first_mut()
            && first.is_char_boundary(length)
        {
            first.replace_range(..length, by);
        }
    }

    /// Replaces each literal occurrence of `value` for which `fits` returns true with code. `fits` gets the literal and
    /// the offset of the occurrence. Returns whether there was such an occurrence.
    pub fn replace(&mut self, value: &str, code: &str, fits: impl Fn(&str, usize) -> bool) -> bool {
        if value.is_empty() {
            return false;
        }
        let mut replaced = Text::default();
        let mut found = false;
        for piece in &self.0 {
            let Piece::Literal(literal) = piece else {
                replaced.0.push(piece.clone());
                continue;
            };
            let mut done = 0;
            for (at, _) in literal.match_indices(value) {
                if fits(literal, at) {
                    replaced.push_literal(&literal[done..at]);
                    replaced.push_code(code);
                    done = at + value.len();
                    found = true;
                }
            }
            replaced.push_literal(&literal[done..]);
        }
        if found {
            *self = replaced;
        }
        found
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        let mut whole = Text::default();
        whole.push_literal(text);
        whole
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::from(text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_matching_occurrences_are_replaced() {
        let mut text = Text::from("a=12&b=123&c=12");
        let is_whole = |literal: &str, at: usize| !literal[at + 2..].starts_with('3');
        assert!(text.replace("12", "id", is_whole));
        assert_eq!(text.shown(), "a=…&b=123&c=…");
        assert_eq!(text.literal(), None);
        assert!(!text.replace("nothing", "id", |_, _| true));
        assert_eq!(Text::from("x").literal(), Some("x"));
    }
}
