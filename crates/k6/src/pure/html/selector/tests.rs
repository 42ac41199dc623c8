use super::super::parse;
use super::*;

const PAGE: &str = "<div id=a class='x y'><p>one</p><p lang=en-GB>two <b>bold</b></p><span></span></div><p>three</p>";

fn count(selector: &str) -> Option<usize> {
    let selectors = Selectors::parse(selector)?;
    let document = parse(PAGE);
    Some(
        document
            .descendants()
            .filter(|node| selectors.matches(node))
            .count(),
    )
}

#[test]
fn elements_are_found() {
    for (selector, expected) in [
        ("p", 3),
        ("#a > p", 2),
        ("div p", 2),
        (".x.y", 1),
        ("p + p", 1),
        ("p ~ span", 1),
        ("p:not(:first-child)", 2),
        ("p:has(b), span:empty", 2),
        ("p:contains('thr')", 1),
        ("[lang|=en]", 1),
        ("b:lang(EN)", 1),
        ("div:lang(en)", 0),
        ("[class~=y][id^='a']", 1),
        ("p:nth-child(2n+1)", 1),
        ("div > :last-child", 1),
        (":root", 1),
        ("p:nth-of-type(2)", 1),
        ("a\\.b", 0),
        ("#\\61", 1),
        ("[class='X Y' i]", 1),
        ("[class^='']", 1),
        ("div:haschild(b), p:haschild(b)", 1),
        ("p:containsOwn(bold)", 0),
        // A paragraph, the elements around it, and its text.
        (":contains(three)", 4),
        ("p:matches(^t)", 2),
        ("p:matchesOwn(o(n|w))", 1),
    ] {
        assert_eq!(count(selector), Some(expected), "{selector}");
    }
}

#[test]
fn invalid_selectors_are_refused() {
    for text in [
        "",
        "p[",
        "::x",
        "p >",
        ",",
        "p:nth-child(x)",
        "1",
        "[a=",
        ":not(",
        ":is(p)",
        "p:matches([)",
        "a b)",
    ] {
        assert!(Selectors::parse(text).is_none(), "{text}");
    }
    assert!(Selectors::parse(&":not(".repeat(1000)).is_none());
}
