//! A live page in Debian's Chromium, driven by one of the live page's own scripts.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::npm;
use serde_json::Value;

const PACKAGE: &str = include_str!("../../../live/tests/browser/package.json");
const LOCK: &str = include_str!("../../../live/tests/browser/package-lock.json");
const BROWSE: &str = include_str!("../../../live/tests/browser/browse.mjs");

/// A browser that runs but has no page yet.
pub struct Browser {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Browser {
    /// Starts a browser with this script. Stores the screenshot in `target/screenshots/live-NAME.png`.
    pub fn start(name: &str, script: &str) -> Browser {
        let chromium = chromium();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = target.join(format!("{name}-browser"));
        npm::install(&directory, PACKAGE, LOCK);
        for (file, text) in [("browse.mjs", BROWSE), ("script.mjs", script)] {
            std::fs::write(directory.join(file), text).expect("a file below target");
        }
        let mut process = Command::new("node")
            .arg("script.mjs")
            .arg(target.join(format!("../screenshots/live-{name}.png")))
            .env("CHROMIUM", chromium)
            .current_dir(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test needs Node.js");
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut browser = Browser { process, lines };
        assert_eq!(browser.line(), "ready");
        browser
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("a line").expect("text")
    }

    /// Starts a program that prints the address of a page, and watches the page. Returns the contents of the page at
    /// the end. The program must succeed.
    pub fn watch(mut self, program: &mut Command) -> Value {
        let program = program.stdin(Stdio::null()).stdout(Stdio::null());
        let mut program = program
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let messages = BufReader::new(program.stderr.take().expect("a pipe")).lines();
        let mut messages = messages.map_while(Result::ok);
        let address = messages
            .find_map(|line| line.strip_prefix("live page: ").map(str::to_owned))
            .expect("the page's address");
        // The program would block if nobody read its output.
        let rest = thread::spawn(move || messages.collect::<Vec<_>>());
        let mut input = self.process.stdin.take().expect("a pipe");
        writeln!(input, "{address}").expect("the browser reads");
        let shown: Value = serde_json::from_str(&self.line()).expect("JSON");
        let status = self.process.wait().expect("the browser ends");
        assert!(status.success(), "see above for the errors: {shown}");
        let ended = program.wait().expect("the program ends");
        assert_eq!(ended.code(), Some(0), "{:?}", rest.join());
        shown
    }
}
