//! Pages are well-formed, whatever the result contains, and rendering is deterministic.

mod support;

use std::collections::BTreeSet;

use plimsoll_report::{assets, html};
use support::elements::elements;
use support::{fixture, markdown, runs};

#[test]
fn two_renderings_are_equal() {
    for (name, result) in fixture::all() {
        assert!(html(&result) == html(&result.clone()), "{name}");
        assert!(markdown(&result) == markdown(&result.clone()), "{name}");
        assert!(assets(&result) == assets(&result.clone()), "{name}");
    }
}

#[test]
fn the_markdown_shows_every_plot_once_and_no_other_file() {
    for (name, result) in fixture::all() {
        let page = markdown(&result);
        let mut shown: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("!["))
            .filter_map(|line| line.rsplit_once("](")?.1.strip_suffix(')'))
            .map(|path| path.trim_start_matches("../"))
            .collect();
        let mut files: Vec<String> = assets(&result).into_iter().map(|(path, _)| path).collect();
        // Sections that do not fit into the report are in later files.
        shown.sort_unstable();
        files.sort_unstable();
        assert_eq!(shown, files, "{name}");
        let names: BTreeSet<&String> = files.iter().collect();
        assert_eq!(
            names.len(),
            files.len(),
            "{name}: a plot's name is used twice"
        );
        for path in &files {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-./".contains(c);
            assert!(
                path.starts_with("plots/") && path.ends_with(".svg"),
                "{path}"
            );
            assert!(path.chars().all(plain) && !path.contains(".."), "{path}");
        }
    }
    assert!(assets(&fixture::full()).len() > 30);
}

/// Rows of every table have as many fields as its header.
#[test]
fn markdown_tables_are_not_split() {
    for (name, result) in fixture::all() {
        let page = markdown(&result);
        let mut columns = None;
        let mut fence: Option<String> = None;
        let mut tables = 0;
        for line in page.lines() {
            let ticks: String = line.chars().take_while(|c| *c == '`').collect();
            match &fence {
                Some(open) if line == open.as_str() => fence = None,
                Some(_) => continue,
                None if ticks.len() >= 3 => fence = Some(ticks),
                None => {}
            }
            if !line.starts_with("| ") {
                columns = None;
                continue;
            }
            let fields = line.replace("\\|", "").matches('|').count();
            tables += usize::from(columns.is_none());
            assert_eq!(*columns.get_or_insert(fields), fields, "{name}: {line}");
        }
        assert!(fence.is_none(), "{name}: a fence is open at the end");
        assert!(tables > 0 || name == "empty", "{name}");
    }
}

#[test]
fn hostile_text_stays_text_in_markdown() {
    let page = markdown(&fixture::all().pop().expect("the hostile one").1);
    let mut fence: Option<String> = None;
    for line in page.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) => {
                if line == open.as_str() {
                    fence = None;
                }
                continue;
            }
            None if ticks.len() >= 3 => {
                fence = Some(ticks);
                continue;
            }
            None => {}
        }
        // A line of HTML is not parsed as Markdown; its text is escaped as HTML.
        if let Some(inside) = line
            .strip_prefix("<details><summary>")
            .and_then(|line| line.strip_suffix("</summary>"))
        {
            assert!(!inside.contains('<'), "{inside}");
            continue;
        }
        // Outside of code, every angle bracket, bracket and backtick of the text is escaped.
        let line = without_code(line);
        assert!(
            !line.contains("<script") && !line.contains("<img"),
            "{line}"
        );
        assert!(!line.replace("\\]", "").contains("](javascript"), "{line}");
        assert!(
            !line.starts_with("# not") && !line.starts_with("| not"),
            "{line}"
        );
    }
    assert!(!page.contains(['\u{1}', '\u{1b}']));
}

/// A line without its code spans and escapes.
fn without_code(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == '\\' {
            at += 2;
            continue;
        }
        if chars[at] != '`' {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        let run = chars[at..].iter().take_while(|c| **c == '`').count();
        let mut end = at + run;
        // The span ends at the next run of the same length.
        while end < chars.len() {
            let next = chars[end..].iter().take_while(|c| **c == '`').count();
            if next == run {
                break;
            }
            end += next.max(1);
        }
        assert!(end < chars.len(), "a code span has no end: {line}");
        at = end + run;
    }
    out
}

/// The pages of labs and of runs.
fn pages() -> Vec<(&'static str, String)> {
    let labs = fixture::all().into_iter();
    let labs = labs.map(|(name, result)| (name, html(&result)));
    labs.chain(runs::pages()).collect()
}

#[test]
fn the_html_balances_and_only_its_own_elements_are_in_it() {
    const KNOWN: &[&str] = &[
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "h1",
        "h2",
        "h3",
        "p",
        "label",
        "input",
        "sup",
        "dl",
        "div",
        "dt",
        "dd",
        "nav",
        "ul",
        "li",
        "main",
        "section",
        "figure",
        "figcaption",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "pre",
        "strong",
        "span",
        "details",
        "summary",
        "footer",
        "script",
        "svg",
        "desc",
        "path",
        "text",
        "rect",
    ];
    for (name, page) in pages() {
        assert!(!page.contains(['\u{1}', '\u{1b}']), "{name}");
        let found = elements(&page);
        let mut ids = BTreeSet::new();
        for (element, attributes) in &found {
            assert!(
                KNOWN.contains(&element.as_str()),
                "{name}: <{element} {attributes}>"
            );
            assert!(
                !attributes.contains("onerror=a") || attributes.contains("&"),
                "{attributes}"
            );
            if let Some((_, id)) = attributes
                .split_once("id=\"")
                .filter(|_| attributes.starts_with("id=") || attributes.contains(" id="))
            {
                let id = id.split('"').next().unwrap_or_default().to_owned();
                assert!(ids.insert(id.clone()), "{name}: the id {id} is used twice");
            }
        }
        // Links point to ids in the page, and labels to their elements.
        for (element, attributes) in &found {
            if element == "a" {
                let to = attributes
                    .split("href=\"#")
                    .nth(1)
                    .and_then(|to| to.split('"').next());
                let to = to.expect("links stay in the page");
                assert!(ids.contains(to), "{name}: #{to} is nowhere");
            }
            if let Some(label) = attributes.split("aria-labelledby=\"").nth(1) {
                for id in label.split('"').next().unwrap_or_default().split(' ') {
                    assert!(ids.contains(id), "{name}: #{id} labels nothing");
                }
            }
        }
        let count = |element: &str| found.iter().filter(|(name, _)| name == element).count();
        assert_eq!(
            (count("h1"), count("main"), count("header"), count("footer")),
            (1, 1, 1, 1)
        );
        // SVG pictures have their own titles.
        assert_eq!(count("title"), 1 + count("svg"), "{name}");
        assert_eq!(count("table"), count("caption"));
        let scripts = found
            .iter()
            .filter(|(name, attributes)| name == "script" && attributes.is_empty());
        assert_eq!(scripts.count(), 1, "{name}: one script, and data");
    }
}

#[test]
fn the_html_loads_nothing_from_the_network() {
    for (name, page) in pages() {
        for (element, attributes) in elements(&page) {
            for asks in ["src=", "srcset=", "action=", "xlink:", "style="] {
                // Quotes are escaped in attribute values, so this is an attribute.
                assert!(
                    !attributes.contains(&format!("{asks}\"")),
                    "{name}: <{element} {attributes}>"
                );
            }
            assert!(
                !(element == "a" && attributes.contains("href=\"http")),
                "{attributes}"
            );
        }
        assert!(page.contains("default-src 'none'"));
    }
}

/// Keeps the pages in `target/tmp/pages` for inspection.
#[test]
fn pages_are_written_for_inspection() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    for (name, result) in fixture::all() {
        let directory = directory.join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(directory.join("plots")).expect("a directory below target");
        let mut files = assets(&result);
        files.extend(plimsoll_report::markdown(&result));
        files.push(("report.html".to_owned(), html(&result)));
        std::fs::create_dir_all(directory.join("cells")).expect("a directory below target");
        for (path, text) in files {
            std::fs::write(directory.join(path), text).expect("a file below target");
        }
    }
}
