//! Broken and hostile input must not cause a panic, and must be processed in bounded time.

use std::fs;
use std::path::Path;
use std::time::Instant;

use plimsoll_audit::{MAX_BLOCKS, MAX_FILE_SIZE, Unreadable, audit, formats};

fn survives(text: &str) {
    if let Ok(audit) = audit("x", text) {
        let audits = [audit];
        formats::text(&audits);
        formats::json(&audits);
        formats::markdown(&audits);
        formats::sarif(&audits, "0");
    }
}

/// Truncates every recording at many positions, and changes single bytes.
#[test]
fn truncated_and_changed_recordings_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    for part in ["clean", "wrong"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            // The figures of a k6 run are in the last 3 kB.
            let bytes = &bytes[bytes.len().saturating_sub(3000)..];
            for at in (0..bytes.len()).step_by(409) {
                survives(&String::from_utf8_lossy(&bytes[..at]));
                let mut changed = bytes.to_vec();
                changed[at] = b"9-%[]:.\n"[at % 8];
                survives(&String::from_utf8_lossy(&changed));
            }
        }
    }
}

/// Does the same for pages of tools without a recording.
#[test]
fn truncated_and_changed_pages_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/second");
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let (labels, page) = text.split_once("\n====\n").unwrap();
        let unrecorded = ["gcannon ", "zrk ", "HttpArena "];
        if !unrecorded.iter().any(|tool| labels.contains(tool)) {
            continue;
        }
        let bytes = &page.as_bytes()[..page.len().min(3000)];
        for at in (0..bytes.len()).step_by(97) {
            survives(&String::from_utf8_lossy(&bytes[..at]));
            for byte in b"9-,e\n\"" {
                let mut changed = bytes.to_vec();
                changed[at] = *byte;
                survives(&String::from_utf8_lossy(&changed));
            }
        }
    }
}

#[test]
fn large_and_deeply_nested_text_takes_bounded_time() {
    let row =
        "http_reqs......................: 6000 99.4/s\nhttp_req_duration....: avg=1ms min=1ms\n";
    let fences = "```\n".repeat(20_000);
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let groups = format!(
        "{{\"metrics\":{{}},\"root_group\":{}1{}}}",
        "{\"groups\":{\"a\":".repeat(100),
        "}}".repeat(100)
    );
    let histogram = format!(
        "Requests [total, rate] 1, 1\n{}",
        "[1ms, 2ms] 1 1%\n".repeat(100_000)
    );
    let tables = format!(
        "# a\n\n|a|b|\n|-|-|\n{}",
        "| 5 MB/s | 1ms |\n".repeat(20_000)
    );
    let ranges = format!("```\n{}\n```", "seq 1 10 seq 0 9\n".repeat(20_000));
    let block = format!("```\n{row}```\n");
    let figures = format!(
        "# a\n\n{}\n\n{block}",
        "It took 12.34ms. The p95 of 12.34ms is 2x throughput from a. ".repeat(4_000)
    );
    let quotes = format!(
        "# a\n\n|a|\n|-|\n{}\n{block}",
        "| avg=1ms min=2ms med=3ms max=4ms |\n".repeat(5_000)
    );
    let titles = format!("# {}\n\n{}", "x".repeat(200_000), block.repeat(900));
    let metrics: String = (0..100_000)
        .map(|n| format!("m{n}...: avg=1ms min=1ms\n"))
        .collect();
    let schemas = format!(
        "# a\n\n{}\n\n|a|\n|-|\n{}\n{block}",
        "`{a|b}-{c}` x\n\n".repeat(2_000),
        "|zz|\n".repeat(20_000)
    );
    let contest = format!(
        "# Ranking of 9 users\n\n| Rank | Name | a | b | c | d | e | Winner | Status |\n{}|\n{}\n",
        "|-".repeat(9),
        "| 1 | zz | 1.234 ms | 2.345 ms | 3.579 ms | 99 req/s | 5% | a | PASS |\n".repeat(60)
    );
    let claims = "A wins 7 of 9. All 9 tests passed. a > b > c. zz is second. All requests stayed below 9 ms. \
                  p95 of 1.234 ms. It is 9x faster (1 ms -> 2 ms). zz is the fastest, followed by a, b and c. \
                  Latency dropped by 70%. Zero errors. -5% to -99% of a. seven of nine. 9 × 9 = 1\n\n";
    let contests = format!("{}{}", contest.repeat(60), claims.repeat(100));
    let listed = "1. zz\n2. a\n3. b\n\n- p95: 1.234 ms\n- RPS: 9\n= 9\n".repeat(4_000);
    let lists = format!("# a\n\n{listed}");
    // Compare with a sound file, because a busy machine slows down both equally.
    let sound = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/clean/k6_full.txt");
    let sound = fs::read_to_string(sound).unwrap();
    let start = Instant::now();
    for _ in 0..20 {
        survives(&sound);
    }
    let reference = start.elapsed() / 20;
    let start = Instant::now();
    for text in [
        row.repeat(20_000),
        fences,
        nested,
        groups,
        histogram,
        figures,
        quotes,
        titles,
        metrics,
        schemas,
        contests,
        lists,
        format!("{tables}\n```\n{row}\n```"),
        format!("{ranges}\n```\n{row}\n```"),
        "> ".repeat(50_000),
        "9".repeat(1_000_000),
        format!("Running {} test @ x", "1s".repeat(100_000)),
    ] {
        survives(&text);
    }
    let taken = start.elapsed();
    // This is about 50 MB of text, compared with 7 kB: the time must be proportional.
    assert!(
        taken < reference * 20_000,
        "{taken:?}, one report {reference:?}"
    );
}

#[test]
fn text_that_is_not_a_report_is_recognized() {
    for text in [
        "",
        "hello",
        "# A page\n\nwith prose.",
        "{}",
        "[1,2]",
        "{\"end\":{}}",
    ] {
        assert_eq!(audit("x", text).err(), Some(Unreadable::NoBlock), "{text}");
    }
    let many = "```\nhttp_reqs....: 1 1/s\niterations....: 1 1/s\n```\n".repeat(MAX_BLOCKS + 1);
    assert_eq!(audit("x", &many).err(), Some(Unreadable::TooManyBlocks));
    assert_eq!(
        audit("x", &" ".repeat(MAX_FILE_SIZE + 1)).err(),
        Some(Unreadable::TooLarge)
    );
}
