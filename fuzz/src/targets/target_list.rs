//! Lists of targets, in both formats.

use plimsoll_scriptless::{Defaults, Format, List};

use super::Target;

pub const TARGET: Target = Target {
    name: "target_list",
    run,
    seeds: &[
        b"GET http://h/\n",
        b"# all\nPOST http://h:81/a?b HTTP\r\nA: b\nx : y\n@body\n\n\nGET https://[::1]/\n",
        b"{\"method\":\"POST\",\"url\":\"http://h/\",\"body\":\"aGk=\",\"header\":{\"A\":[\"b\",\"c\"]}}\n",
        b"{\"method\":\"GET\",\"url\":\"http://h/\"}\n\n{\"method\":\"PUT\",\"url\":\"http://i/\"}",
    ],
    words: &[
        "GET ", "@", "@@", "#", ": ", "\r\n", "\n\n", "http://", "://", "{\"method\":", "\"url\":", "\"header\":",
        "\"body\":", "null", "[", "]", "{}", "\\u0000", "\u{feff}", "\0", "%zz", "[::1",
    ],
};

fn run(data: &[u8]) {
    read(data, Format::Text);
    read(data, Format::Json);
}

fn read(data: &[u8], format: Format) {
    let read_body = Box::new(|path: &str| Ok(path.as_bytes().to_vec()));
    let mut list = List::new(data, format, Defaults::default(), read_body);
    // Each target takes at least one byte, so the list ends.
    for _ in 0..=data.len() {
        match list.read_next() {
            Ok(Some(target)) => assert!(!target.url.is_empty() && !target.method.is_empty()),
            Ok(None) | Err(_) => return,
        }
    }
    panic!("a list of {} bytes does not end", data.len());
}
