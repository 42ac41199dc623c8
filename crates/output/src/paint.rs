//! Colors text for a terminal.

/// Whether to color text for a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Plain text.
    pub const OFF: Paint = Paint { on: false };
    /// Text with the escape sequences of ECMA-48 ("ANSI colors").
    pub const ON: Paint = Paint { on: true };

    /// Enables colors if `on`.
    pub const fn new(on: bool) -> Self {
        Paint { on }
    }

    /// Whether text is colored.
    pub const fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub(crate) fn figure(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// A value that accompanies another.
    pub(crate) fn secondary(self, text: &str) -> String {
        self.wrap("2;36", text)
    }

    /// Colors a string as good or bad.
    pub(crate) fn outcome(self, good: bool, text: &str) -> String {
        if good {
            self.good(text)
        } else {
            self.bad(text)
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The marks for success and failure.
pub(crate) fn mark(good: bool) -> &'static str {
    if good { "✓" } else { "✗" }
}

/// The width of a string, assuming one column per character.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// A string of `count` spaces.
pub(crate) fn spaces(count: usize) -> String {
    " ".repeat(count)
}

/// Makes text from outside safe for a terminal. Replaces control characters, which could for example move the cursor,
/// with `?`.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}
