//! Sends on a ring, against sockets of the standard library. A kernel that refuses rings has none
//! to be tested, and the program uses none there.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{UringTcp, current};
use crate::traffic::TrafficCounter;

/// Runs `body` where a ring can be.
fn run(body: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        if current().is_ok() {
            body().await;
        }
    });
}

/// A connection, and its peer.
async fn connected(listener: &TcpListener) -> (tokio::net::TcpStream, TcpStream) {
    let address = listener.local_addr().expect("an address");
    let ours = tokio::net::TcpStream::connect(address).await;
    let (theirs, _) = listener.accept().expect("a peer");
    (ours.expect("a connection"), theirs)
}

fn on_ring(socket: tokio::net::TcpStream) -> UringTcp {
    let ring = current().expect("it was there before");
    let counter = Rc::new(TrafficCounter::default());
    UringTcp::new(ring, socket, counter).expect("the ring takes it")
}

/// A socket on the ring, and its peer.
async fn pair(listener: &TcpListener) -> (UringTcp, TcpStream) {
    let (ours, theirs) = connected(listener).await;
    (on_ring(ours), theirs)
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

#[test]
fn what_is_written_before_a_turn_goes_out_in_one_piece() {
    run(async || {
        let (mut ours, mut theirs) = pair(&listener()).await;
        for word in ["one ", "two ", "three"] {
            ours.write_all(word.as_bytes()).await.expect("it is queued");
        }
        tokio::task::yield_now().await;
        let reading = thread::spawn(move || {
            let mut buffer = [0; 64];
            let read = theirs.read(&mut buffer).expect("it comes");
            theirs.write_all(b"!").expect("it goes");
            String::from_utf8_lossy(&buffer[..read]).into_owned()
        });
        // The driver sends while this waits for the peer.
        let mut answer = [0; 1];
        ours.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(reading.join().expect("it read"), "one two three");
    });
}

#[test]
fn a_slow_reader_gets_every_byte_in_its_place() {
    const WRITES: usize = 40_000;
    run(async || {
        let (mut ours, mut theirs) = pair(&listener()).await;
        let reading = thread::spawn(move || {
            let (mut all, mut piece) = (Vec::new(), [0; 999]);
            loop {
                match theirs.read(&mut piece).expect("it comes") {
                    0 => return all,
                    length => all.extend_from_slice(&piece[..length]),
                }
                if all.len() % 50 == 0 {
                    thread::sleep(std::time::Duration::from_micros(100));
                }
                if all.ends_with(b"end") {
                    theirs.write_all(b"!").expect("it goes");
                }
            }
        });
        // Far more than one operation takes and the sockets' buffers hold.
        let mut expected = Vec::new();
        for number in 0..WRITES {
            let line = format!("{number:0width$}\n", width = 1 + number % 300);
            ours.write_all(line.as_bytes()).await.expect("it is queued");
            expected.extend_from_slice(line.as_bytes());
        }
        ours.write_all(b"end").await.expect("it is queued");
        expected.extend_from_slice(b"end");
        let mut answer = [0; 1];
        ours.read_exact(&mut answer).await.expect("an answer");
        drop(ours);
        tokio::task::yield_now().await;
        let all = reading.join().expect("it read");
        assert!(all == expected, "{} of {} bytes", all.len(), expected.len());
    });
}

#[test]
fn what_was_queued_on_a_closed_socket_is_not_its_successors() {
    run(async || {
        let listener = listener();
        // Keeps the ring while the others come and go.
        let (_keeper, _peer) = pair(&listener).await;
        for round in 0..50 {
            let (mut first, _first_peer) = pair(&listener).await;
            let (second, mut peer) = connected(&listener).await;
            first.write_all(b"old").await.expect("it is queued");
            drop(first);
            // In the first one's place, before any turn.
            let mut second = on_ring(second);
            second.write_all(b"new").await.expect("it is queued");
            let reading = thread::spawn(move || {
                let mut words = vec![0; 3];
                peer.read_exact(&mut words).expect("it comes");
                peer.write_all(b"!").expect("it goes");
                peer.read_to_end(&mut words).expect("it ends");
                words
            });
            let mut answer = [0; 1];
            second.read_exact(&mut answer).await.expect("an answer");
            drop(second);
            tokio::task::yield_now().await;
            assert_eq!(reading.join().expect("it read"), b"new", "{round}");
        }
    });
}
