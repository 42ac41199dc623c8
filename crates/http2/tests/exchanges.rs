//! Exchanges with a scripted server: bodies in both directions within the windows, limits that the
//! server changes, acknowledgements, and the end of connections.

mod scripted_peer;

use bytes::Bytes;
use plimsoll_http2::StreamFault;
use scripted_peer::*;

fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

/// Pings and settings are acknowledged; acknowledgements are not (sections 6.7 and 6.5.3).
#[test]
fn pings_and_settings_are_acknowledged() {
    run(async {
        let (streams, mut peer) = connect();
        peer.preface().await;
        peer.send(&settings()).await;
        assert_eq!(peer.frame().await, Some((SETTINGS, ACK, 0, vec![])));
        peer.send(&frame(PING, ACK, 0, b"ignored!")).await;
        peer.send(&frame(PING, 0, 0, b"12345678")).await;
        let ping = (PING, ACK, 0, b"12345678".to_vec());
        assert_eq!(peer.frame().await, Some(ping));
        drop(streams);
        // The client announces that it closes the connection (section 6.8).
        let goodbye = (GOAWAY, 0, 0, vec![0; 8]);
        assert_eq!(peer.rest().await, [goodbye]);
    });
}

/// These responses have no body, whatever length they announce (RFC 9110, sections 8.6 and 9.3.2).
#[test]
fn a_response_without_a_body_may_announce_a_length() {
    let length = literal(b"content-length", b"5");
    for (method, status) in [("HEAD", 0x88), ("GET", 0x8b), ("GET", 0x89)] {
        run(async {
            let (streams, mut peer) = connect();
            let (_outgoing, mut incoming) = streams.open(&head(method), true).await.unwrap();
            let block = [&[status][..], &length].concat();
            peer.send(&settings()).await;
            peer.send(&frame(HEADERS, END_HEADERS, 1, &block)).await;
            peer.send(&frame(DATA, END_STREAM, 1, b"")).await;
            assert_eq!(read(&mut incoming).await.unwrap().body, b"");
            // Only a frame with a body is a violation.
            let (_outgoing, mut incoming) = streams.open(&head(method), true).await.unwrap();
            peer.send(&frame(HEADERS, END_HEADERS, 3, &block)).await;
            peer.send(&frame(DATA, END_STREAM, 3, b"hello")).await;
            let (code, by_peer) = (PROTOCOL, false);
            let fault = StreamFault::Reset { code, by_peer };
            assert_eq!(read(&mut incoming).await, Err(fault));
        });
    }
}

/// An upload stays within both windows, whichever is extended later (section 6.9).
#[test]
fn an_upload_stays_within_the_windows() {
    run(async {
        let (streams, mut peer) = connect();
        peer.preface().await;
        // New streams have windows of 10 bytes, and the connection has 65,535 bytes.
        peer.send(&[settings(), setting(4, 10)].concat()).await;
        peer.next(SETTINGS).await.unwrap();
        peer.next(SETTINGS).await.unwrap();
        let (mut outgoing, mut incoming) = streams.open(&head("POST"), false).await.unwrap();
        let sending = tokio::task::spawn_local(async move {
            upload(&mut outgoing, 70_000).await.unwrap();
            outgoing.written().is_some()
        });
        let received = async |peer: &mut Peer, expected: usize| {
            let mut length = 0;
            let mut flags = 0;
            while length < expected {
                let (_, last, stream, payload) = peer.next(DATA).await.unwrap();
                assert_eq!(stream, 1);
                assert!(payload.len() <= 16_384);
                length += payload.len();
                flags = last;
            }
            assert_eq!(length, expected);
            flags
        };
        assert_eq!(received(&mut peer, 10).await, 0);
        // The setting changes open windows by the difference (section 6.9.2).
        peer.send(&setting(4, 30)).await;
        assert_eq!(received(&mut peer, 20).await, 0);
        // Set it below what was used, which makes the window negative.
        peer.send(&setting(4, 0)).await;
        peer.send(&frame(WINDOW_UPDATE, 0, 1, &30_u32.to_be_bytes()))
            .await;
        peer.send(&frame(PING, 0, 0, &[0; 8])).await;
        assert_eq!(peer.next(PING).await.unwrap().1, ACK);
        peer.send(&frame(WINDOW_UPDATE, 0, 1, &100_000_u32.to_be_bytes()))
            .await;
        assert_eq!(received(&mut peer, 65_535 - 30).await, 0);
        peer.send(&frame(WINDOW_UPDATE, 0, 0, &100_000_u32.to_be_bytes()))
            .await;
        assert_eq!(received(&mut peer, 70_000 - 65_535).await, END_STREAM);
        sending.await.unwrap();
        peer.send(&response(1)).await;
        assert_eq!(read(&mut incoming).await.unwrap().status, 200);
    });
}

/// A server that does not need the rest of a request sends its response and RST_STREAM with
/// NO_ERROR (section 8.1).
#[test]
fn a_response_before_the_end_of_the_upload_is_accepted() {
    run(async {
        let (streams, mut peer) = connect();
        let (mut outgoing, mut incoming) = streams.open(&head("POST"), false).await.unwrap();
        peer.preface().await;
        let body = [
            frame(HEADERS, END_HEADERS, 1, STATUS_200),
            frame(DATA, END_STREAM, 1, b"no"),
            frame(RST_STREAM, 0, 1, &NO_ERROR.to_be_bytes()),
        ];
        peer.send(&[settings(), body.concat()].concat()).await;
        let sent = upload(&mut outgoing, 1 << 20).await;
        let (code, by_peer) = (NO_ERROR, true);
        assert_eq!(sent, Err(StreamFault::Reset { code, by_peer }));
        assert_eq!(read(&mut incoming).await.unwrap().body, b"no");
        // The same without RST_STREAM: the client cancels the rest of the upload.
        let (outgoing, mut incoming) = streams.open(&head("POST"), false).await.unwrap();
        peer.send(&response(3)).await;
        assert_eq!(read(&mut incoming).await.unwrap().status, 200);
        drop((outgoing, incoming));
        let cancelled = (RST_STREAM, 0, 3, CANCEL.to_be_bytes().to_vec());
        assert_eq!(peer.next(RST_STREAM).await, Some(cancelled));
    });
}

/// Bytes that are read or counted are returned to the server's window, including padding (section
/// 6.9).
#[test]
fn read_bytes_are_returned_to_the_window() {
    for discards in [false, true] {
        run(async {
            let (streams, mut peer) = connect();
            peer.preface().await;
            let (_outgoing, mut incoming) = streams.open(&head("GET"), true).await.unwrap();
            if discards {
                incoming.discard_body();
            }
            peer.send(&settings()).await;
            peer.send(&frame(HEADERS, END_HEADERS, 1, STATUS_200)).await;
            let serving = tokio::task::spawn_local(async move {
                // 16 MiB with windows of 4 MiB: each frame waits until there is space for it.
                let (mut window, mut left) = (4_i64 << 20, 16 << 20);
                let payload = [&[83][..], &[b'x'; 16_000], &[0; 83]].concat();
                while left > 0 {
                    if window >= payload.len() as i64 {
                        peer.send(&frame(DATA, PADDED, 1, &payload)).await;
                        window -= payload.len() as i64;
                        left -= 16_000.min(left);
                        continue;
                    }
                    let (_, _, stream, more) = peer.next(WINDOW_UPDATE).await.unwrap();
                    let more = u32::from_be_bytes(more.try_into().unwrap());
                    window += i64::from(if stream == 1 { more } else { 0 });
                }
                peer.send(&frame(DATA, END_STREAM, 1, b"")).await;
                peer
            });
            let kept = read(&mut incoming).await.unwrap().body.len() as u64;
            assert_eq!(
                incoming.received(),
                16_000 * (16_u64 << 20).div_ceil(16_000)
            );
            assert_eq!(kept, if discards { 0 } else { incoming.received() });
            serving.await.unwrap();
        });
    }
}

/// Requests above the server's limit wait, even after the server lowers the limit (section 5.1.2).
#[test]
fn concurrent_streams_respect_the_servers_limit() {
    run(async {
        let (streams, mut peer) = connect();
        peer.preface().await;
        assert_eq!(streams.max_streams(), 100);
        peer.send(&setting(3, 1)).await;
        peer.next(SETTINGS).await.unwrap();
        assert_eq!(streams.max_streams(), 1);
        let (_outgoing, mut first) = streams.open(&head("GET"), true).await.unwrap();
        let request = head("GET");
        let opening = streams.open(&request, true);
        let answering = async {
            peer.next(HEADERS).await.unwrap();
            peer.send(&frame(PING, 0, 0, &[0; 8])).await;
            assert_eq!(peer.frame().await.unwrap().0, PING);
            peer.send(&response(1)).await;
            assert_eq!(peer.next(HEADERS).await.unwrap().2, 3);
            peer.send(&response(3)).await;
        };
        let (opened, ()) = tokio::join!(opening, answering);
        assert_eq!(read(&mut first).await.unwrap().status, 200);
        assert_eq!(read(&mut opened.unwrap().1).await.unwrap().status, 200);
    });
}

/// The client adds nothing to the table of a server that sets its size to 0 (RFC 7541, section
/// 4.2).
#[test]
fn headers_respect_the_servers_table_size() {
    run(async {
        let (streams, mut peer) = connect();
        peer.preface().await;
        peer.send(&setting(1, 0)).await;
        peer.next(SETTINGS).await.unwrap();
        let mut blocks = Vec::new();
        for number in 0..2 {
            let (_outgoing, mut incoming) = streams.open(&head("GET"), true).await.unwrap();
            let (_, _, stream, block) = peer.next(HEADERS).await.unwrap();
            assert_eq!(stream, 2 * number + 1);
            peer.send(&response(stream)).await;
            read(&mut incoming).await.unwrap();
            blocks.push(block);
        }
        // The new size, then :method GET, :scheme http, :authority as a literal, :path /.
        assert_eq!(blocks[0], b"\x20\x82\x86\x01\x01h\x84");
        assert_eq!(blocks[1], b"\x82\x86\x01\x01h\x84");
    });
}

/// A server that closes the connection completes the streams up to the one that it names (section
/// 6.8).
#[test]
fn goaway_distinguishes_processed_from_unprocessed_requests() {
    run(async {
        let (streams, mut peer) = connect();
        let (_a, mut complete) = streams.open(&head("GET"), true).await.unwrap();
        let (_b, mut incomplete) = streams.open(&head("GET"), true).await.unwrap();
        let (_c, mut unprocessed) = streams.open(&head("GET"), true).await.unwrap();
        peer.send(&settings()).await;
        let last_and_code = [0, 0, 0, 3, 0, 0, 0, 11];
        let payload = [&last_and_code[..], b"calm"].concat();
        peer.send(&frame(GOAWAY, 0, 0, &payload)).await;
        peer.send(&response(1)).await;
        let going_away = |is_unprocessed| StreamFault::GoAway {
            code: CALM,
            debug_data: "calm".to_owned(),
            is_unprocessed,
        };
        assert_eq!(read(&mut unprocessed).await, Err(going_away(true)));
        assert_eq!(read(&mut complete).await.unwrap().status, 200);
        assert!(!streams.is_open());
        let late = streams.open(&head("GET"), true).await.map(|_| ());
        assert_eq!(late, Err(going_away(true)));
        peer.close().await;
        assert_eq!(read(&mut incomplete).await, Err(going_away(false)));
    });
}

#[test]
fn the_end_of_the_connection_ends_its_requests() {
    run(async {
        let (streams, mut peer) = connect();
        let (_outgoing, mut incoming) = streams.open(&head("GET"), true).await.unwrap();
        peer.send(&settings()).await;
        peer.send(&frame(HEADERS, END_HEADERS, 1, STATUS_200)).await;
        peer.close().await;
        assert_eq!(incoming.head().await.unwrap().status.unwrap(), 200);
        assert_eq!(read(&mut incoming).await, Err(StreamFault::Ended));
        assert!(!streams.is_open());
    });
}

/// A request that its caller drops is cancelled; other requests continue (section 5.4.2).
#[test]
fn a_dropped_request_is_cancelled() {
    run(async {
        let (streams, mut peer) = connect();
        let dropped = streams.open(&head("GET"), true).await.unwrap();
        let (_outgoing, mut other) = streams.open(&head("GET"), true).await.unwrap();
        drop(dropped);
        let cancelled = (RST_STREAM, 0, 1, CANCEL.to_be_bytes().to_vec());
        peer.preface().await;
        assert_eq!(peer.next(RST_STREAM).await, Some(cancelled));
        // Frames that the server sent before it received the reset are ignored (section 5.1).
        peer.send(&[settings(), response(1), response(3)].concat())
            .await;
        assert_eq!(read(&mut other).await.unwrap().status, 200);
    });
}

/// A server that requests acknowledgements but does not read them is disconnected (section 10.5).
#[test]
fn a_flood_of_pings_ends_the_connection() {
    run(async {
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        let streams = plimsoll_http2::Streams::start(ours);
        let (_outgoing, mut incoming) = streams.open(&head("GET"), true).await.unwrap();
        let flood = tokio::task::spawn_local(async move {
            use tokio::io::AsyncWriteExt;
            let pings = frame(PING, 0, 0, &[7; 8]).repeat(1000);
            let mut sent = settings();
            while theirs.write_all(&sent).await.is_ok() {
                sent.clone_from(&pings);
            }
        });
        let fault = read(&mut incoming).await;
        assert_eq!(fault, Err(StreamFault::Connection { code: CALM }));
        flood.await.unwrap();
    });
}

/// The response may arrive while the request is being sent: both directions make progress.
#[test]
fn the_response_may_arrive_during_the_upload() {
    run(async {
        let (streams, mut peer) = connect();
        let (mut outgoing, mut incoming) = streams.open(&head("POST"), false).await.unwrap();
        let echoing = tokio::task::spawn_local(async move {
            peer.preface().await;
            peer.send(&settings()).await;
            peer.send(&frame(HEADERS, END_HEADERS, 1, STATUS_200)).await;
            loop {
                let (_, flags, _, payload) = peer.next(DATA).await.unwrap();
                let length = (payload.len() as u32).to_be_bytes();
                if !payload.is_empty() {
                    peer.send(&frame(WINDOW_UPDATE, 0, 0, &length)).await;
                    peer.send(&frame(WINDOW_UPDATE, 0, 1, &length)).await;
                }
                peer.send(&frame(DATA, flags & END_STREAM, 1, &payload))
                    .await;
                if flags & END_STREAM != 0 {
                    return peer;
                }
            }
        });
        let body = Bytes::from(vec![b'e'; 1 << 20]);
        let (sent, response) = tokio::join!(outgoing.send(body.clone(), true), read(&mut incoming));
        sent.unwrap();
        assert_eq!(response.unwrap().body, body);
        echoing.await.unwrap();
    });
}
