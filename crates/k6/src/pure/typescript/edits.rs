//! Edits of a source that preserve its lines.

use oxc_span::Span;

/// The replacement for a range of the source.
#[derive(Debug)]
enum Change {
    /// Spaces, with the newlines preserved, optionally starting with a `;`.
    Blank {
        semicolon: bool,
    },
    Text(String),
}

#[derive(Debug)]
struct Edit {
    span: Span,
    change: Change,
}

/// A list of edits in any order. If two edits overlap, the one that starts first is applied.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<Edit>);

impl Edits {
    pub fn blank(&mut self, span: Span) {
        self.0.push(Edit {
            span,
            change: Change::Blank { semicolon: false },
        });
    }

    /// Replaces a whole statement or class member with spaces. A `;` in its place keeps the neighboring statements
    /// separate.
    pub fn blank_statement(&mut self, span: Span) {
        self.0.push(Edit {
            span,
            change: Change::Blank { semicolon: true },
        });
    }

    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.0.push(Edit {
            span,
            change: Change::Text(text.into()),
        });
    }

    pub fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(Span::new(at, at), text);
    }

    /// If the text before `end` is blanked, adds a `;`. The newline after it ended the statement only because of the
    /// type.
    pub fn end_statement(&mut self, end: u32) {
        let ends_here = |edit: &&mut Edit| edit.span.end == end && !edit.span.is_empty();
        if let Some(edit) = self.0.iter_mut().rev().find(ends_here)
            && let Change::Blank { semicolon } = &mut edit.change
        {
            *semicolon = true;
        }
    }

    /// The source with all edits applied.
    pub fn apply(mut self, source: &str) -> String {
        // Insertions at a position come before replacements at the same position.
        self.0
            .sort_by_key(|edit| (edit.span.start, !edit.span.is_empty()));
        let mut out = String::with_capacity(source.len() + 64);
        let mut done = 0;
        for Edit { span, change } in self.0 {
            if span.start < done {
                continue;
            }
            let between = |start: u32, end: u32| source.get(start as usize..end as usize);
            out.push_str(between(done, span.start).unwrap_or_default());
            done = span.end;
            match change {
                Change::Text(text) => out.push_str(&text),
                Change::Blank { semicolon } => {
                    blank(
                        &mut out,
                        between(span.start, span.end).unwrap_or_default(),
                        semicolon,
                    );
                }
            }
        }
        out.push_str(source.get(done as usize..).unwrap_or_default());
        out
    }
}

pub(super) fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn blank(out: &mut String, text: &str, semicolon: bool) {
    let mut chars = text.chars();
    if semicolon {
        out.push(';');
        if let Some(first) = chars.next()
            && is_newline(first)
        {
            out.push(first);
        }
    }
    out.extend(chars.map(|c| if is_newline(c) { c } else { ' ' }));
}
