//! Replaces the numbers in a program's output, so the rest is the same in every run and can be
//! compared with a snapshot.

use regex::Regex;

/// An ordered list of replacements.
pub struct Filters(Vec<(Regex, String)>);

impl Filters {
    /// No replacements.
    pub fn none() -> Filters {
        Filters(Vec::new())
    }

    /// Replaces wall-clock times, addresses, durations, byte counts, rates and plain numbers, in that
    /// order, with the name of their kind. Leader dots, spaces between words, and the indentation of
    /// right-aligned columns are each reduced to one character, because their number depends on the
    /// values.
    pub fn figures() -> Filters {
        Filters::none()
            .with(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
                "<time>",
            )
            .with(r"127\.0\.0\.1|\[::1\]", "<loopback>")
            .with(r"(<loopback>|localhost):\d+", "$1:<port>")
            .with(
                r"-?\b(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|us|ms|s|m|h)\b",
                "<duration>",
            )
            .with(r"-?\b\d+(\.\d+)? ?(k|M|G|T)?i?B/s\b", "<bytes>/s")
            .with(r"-?\b\d+(\.\d+)? ?(k|M|G|T)?i?B\b", "<bytes>")
            .with(r"-?\b\d+(\.\d+)?%", "<percent>")
            .with(r"-?\b\d+(\.\d+)?/s\b", "<rate>/s")
            .with(r"-?\b\d+(\.\d+)?\b", "<number>")
            .with(r"\.{4,}", "...")
            .with(r"(\S) +", "$1 ")
            .with(r"(?m)^ {13,}", "  ")
            .with(r"(?m) +$", "")
    }

    /// These filters, followed by a replacement of `pattern`. `$1` refers to its first group.
    ///
    /// # Panics
    /// If the pattern is invalid.
    pub fn with(mut self, pattern: &str, replacement: &str) -> Filters {
        let pattern = Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"));
        self.0.push((pattern, replacement.to_owned()));
        self
    }

    /// A replacement of `pattern`, followed by these filters.
    ///
    /// # Panics
    /// If the pattern is invalid.
    pub fn after(self, pattern: &str, replacement: &str) -> Filters {
        let mut first = Filters::none().with(pattern, replacement);
        first.0.extend(self.0);
        first
    }

    /// Applies the replacements.
    pub fn apply(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, (pattern, replacement)| {
                pattern
                    .replace_all(&text, replacement.as_str())
                    .into_owned()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_replaced_by_their_kind() {
        let filters = Filters::figures();
        let cases = [
            (
                "avg=1.52ms min=0s max=1m3s",
                "avg=<duration> min=<duration> max=<duration>",
            ),
            (
                "data_received......: 1.2 kB 400 B/s",
                "data_received...: <bytes> <bytes>/s",
            ),
            (
                "checks: 100.00% 3 out of 3",
                "checks: <percent> <number> out of <number>",
            ),
            ("iterations: 300 99.8/s", "iterations: <number> <rate>/s"),
            ("http://127.0.0.1:38121/a", "http://<loopback>:<port>/a"),
            ("time=\"2026-01-02T03:04:05Z\"", "time=\"<time>\""),
            ("p(95)=2", "p(<number>)=<number>"),
            ("    a=1ms    b=2ms ", "    a=<duration> b=<duration>"),
            ("               min    mean", "  min mean"),
            ("http2 and x86_64", "http2 and x86_64"),
        ];
        for (text, expected) in cases {
            assert_eq!(filters.apply(text), expected);
        }
    }

    #[test]
    fn the_first_value_wins() {
        let filters = Filters::figures().after(r"p\(95\)", "p95");
        assert_eq!(filters.apply("p(95)=2"), "p95=<number>");
    }
}
