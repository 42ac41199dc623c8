//! Converts an HTML page to Markdown. Keeps its headings and its preformatted text, which contains the output of tools.
//! Leaves out other text and tables, because most pages quote several runs, and the markup does not show which one a
//! figure belongs to.

/// Returns the headings and the preformatted text of an HTML page as Markdown, on the same lines as in the page where
/// possible. `None` for other files, and for pages without preformatted text.
pub fn to_markdown(text: &str) -> Option<String> {
    let start: String = text.trim_start().chars().take(14).collect();
    let start = start.to_ascii_lowercase();
    if !start.starts_with("<!doctype html") && !start.starts_with("<html") {
        return None;
    }
    let mut page = Page::default();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        page.push_text(&rest[..at]);
        rest = &rest[at..];
        let length = markup_length(rest);
        let (markup, after) = rest.split_at(length);
        page.push_markup(markup);
        rest = after;
    }
    page.push_text(rest);
    page.has_output.then_some(page.out)
}

/// The length of the tag, comment, script or style sheet at the start of the text. A `<` that begins none of these has
/// length 1.
fn markup_length(text: &str) -> usize {
    let until = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    match tag_name(text).as_str() {
        _ if text.starts_with("<!--") => until("-->"),
        _ if text.starts_with("<!") => until(">"),
        "" => 1,
        "script" => until("</script>"),
        "style" => until("</style>"),
        _ => until(">"),
    }
}

/// The name of a tag in lower case, with `/` for an end tag. Empty for other text.
fn tag_name(markup: &str) -> String {
    let inner = markup.get(1..).unwrap_or_default();
    let is_end = inner.starts_with('/');
    let letters = inner.trim_start_matches('/').chars();
    let name: String = letters.take_while(char::is_ascii_alphanumeric).collect();
    match (is_end, name.is_empty()) {
        (_, true) => String::new(),
        (true, _) => format!("/{}", name.to_ascii_lowercase()),
        (false, _) => name.to_ascii_lowercase(),
    }
}

#[derive(Default)]
struct Page {
    out: String,
    /// Number of line breaks in `out`.
    written: usize,
    /// Number of line breaks of the page that were read.
    read: usize,
    is_preformatted: bool,
    has_output: bool,
    /// Whether the next text is the first one of a preformatted element.
    is_first: bool,
    /// The text of the heading that has begun.
    heading: Option<String>,
    /// Number of `<details>` elements around the current position.
    depth: usize,
}

impl Page {
    fn push_text(&mut self, text: &str) {
        let mut text = text;
        if self.is_preformatted && std::mem::take(&mut self.is_first) {
            // HTML ignores a line break at the start.
            if let Some(rest) = text.strip_prefix('\n') {
                text = rest;
                self.read += 1;
            }
        }
        if self.is_preformatted {
            self.write(text);
        } else if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
        self.read += text.matches('\n').count();
    }

    fn push_markup(&mut self, markup: &str) {
        let name = tag_name(markup);
        match name.as_str() {
            "" if !markup.starts_with("<!") => return self.push_text(markup),
            "pre" if !self.is_preformatted => {
                self.pad_to_line();
                self.write("```\n");
                (self.is_preformatted, self.is_first, self.has_output) = (true, true, true);
            }
            "/pre" if self.is_preformatted => {
                if !self.out.ends_with('\n') {
                    self.write("\n");
                }
                self.write("```\n");
                self.is_preformatted = false;
            }
            "details" => self.depth += 1,
            "/details" => self.depth = self.depth.saturating_sub(1),
            _ if self.is_preformatted => {}
            "summary" => self.heading = Some(String::new()),
            "/summary" => self.end_heading(2 + self.depth),
            name => match (name.strip_prefix('h'), name.strip_prefix("/h")) {
                (Some(level), _) if is_level(level) => self.heading = Some(String::new()),
                (_, Some(level)) if is_level(level) => {
                    self.end_heading(level.parse().unwrap_or(1));
                }
                _ => {}
            },
        }
        self.read += markup.matches('\n').count();
    }

    fn end_heading(&mut self, level: usize) {
        let Some(heading) = self.heading.take() else {
            return;
        };
        let words: Vec<&str> = heading.split_whitespace().collect();
        self.pad_to_line();
        let line = format!("{} {}\n", "#".repeat(level.min(6)), words.join(" "));
        self.write(&line);
    }

    /// Writes empty lines up to the line of the page.
    fn pad_to_line(&mut self) {
        while self.written < self.read {
            self.write("\n");
        }
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.written += text.matches('\n').count();
    }
}

fn is_level(digits: &str) -> bool {
    matches!(digits, "1" | "2" | "3" | "4" | "5" | "6")
}

#[cfg(test)]
mod tests {
    use super::to_markdown;

    #[test]
    fn output_stays_on_its_lines() {
        let page = "<!DOCTYPE html>\n<title>t</title>\n<style>pre { x: y }</style>\n<h2>With <b>wrk</b></h2>\n\
                    <p>Fast: 1 < 2.</p>\n<details>\n<summary>Run 1</summary>\n<pre class=\"a\">\nRunning 30s test\n\
                    \u{20} p(95)&lt;500 <b>1</b></pre>\n</details>\n<PRE>one line</PRE>\n\
                    <script>if (a < b) x = '<pre>';</script>\n";
        let lines: Vec<String> = to_markdown(page)
            .expect("output")
            .lines()
            .map(str::to_owned)
            .collect();
        let expected = [
            "",
            "",
            "",
            "## With wrk",
            "",
            "",
            "### Run 1",
            "```",
            "Running 30s test",
            "  p(95)&lt;500 1",
            "```",
            "```",
            "one line",
            "```",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn other_files_are_left_alone() {
        for text in [
            "",
            "# Results\n<pre>\nRunning 30s test\n</pre>\n",
            "<!doctype html><p>No output.</p>",
            "<!doctype html><!-- <pre> --><script><pre></script>",
        ] {
            assert_eq!(to_markdown(text), None, "{text}");
        }
    }

    #[test]
    fn truncated_pages_are_read() {
        for text in [
            "<html><pre>\nRequests/sec: 12",
            "<html><pre>\nRequests/sec: 12<",
            "<html><pre>\nRequests/sec: 12<span",
            "<html><pre>\nRequests/sec: 12</details></summary></h1>",
        ] {
            let markdown = to_markdown(text).expect("output");
            assert!(markdown.contains("Requests/sec: 12"), "{markdown}");
        }
    }
}
