//! `plimsoll lab run --web` in a real browser: Debian's Chromium, driven by the live page's `lab.mjs`.
#![cfg(target_os = "linux")]

mod tiny_lab;
mod watched_page;

use tiny_lab::{Lab, TINY};
use watched_page::Browser;

const WATCH: &str = include_str!("../../live/tests/browser/lab.mjs");

#[test]
fn a_browser_watches_a_lab_from_start_to_end() {
    let browser = Browser::start("lab", WATCH);
    // The lab starts once the browser runs, so that the browser sees all of it.
    let lab = Lab::new(TINY);
    let shown = browser.watch(&mut lab.command(&["run", "lab.toml", "--web=0"]));
    assert_eq!(shown["title"], "A tiny lab");
    let rows = shown["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "{shown:#}");
    for row in rows {
        let row = row.as_str().expect("text");
        assert!(row.contains("1 of 1") && row.contains('✓'), "{shown:#}");
        assert!(row.contains("requests/s"), "{shown:#}");
    }
    // The page showed several steps of the lab, and its conclusions at the end.
    assert!(shown["steps"].as_u64() > Some(1), "{shown:#}");
    assert_ne!(shown["result"], "", "{shown:#}");
    lab.assert_nothing_is_left();
}
