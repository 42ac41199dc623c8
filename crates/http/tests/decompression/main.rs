//! Small responses that expand to huge ones. Their total memory is limited for all users together,
//! the request timeout stops them, and other users run in the meantime.

#[path = "../peer/mod.rs"]
mod peer;

#[path = "../../../samples/tests/allocations/counting.rs"]
mod heap;

use std::cell::Cell;
use std::io::Write;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use peer::{client, http_response, request, run, serve};
use plimsoll_http::{BodyUse, MemoryBudget, Method, Settings, code};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const MIB: usize = 1 << 20;

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut out, 4096, 1, 22);
    writer.write_all(plain).unwrap();
    drop(writer);
    out
}

/// One frame with a window of 128 KiB whose blocks each repeat a byte (RFC 8878, section 3.1.1.2).
fn zstd(length: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    let blocks = length / (128 << 10);
    for number in 1..=blocks {
        let header = (128 << 10 << 3 | 1 << 1 | usize::from(number == blocks)) as u32;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b'0');
    }
    frame
}

/// `/CODINGS` expands to `length` bytes.
fn bombs(length: usize) -> SocketAddr {
    let member = gzip(&vec![b'0'; MIB]);
    let gzipped = member.repeat(length / MIB);
    let twice = gzip(&gzipped);
    let plain = vec![b'0'; length.min(32 * MIB)];
    let (deflated, brotlied) = (deflate(&plain), brotli(&plain));
    serve(move |head, _| {
        let codings = head.split([' ', '/']).nth(2).unwrap();
        let body = match codings {
            "gzip" => gzipped.clone(),
            "gzip,gzip" => twice.clone(),
            "deflate" => deflated.clone(),
            "br" => brotlied.clone(),
            "zstd" => zstd(length),
            _ => Vec::new(),
        };
        http_response("200 OK", &format!("Content-Encoding: {codings}\r\n"), &body)
    })
}

const CODINGS: [&str; 5] = ["gzip", "deflate", "br", "zstd", "gzip,gzip"];

#[test]
fn four_users_share_one_budget() {
    const LIMIT: usize = 24 * MIB;
    static BUDGET: MemoryBudget = MemoryBudget::new(LIMIT);
    let address = bombs(32 * MIB);
    let settings = Settings {
        decoded_memory: &BUDGET,
        ..Settings::default()
    };
    run(async {
        let clients: Vec<_> = (0..4).map(|_| Rc::new(client(settings.clone()))).collect();
        for codings in CODINGS {
            heap::take_peak();
            let before = heap::live();
            let ticks = Rc::new(Cell::new(0));
            let ticker = tokio::task::spawn_local({
                let ticks = Rc::clone(&ticks);
                async move {
                    loop {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        ticks.set(ticks.get() + 1);
                    }
                }
            });
            let users: Vec<_> = clients
                .iter()
                .map(|client| {
                    let client = Rc::clone(client);
                    let get = request(Method::Get, &format!("http://{address}/{codings}"));
                    tokio::task::spawn_local(async move {
                        client.send(&get, None, &mut |_| {}).await.unwrap_err()
                    })
                })
                .collect();
            for user in users {
                let failure = user.await.unwrap();
                assert_eq!(failure.error.code, code::DECOMPRESSION, "{codings}");
                let text = &failure.error.message;
                assert!(text.contains("exceed the limit of 25 MB"), "{text}");
                assert!(text.contains("PLIMSOLL_DECOMPRESSION_MEMORY"), "{text}");
            }
            ticker.abort();
            assert_eq!(BUDGET.used(), 0, "{codings}");
            let most = heap::take_peak() - before;
            // The rest is the compressed bytes and the decompressors' tables.
            let bound = LIMIT as i64 + 8 * MIB as i64;
            assert!(most < bound, "{codings}: {most} bytes");
            assert!(most > LIMIT as i64 / 2, "{codings}: {most} bytes");
            // Without slices, the ticker would run at most once per user.
            assert!(ticks.get() > 8, "{codings}: {} ticks", ticks.get());
        }
    });
}

#[test]
fn the_request_timeout_stops_decompression() {
    static BUDGET: MemoryBudget = MemoryBudget::new(usize::MAX);
    let address = bombs(1024 * MIB);
    let settings = Settings {
        decoded_memory: &BUDGET,
        ..Settings::default()
    };
    run(async {
        let client = client(settings);
        for codings in ["gzip", "zstd", "gzip,gzip"] {
            let mut get = request(Method::Get, &format!("http://{address}/{codings}"));
            // Far too short to decompress a gigabyte, even on an idle machine.
            get.timeout = Duration::from_millis(60);
            let failure = client.send(&get, None, &mut |_| {}).await.unwrap_err();
            assert_eq!(failure.error.code, code::REQUEST_TIMEOUT, "{codings}");
            // The server responded in time, so the message must not blame the server.
            let text = &failure.error.message;
            assert!(text.contains("while decompressing"), "{codings}: {text}");
            assert_eq!(BUDGET.used(), 0);
        }
    });
}

#[test]
fn a_body_counts_until_it_is_dropped() {
    static BUDGET: MemoryBudget = MemoryBudget::new(12 * MIB);
    let address = bombs(8 * MIB);
    let settings = Settings {
        decoded_memory: &BUDGET,
        ..Settings::default()
    };
    run(async {
        let client = client(settings);
        let mut get = request(Method::Get, &format!("http://{address}/gzip"));
        let first = client.send(&get, None, &mut |_| {}).await.unwrap();
        assert!(first.body.len() == 8 * MIB && first.body.iter().all(|&byte| byte == b'0'));
        assert_eq!(BUDGET.used(), 8 * MIB);
        let failure = client.send(&get, None, &mut |_| {}).await.unwrap_err();
        assert_eq!(failure.error.code, code::DECOMPRESSION);
        // A body that is not read is not decompressed.
        get.body_use = BodyUse::Discard;
        let unseen = client.send(&get, None, &mut |_| {}).await.unwrap();
        assert_eq!((unseen.status, unseen.body.len()), (200, 0));
        get.body_use = BodyUse::Keep;
        drop(first);
        assert_eq!(BUDGET.used(), 0);
        let again = client.send(&get, None, &mut |_| {}).await.unwrap();
        assert_eq!(again.body.len(), 8 * MIB);
    });
}

/// Redirects are followed without decoding their bodies.
#[test]
fn the_body_of_a_followed_redirect_is_not_decompressed() {
    let address = serve(|head, _| match head.starts_with("GET /end ") {
        true => http_response("200 OK", "", b"end"),
        false => http_response(
            "302 Found",
            "Location: /end\r\nContent-Encoding: gzip\r\n",
            b"no gzip",
        ),
    });
    run(async {
        let client = client(Settings::default());
        let get = request(Method::Get, &format!("http://{address}/"));
        let end = client.send(&get, None, &mut |_| {}).await.unwrap();
        assert_eq!(end.body, "end");
    });
}
