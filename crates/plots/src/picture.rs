//! A finished picture, and the styles that all pictures share.

use std::fmt::Write as _;

/// A picture. Its texts are escaped, so labels may contain any characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The width in units.
    pub width: f64,
    /// The height in units.
    pub height: f64,
    /// A short title.
    pub title: String,
    /// A text description, for readers who cannot see the picture.
    pub description: String,
    pub(crate) body: String,
}

/// The colors as CSS custom properties, for light and dark schemes. A page with inline pictures
/// sets them on its root element.
pub const COLORS: &str = "\
:root{--ink:#1c2126;--soft:#59636e;--rule:#d5dbe1;--band:#eef1f4;--paper:#fff;\
--c0:#0b5fa5;--c1:#b8480a;--c2:#0d7a63;--c3:#7a3fc4;--c4:#8a6400;--c5:#b3215f;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e3e7eb;--soft:#9aa5b1;--rule:#39414a;--band:#242a31;--paper:#16191d;\
--c0:#6fb3f2;--c1:#f0a163;--c2:#52cbaf;--c3:#c3a2ff;--c4:#dcbb4d;--c5:#ff8db8;--bad:#ff8a80}}
";

/// The CSS rules for pictures. In addition to color, series differ in dash and marker.
pub const RULES: &str = "\
.plot{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;color:var(--ink)}
.plot text{fill:var(--ink)}.plot .soft{fill:var(--soft)}.plot .end{text-anchor:end}.plot .mid{text-anchor:middle}
.plot .tag{font-weight:600}.plot .bad{fill:var(--bad)}
.plot .grid{stroke:var(--rule);stroke-width:1;fill:none}.plot .axis{stroke:var(--soft);stroke-width:1;fill:none}
.plot .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.plot .thin{stroke-width:1.2;stroke-dasharray:1 4}
.plot .d1{stroke-dasharray:7 4}.plot .d2{stroke-dasharray:2 4}.plot .d3{stroke-dasharray:9 3 2 3}.plot .d4{stroke-dasharray:4 3}.plot .d5{stroke-dasharray:12 4}
.plot .s0{stroke:var(--c0)}.plot .s1{stroke:var(--c1)}.plot .s2{stroke:var(--c2)}.plot .s3{stroke:var(--c3)}.plot .s4{stroke:var(--c4)}.plot .s5{stroke:var(--c5)}
.plot .f0{fill:var(--c0)}.plot .f1{fill:var(--c1)}.plot .f2{fill:var(--c2)}.plot .f3{fill:var(--c3)}.plot .f4{fill:var(--c4)}.plot .f5{fill:var(--c5)}
.plot .hollow{fill:var(--paper)}.plot .mark{stroke-width:1.6}.plot .band{fill:var(--band)}.plot .sbad{stroke:var(--bad)}
.plot .seam{stroke:var(--paper)}.plot .grey{stroke:var(--soft)}.plot .fgrey{fill:var(--soft)}.plot .faint{opacity:.45}
.plot .h1{fill:var(--c0);opacity:.14}.plot .h2{fill:var(--c0);opacity:.32}.plot .h3{fill:var(--c0);opacity:.52}.plot .h4{fill:var(--c0);opacity:.75}.plot .h5{fill:var(--c0)}
";

impl Picture {
    /// The picture as a standalone file with its own styles and background.
    pub fn file(&self) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" aria-labelledby=\"t d\">\n",
            w = unit(self.width),
            h = unit(self.height),
        );
        self.words(&mut out, "t", "d");
        let _ = write!(
            out,
            "<style>\n{COLORS}{RULES}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n{}</svg>\n",
            self.body
        );
        out
    }

    /// The picture as part of a page that contains [`COLORS`] and [`RULES`]. `id` must be unique in
    /// the page.
    pub fn inline(&self, id: &str) -> String {
        let id = escaped(id);
        let mut out = format!(
            "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n",
            unit(self.width),
            unit(self.height),
        );
        self.words(&mut out, &format!("{id}-t"), &format!("{id}-d"));
        out + &self.body + "</svg>\n"
    }

    fn words(&self, out: &mut String, title: &str, description: &str) {
        let _ = writeln!(
            out,
            "<title id=\"{title}\">{}</title>\n<desc id=\"{description}\">{}</desc>",
            escaped(&self.title),
            escaped(&self.description)
        );
    }
}

/// Formats a length with at most one digit after the decimal point.
pub fn unit(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Escapes text for XML. Drops control characters, which XML cannot contain even as escapes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
