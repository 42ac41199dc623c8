//! Tests that host functions yield while they compute, and stop when the script has to end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::run;
use crate::instance::Outcome;

/// The values that the calls below use.
const PREPARE: &str = "
    import { parseHTML } from 'k6/html';
    import encoding from 'k6/encoding';
    import k6crypto from 'k6/crypto';
    import http from 'k6/http';
    import csv from 'k6/experimental/csv';
    import { SharedArray } from 'k6/data';
    const text = 'abcdefgh'.repeat(4e4);
    const bytes = new Uint8Array(3e5);
    const base64 = encoding.b64encode(text);
    const paragraphs = '<p>x</p>'.repeat(3e3);
    const page = parseHTML(paragraphs);
    const hasher = k6crypto.createHash('sha1');
    const shared = new SharedArray('shared', () => Array.from({ length: 3e3 }, (_, n) => n));
";

/// Extra preparation for a call, and the call itself. Each call is a single call of a host function.
const CALLS: &[(&str, &str)] = &[
    ("", "parseHTML(paragraphs)"),
    ("const nested = '<div>'.repeat(1e3)", "parseHTML(nested)"),
    (
        "const attributes = '<p ' + Array.from({ length: 1e4 }, (_, n) => 'a' + n).join(' ') + '>'",
        "parseHTML(attributes.repeat(20))",
    ),
    ("const long = '<p>' + text", "parseHTML(long)"),
    ("", "page.find('p')"),
    ("", "page.find('span p:nth-child(2n+1)')"),
    ("", "page.text()"),
    ("", "page.html()"),
    ("const all = page.find('p')", "all.not(all)"),
    ("const all = page.find('p')", "all.toArray()"),
    ("", "encoding.b64encode(bytes.buffer)"),
    ("", "encoding.b64decode(base64)"),
    ("", "k6crypto.sha256(text, 'hex')"),
    ("", "k6crypto.md5(bytes.buffer, 'hex')"),
    ("", "k6crypto.hmac('sha512', 'secret', text, 'hex')"),
    ("", "hasher.update(text)"),
    ("", "k6crypto.hexEncode(text)"),
    ("", "k6crypto.randomBytes(1e6)"),
    ("", "crypto.subtle.digest('SHA-256', bytes)"),
    (
        "const key = await crypto.subtle.importKey('raw', bytes.slice(0, 16), 'PBKDF2', false, ['deriveBits'])",
        "crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: bytes.slice(0, 16), iterations: 4e9 }, key, 256)",
    ),
    (
        "const key = await crypto.subtle.importKey('raw', bytes.slice(0, 16), 'AES-CBC', false, ['encrypt'])",
        "crypto.subtle.encrypt({ name: 'AES-CBC', iv: bytes.slice(0, 16) }, key, bytes)",
    ),
    (
        "const key = await crypto.subtle.importKey('raw', bytes.slice(0, 16), 'AES-GCM', false, ['encrypt'])",
        "crypto.subtle.encrypt({ name: 'AES-GCM', iv: bytes.slice(0, 12) }, key, bytes)",
    ),
    (
        "const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])",
        "crypto.subtle.sign('HMAC', key, bytes)",
    ),
    ("const decoder = new TextDecoder()", "decoder.decode(bytes)"),
    (
        "const decoder = new TextDecoder('utf-16le')",
        "decoder.decode(bytes)",
    ),
    (
        "const encoder = new TextEncoder()",
        "encoder.encodeInto(text, bytes)",
    ),
    ("const encoder = new TextEncoder()", "encoder.encode(text)"),
    ("", "http.post('http://127.0.0.1:9/', bytes.buffer)"),
    ("", "http.post('http://127.0.0.1:9/', text)"),
    (
        "const list = Array.from({ length: 3e3 }, (_, n) => n)",
        "console.log(list)",
    ),
    ("", "Object.keys(shared)"),
    (
        "const urls = new Array(1e3).fill('http://127.0.0.1:9/')",
        "http.batch(urls)",
    ),
    (
        "const fields = { a: text }",
        "http.post('http://127.0.0.1:9/', fields)",
    ),
];

/// The number of clock checks after which the script must end.
const LOOKS: usize = 5;

#[test]
fn long_calls_are_interrupted() {
    let mut held = Vec::new();
    for (needs, call) in CALLS {
        let source = format!(
            "{PREPARE}
            export default async function () {{
                {needs};
                console.log('begun');
                {call};
                console.log('ended');
            }}"
        );
        // None before the call has started.
        let looks = Arc::new(AtomicUsize::new(usize::MAX));
        let ended = Arc::new(AtomicUsize::new(0));
        let (begin, end) = (Arc::clone(&looks), Arc::clone(&ended));
        let log = move |line: &str| match line {
            "begun" => begin.store(0, Ordering::Relaxed),
            "ended" => end.store(1, Ordering::Relaxed),
            _ => {}
        };
        let interrupted = move || {
            let known = looks.load(Ordering::Relaxed);
            if known < usize::MAX {
                looks.store(known + 1, Ordering::Relaxed);
            }
            (LOOKS..usize::MAX).contains(&known)
        };
        let path = PathBuf::from("/script.js");
        let outcome = run(path, source.into_bytes(), log, Some(Arc::new(interrupted)));
        if ended.load(Ordering::Relaxed) > 0 || outcome != Outcome::Interrupted {
            held.push(format!("{call}: {outcome:?}"));
        }
    }
    assert!(held.is_empty(), "{}", held.join("\n"));
}

/// An unwinding stack cannot be suspended, so the worker's other users would wait until the whole page is dropped.
#[cfg(debug_assertions)] // Only such a build counts the nodes.
#[test]
fn a_page_whose_parsing_is_interrupted_is_dropped_later() {
    use plimsoll_k6::pure::html::DROPPED_WHILE_UNWINDING;

    let source = format!(
        "{PREPARE} export default function () {{ console.log('begun'); parseHTML(paragraphs) }}"
    );
    let looks = Arc::new(AtomicUsize::new(0));
    let begin = Arc::clone(&looks);
    let log = move |_: &str| begin.store(1, Ordering::Relaxed);
    let interrupted = move || {
        let known = looks.load(Ordering::Relaxed);
        looks.store(known + known.min(1), Ordering::Relaxed);
        known > LOOKS
    };
    DROPPED_WHILE_UNWINDING.set(0);
    let path = PathBuf::from("/script.js");
    let outcome = run(path, source.into_bytes(), log, Some(Arc::new(interrupted)));
    assert_eq!(outcome, Outcome::Interrupted);
    assert_eq!(DROPPED_WHILE_UNWINDING.get(), 0);
}
