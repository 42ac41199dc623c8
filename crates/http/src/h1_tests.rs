//! Tests of the codec with scripted peers in memory.

use std::time::Duration;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;
use crate::scratch::Scratch;

/// Sends a request on `wire` and returns the result.
async fn exchange(
    wire: &mut Connection<DuplexStream>,
    body: &[u8],
) -> (Result<(), Fault>, Progress) {
    let scratch = Scratch::new(256);
    let ask = H1Request {
        head: b"POST / HTTP/1.1\r\nHost: h\r\n\r\n",
        body,
        is_head: false,
        keep_body: true,
        max_body: 1 << 20,
        cut_body: false,
        watch: None,
        deadline: plimsoll_clock::now() + Duration::from_secs(5),
        is_upgrade: false,
    };
    let mut progress = Progress::default();
    let ended = wire.exchange(&ask, &scratch, &mut progress).await;
    (ended, progress)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(work)
}

/// A peer that writes each piece separately and lets the client run between pieces.
async fn play(mut peer: DuplexStream, pieces: Vec<Vec<u8>>, close: bool) -> Option<DuplexStream> {
    for piece in pieces {
        if peer.write_all(&piece).await.is_err() {
            return None;
        }
        tokio::task::yield_now().await;
    }
    (!close).then_some(peer)
}

fn cut(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for cut in cuts {
        pieces.push(bytes[from..cut].to_vec());
        from = cut;
    }
    pieces.push(bytes[from..].to_vec());
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However a response is split into pieces, it parses to the same result, and its timestamps are in
    /// order.
    #[test]
    fn the_result_does_not_depend_on_the_pieces(
        body in proptest::collection::vec(any::<u8>(), 0..600),
        framing in 0u8..3,
        cuts in proptest::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut wire = match framing {
            0 => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes(),
            1 => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
            _ => b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        };
        if framing == 1 {
            for chunk in body.chunks(97) {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
        } else {
            wire.extend_from_slice(&body);
        }
        let pieces = cut(&wire, &cuts);
        let (ended, progress, peer) = run(async {
            let (near, far) = tokio::io::duplex(1 << 16);
            let mut connection = Connection::new(near);
            let ((ended, progress), peer) =
                tokio::join!(exchange(&mut connection, b""), play(far, pieces, framing == 2));
            (ended, progress, peer)
        });
        prop_assert!(ended.is_ok(), "{ended:?}");
        prop_assert_eq!(&progress.body[..], &body[..]);
        prop_assert_eq!(progress.received, wire.len() as u64);
        prop_assert_eq!(progress.reusable, framing != 2);
        prop_assert_eq!(peer.is_none(), framing == 2);
        let (sent, first, done) = (progress.sent.unwrap(), progress.first_byte.unwrap(), progress.done.unwrap());
        prop_assert!(first <= done);
        // The peer may respond before the request is fully sent; the timeline clamps that.
        let _ = sent;
    }

    /// For any input bytes, the codec returns a response or an error, without a panic and within
    /// bounded memory.
    #[test]
    fn garbage_ends_the_exchange(
        garbage in proptest::collection::vec(any::<u8>(), 0..300),
        as_head in any::<bool>(),
        cuts in proptest::collection::vec(any::<usize>(), 0..4),
    ) {
        let wire = if as_head {
            [b"HTTP/1.1 200 OK\r\n".as_slice(), &garbage].concat()
        } else {
            garbage
        };
        run(async {
            let (near, far) = tokio::io::duplex(1 << 16);
            let mut connection = Connection::new(near);
            let ((ended, progress), _) =
                tokio::join!(exchange(&mut connection, b""), play(far, cut(&wire, &cuts), true));
            if ended.is_ok() {
                assert!(progress.head.is_some());
            }
        });
    }
}

#[test]
fn repeated_headers_are_shared_and_changed_ones_are_not() {
    run(async {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let mut connection = Connection::new(near);
        let mut heads = Vec::new();
        for value in ["a", "a", "b"] {
            let response = format!("HTTP/1.1 200 OK\r\nX: {value}\r\nContent-Length: 1\r\n\r\nx");
            far.write_all(response.as_bytes()).await.unwrap();
            let (ended, progress) = exchange(&mut connection, b"").await;
            assert!(ended.is_ok() && progress.reusable);
            heads.push(progress.head.unwrap());
        }
        assert!(Rc::ptr_eq(&heads[0], &heads[1]));
        assert_eq!(heads[2].get("x"), Some(&b"b"[..]));
        assert_eq!(connection.served, 3);
    });
}

#[test]
fn unsolicited_bytes_end_a_connection() {
    run(async {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let mut connection = Connection::new(near);
        far.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200")
            .await
            .unwrap();
        let (ended, progress) = exchange(&mut connection, b"").await;
        assert!(ended.is_ok() && !progress.reusable);

        let (near, mut far) = tokio::io::duplex(1 << 16);
        let mut idle = Connection::new(near);
        assert!(!idle.is_dead());
        far.write_all(b"!").await.unwrap();
        assert!(idle.is_dead());
        let (near, far) = tokio::io::duplex(1 << 16);
        let mut closed = Connection::new(near);
        drop(far);
        assert!(closed.is_dead());
    });
}

/// The request counts as sent when its last byte was accepted, not its first byte.
#[test]
fn the_send_time_is_that_of_the_last_byte() {
    run(async {
        let (near, mut far) = tokio::io::duplex(64);
        let mut connection = Connection::new(near);
        let body = vec![b'x'; 1000];
        let slow_peer = async {
            let mut seen = vec![0; 28 + 1000];
            far.read_exact(&mut seen[..500]).await.unwrap();
            let halfway = plimsoll_clock::now();
            far.read_exact(&mut seen[500..]).await.unwrap();
            far.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                .await
                .unwrap();
            halfway
        };
        let ((ended, progress), halfway) =
            tokio::join!(exchange(&mut connection, &body), slow_peer);
        assert!(ended.is_ok());
        assert_eq!(progress.written, 28 + 1000);
        assert!(progress.sent.unwrap() >= halfway);
        assert!(progress.first_byte.unwrap() >= progress.sent.unwrap());
    });
}
