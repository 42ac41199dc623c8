//! HTML pages that servers send, and the CSS selectors that scripts apply to them.

use plimsoll_k6::pure::html::{Selectors, parse};

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "html",
    run,
    seeds: &[
        b"div > a[href^='/x']:first-child\0<!doctype html><div class=a><a href=/x>b</a><p>c</div>",
        b"li:nth-child(2n+1), ul ~ ol li:not(.a):contains('x')\0<ul><li class=a>1<li>2</ul><ol><li>3</ol>",
        b"*\0<table><tr><td>1<td>2<tr><td><table><tr><td>&amp;&#x41;&notit;</table></table>",
        b"form input[name=\"a b\" i]\0<form><input name='a b'><select><option selected>x</select><textarea>\n</textarea></form>",
        b"#id\0<svg><math><mi><script>if (a < b) {}</script><style>a{}</style><template><p id=id></template>",
    ],
    words: &[
        "<", "</", ">", "<!--", "-->", "<![CDATA[", "]]>", "&#x", "&lt;", ";", "=\"", "'", "<table>", "<tr>", "<td>",
        "<p>", "<b>", "<a>", "<svg>", "<math>", "<template>", "<select>", "<script>", "</script>", "<form>", "<li>",
        ":not(", ":nth-child(", ":has(", ":contains(", "::", "[", "]", "~=", "|=", "^=", "$=", "*=", " > ", " + ", " ~ ",
        ", ", "#", ".", "*", "\\",
    ],
};

fn run(data: &[u8]) {
    let (selector, page) = halves(data);
    let root = parse(&text(page));
    let mut found = 0_usize;
    let mut nodes = 0_usize;
    if let Some(selectors) = Selectors::parse(&text(selector)) {
        for node in root.descendants() {
            nodes += 1;
            found += usize::from(selectors.matches(&node));
        }
    }
    assert!(found <= nodes);
    let _ = root.text();
    // The serialized HTML can be parsed again.
    let written = root.inner_html();
    let _ = parse(&written).inner_html();
}
