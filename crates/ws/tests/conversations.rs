//! Complete connections with scripted peers, byte by byte: pings, closing, violations that are
//! reported to the peer, disconnects, back-pressure, compression.

use std::future::poll_fn;

use plimsoll_ws::{AgreedDeflate, Connection, Error, Event, Kind, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const LAST: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const NO_TAKEOVER: AgreedDeflate = AgreedDeflate {
    server_no_context_takeover: true,
    client_no_context_takeover: true,
};

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(length as u8),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(payload);
    frame
}

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

/// A connection and the other end of its stream.
fn connected(capacity: usize) -> (Connection<DuplexStream>, DuplexStream) {
    let (ours, theirs) = duplex(capacity);
    (Connection::new(ours, &[], None, Limits::default()), theirs)
}

/// Reads one frame from the client and unmasks it.
async fn read_frame(peer: &mut DuplexStream) -> (u8, Vec<u8>) {
    let mut head = [0; 2];
    peer.read_exact(&mut head).await.unwrap();
    assert!(head[1] & 0x80 != 0, "a client masks");
    let length = match head[1] & 0x7f {
        126 => peer.read_u16().await.unwrap().into(),
        127 => peer.read_u64().await.unwrap(),
        length => length.into(),
    };
    let mut key = [0; 4];
    peer.read_exact(&mut key).await.unwrap();
    let mut payload = vec![0; length as usize];
    peer.read_exact(&mut payload).await.unwrap();
    for (at, byte) in payload.iter_mut().enumerate() {
        *byte ^= key[at % 4];
    }
    (head[0], payload)
}

#[tokio::test]
async fn pongs_have_the_pings_payload() {
    let (mut connection, mut peer) = connected(1 << 16);
    for payload in [&b""[..], b"beat", &[0xfe; 125]] {
        peer.write_all(&frame(LAST | PING, payload)).await.unwrap();
        assert_eq!(
            connection.event().await.unwrap(),
            Event::Ping(payload.to_vec())
        );
        connection.flush().await.unwrap();
        assert_eq!(read_frame(&mut peer).await, (LAST | PONG, payload.to_vec()));
    }
    // An unsolicited pong is reported and needs no response.
    peer.write_all(&frame(LAST | PONG, b"unasked"))
        .await
        .unwrap();
    assert_eq!(
        connection.event().await.unwrap(),
        Event::Pong(b"unasked".to_vec())
    );
    assert_eq!(connection.unsent(), 0);
}

#[tokio::test]
async fn a_peer_that_pings_and_never_reads_does_not_fill_memory() {
    let (mut connection, mut peer) = connected(1 << 10);
    let pings = frame(LAST | PING, &[7; 125]).repeat(64);
    // Both directions block after a kilobyte, so the peer writes in a separate task.
    let writing = tokio::spawn(async move {
        for _ in 0..200 {
            peer.write_all(&pings).await.unwrap();
        }
        peer
    });
    for _ in 0..64 * 200 {
        assert!(matches!(connection.event().await.unwrap(), Event::Ping(_)));
        assert!(connection.unsent() < 128 << 10, "{}", connection.unsent());
    }
    let mut peer = writing.await.unwrap();
    // The queued pongs arrive, and at least the last ping receives its pong.
    let flushing = async move {
        connection.flush().await.unwrap();
        drop(connection);
    };
    let reading = async {
        let mut pongs = 0;
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).await.unwrap();
        // Two header bytes, four key bytes, then the payload.
        for pong in bytes.chunks(2 + 4 + 125) {
            assert_eq!((pong[0], pong[1]), (LAST | PONG, 0x80 | 125));
            pongs += 1;
        }
        pongs
    };
    let (pongs, ()) = tokio::join!(reading, flushing);
    assert!((1..64 * 200).contains(&pongs), "{pongs}");
}

#[tokio::test]
async fn a_close_is_echoed_and_ends_the_events() {
    let (mut connection, mut peer) = connected(1 << 16);
    let close = frame(LAST | CLOSE, &[0x0f, 0xa0, b'o', b'k']);
    // Section 5.5.1: data after a close frame is ignored.
    let all = [close, frame(LAST | TEXT, b"late"), frame(LAST | 5, b"")].concat();
    peer.write_all(&all).await.unwrap();
    let Event::Close(output) = connection.event().await.unwrap() else {
        panic!("no close")
    };
    assert_eq!((output.code, output.reason.as_str()), (4000, "ok"));
    assert_eq!(
        read_frame(&mut peer).await,
        (LAST | CLOSE, vec![0x0f, 0xa0])
    );
    assert_eq!(connection.send(Kind::Text, b"x"), Err(plimsoll_ws::Ended));
    assert_eq!(connection.ping(b"x"), Err(plimsoll_ws::Ended));
    drop(peer);
    let end = connection.event().await.unwrap_err();
    assert!(
        matches!(end, Error::Closed { .. } | Error::Violation(_)),
        "{end}"
    );
}

#[tokio::test]
async fn an_empty_close_is_echoed() {
    let (mut connection, mut peer) = connected(1 << 16);
    peer.write_all(&frame(LAST | CLOSE, b"")).await.unwrap();
    assert!(matches!(connection.event().await.unwrap(), Event::Close(_)));
    assert_eq!(read_frame(&mut peer).await, (LAST | CLOSE, vec![]));
}

#[tokio::test]
async fn our_close_waits_for_the_peers_while_messages_arrive() {
    let (mut connection, mut peer) = connected(1 << 16);
    connection.close(Some(1001), &"é".repeat(100));
    connection.close(Some(1000), "two close frames count once");
    connection.flush().await.unwrap();
    let (first, payload) = read_frame(&mut peer).await;
    assert_eq!(first, LAST | CLOSE);
    // The reason is truncated at a character boundary, so it fits into the frame.
    assert_eq!(payload[2..], *"é".repeat(61).as_bytes());
    peer.write_all(&frame(LAST | TEXT, b"still")).await.unwrap();
    assert_eq!(connection.event().await.unwrap(), text("still"));
    peer.write_all(&frame(LAST | CLOSE, &[3, 0xe9]))
        .await
        .unwrap();
    assert!(matches!(connection.event().await.unwrap(), Event::Close(_)));
    drop(peer);
    assert!(matches!(
        connection.event().await,
        Err(Error::Closed { inside: false })
    ));
}

#[tokio::test]
async fn a_violation_is_reported_to_the_peer_with_its_code() {
    for (bytes, code) in [
        (frame(LAST | 3, b""), 1002),
        (frame(LAST | TEXT, &[0xff]), 1007),
        (vec![LAST | BINARY, 127, 0, 0, 0, 1, 0, 0, 0, 0], 1009),
        (frame(LAST | CLOSE, &[0x03, 0xed]), 1002),
        (frame(LAST | CLOSE, &[3, 0xe8, 0xff]), 1007),
    ] {
        let (mut connection, mut peer) = connected(1 << 16);
        peer.write_all(&bytes).await.unwrap();
        let error = connection.event().await.unwrap_err();
        assert!(matches!(error, Error::Violation(_)), "{error}");
        assert!(
            error.to_string().contains("violated the protocol"),
            "{error}"
        );
        let (first, payload) = read_frame(&mut peer).await;
        assert_eq!(first, LAST | CLOSE);
        assert_eq!(payload, u16::to_be_bytes(code), "{bytes:x?}");
    }
}

#[tokio::test]
async fn a_close_within_a_message_differs_from_one_between_messages() {
    for (bytes, expected) in [
        (&b""[..], false),
        (&[LAST | TEXT], true),
        (&[LAST | TEXT, 5, b'a'], true),
        (&[TEXT, 1, b'a'], true),
        (&[LAST | PING, 1], true),
    ] {
        let (mut connection, mut peer) = connected(1 << 16);
        peer.write_all(bytes).await.unwrap();
        drop(peer);
        match connection.event().await {
            Err(Error::Closed { inside }) => assert_eq!(inside, expected, "{bytes:x?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn bytes_after_the_handshake_are_read_first() {
    let (ours, mut theirs) = duplex(1 << 16);
    let early = [frame(LAST | TEXT, b"one"), frame(LAST | TEXT, b"two")].concat();
    let (rest, later) = early.split_at(early.len() - 2);
    let mut connection = Connection::new(ours, rest, None, Limits::default());
    theirs.write_all(later).await.unwrap();
    assert_eq!(connection.event().await.unwrap(), text("one"));
    assert_eq!(connection.event().await.unwrap(), text("two"));
}

#[tokio::test]
async fn a_slow_reader_causes_back_pressure_and_no_loss() {
    let (mut connection, mut peer) = connected(100);
    let message = vec![0xa5; 300_000];
    connection.send(Kind::Binary, &message).unwrap();
    connection.send(Kind::Text, "ende".as_bytes()).unwrap();
    let stuck = poll_fn(|cx| std::task::Poll::Ready(connection.poll_flush(cx))).await;
    assert!(stuck.is_pending());
    assert!(connection.unsent() > 299_000);
    let (flushed, first) = tokio::join!(connection.flush(), async {
        (read_frame(&mut peer).await, read_frame(&mut peer).await)
    });
    flushed.unwrap();
    assert_eq!(
        first,
        ((LAST | BINARY, message), (LAST | TEXT, b"ende".to_vec()))
    );
}

#[tokio::test]
async fn compressed_messages_reach_a_peer_that_inflates() {
    let (ours, mut peer) = duplex(1 << 20);
    let mut connection = Connection::new(ours, &[], Some(NO_TAKEOVER), Limits::default());
    let text = "a sentence with a sentence in it, ".repeat(40);
    for _ in 0..2 {
        connection.send(Kind::Text, text.as_bytes()).unwrap();
        connection.flush().await.unwrap();
        let (first, payload) = read_frame(&mut peer).await;
        assert_eq!(first, LAST | 0x40 | TEXT);
        assert!(payload.len() < text.len() / 4);
        let mut engine = flate2::Decompress::new(false);
        let mut out = Vec::with_capacity(text.len() * 2);
        let input = [&payload[..], &[0, 0, 0xff, 0xff]].concat();
        engine
            .decompress_vec(&input, &mut out, flate2::FlushDecompress::Sync)
            .unwrap();
        assert_eq!(out, text.as_bytes());
    }
}
