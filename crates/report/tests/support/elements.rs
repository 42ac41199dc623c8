//! The elements of an HTML page.

/// Element names with their attributes, in order; panics if tags are not balanced.
pub fn elements(page: &str) -> Vec<(String, String)> {
    const VOID: [&str; 4] = ["meta", "!doctype", "img", "input"];
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, closed) = tag
            .strip_suffix('/')
            .map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        found.push((name.to_owned(), attributes.to_owned()));
        if closed || VOID.contains(&name) {
            continue;
        }
        open.push(name.to_owned());
        // Raw text ends only at its own end tag.
        if matches!(name, "script" | "style") {
            let end = rest.find(&format!("</{name}")).expect("its end");
            rest = &rest[end..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}
