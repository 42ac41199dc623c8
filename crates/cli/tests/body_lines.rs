//! `plimsoll http --body-lines`: bodies in rotation.

mod plimsoll;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use plimsoll::plimsoll;
use serde_json::Value;

/// Serves one connection at a time. Sends the method and the body of each request to a channel.
fn server() -> (String, mpsc::Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let (seen, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut writer = stream.try_clone().expect("a socket");
            let mut reader = BufReader::new(stream);
            while let Some(request) = read(&mut reader) {
                let _ = seen.send(request);
                let response = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                if writer.write_all(response).is_err() {
                    break;
                }
            }
        }
    });
    (url, requests)
}

fn read(reader: &mut impl BufRead) -> Option<(String, String)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let method = first.split(' ').next()?.to_owned();
    Some((method, String::from_utf8(body).ok()?))
}

#[test]
fn each_request_sends_the_next_line_and_the_first_follows_the_last() {
    let (url, requests) = server();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bodies.txt");
    // Windows line endings, an empty line, and a last line without a line ending.
    std::fs::write(&file, "{\"index\":1}\r\n\nzwei – ü\nthree").expect("a file");
    let path = file.to_str().expect("text");
    let record = folder.path().join("record.jsonl");
    let ended = plimsoll(&[
        "http",
        "--json",
        "-c",
        "1",
        "-n",
        "7",
        "-Z",
        path,
        "--record",
        record.to_str().expect("text"),
        &url,
    ])
    .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let seen: Vec<_> = requests.try_iter().collect();
    let one = ("POST".to_owned(), "{\"index\":1}".to_owned());
    let two = ("POST".to_owned(), "zwei – ü".to_owned());
    let three = ("POST".to_owned(), "three".to_owned());
    let expected = [&one, &two, &three, &one, &two, &three, &one];
    assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
    let result: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(result["requests"], 7);
    let record = std::fs::read_to_string(&record).expect("a record");
    assert!(record.contains("\"bodies\":3"), "{record}");
}

#[test]
fn a_file_without_bodies_is_refused_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bodies.txt");
    std::fs::write(&file, "\n\r\n").expect("a file");
    let path = file.to_str().expect("text");
    let ended = plimsoll(&[
        "http",
        "-n",
        "1",
        "--body-lines",
        path,
        "http://127.0.0.1:9/",
    ])
    .run();
    assert_eq!(ended.status, Some(104), "{ended:?}");
    assert!(
        ended.stderr.contains("has no line with a body"),
        "{}",
        ended.stderr
    );
    let missing = plimsoll(&["http", "-Z", "/nonexistent", "http://127.0.0.1:9/"]).run();
    assert_eq!(missing.status, Some(104), "{missing:?}");
    assert!(
        missing
            .stderr
            .contains("--body-lines /nonexistent: cannot read it"),
        "{}",
        missing.stderr
    );
}
