//! Tests streams on a ring against sockets of the standard library. If the kernel does not allow
//! rings, nothing is tested; the program does not use rings then either.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::ring::Ring;
use super::{UringTcp, current, driver};
use crate::kernel_io::Io;
use crate::plain::Plain;
use crate::traffic::TrafficCounter;

/// Far longer than any operation takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `body` if the kernel allows rings.
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
    let ring = current().expect("the ring already existed");
    let counter = Rc::new(TrafficCounter::default());
    UringTcp::new(ring, socket, counter).expect("could not add the socket to the ring")
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
fn writes_within_a_turn_are_sent_together() {
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
        // The driver sends while this test waits for the peer.
        let mut response = [0; 1];
        ours.read_exact(&mut response).await.expect("a reply");
        assert_eq!(reading.join().expect("it read"), "one two three");
    });
}

#[test]
fn a_slow_reader_receives_every_byte_in_order() {
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
                    thread::sleep(Duration::from_micros(100));
                }
                if all.ends_with(b"end") {
                    theirs.write_all(b"!").expect("it goes");
                }
            }
        });
        // Far more than one operation sends and the socket buffers hold.
        let mut expected = Vec::new();
        for number in 0..WRITES {
            let line = format!("{number:0width$}\n", width = 1 + number % 300);
            ours.write_all(line.as_bytes()).await.expect("it is queued");
            expected.extend_from_slice(line.as_bytes());
        }
        ours.write_all(b"end").await.expect("it is queued");
        expected.extend_from_slice(b"end");
        let mut response = [0; 1];
        ours.read_exact(&mut response).await.expect("a reply");
        drop(ours);
        tokio::task::yield_now().await;
        let all = reading.join().expect("it read");
        assert!(all == expected, "{} of {} bytes", all.len(), expected.len());
    });
}

#[test]
fn writes_queued_on_a_closed_socket_do_not_reach_its_successor() {
    run(async || {
        let listener = listener();
        // This stream keeps the ring alive while other streams open and close.
        let (_keeper, _peer) = pair(&listener).await;
        for round in 0..50 {
            let (mut first, _first_peer) = pair(&listener).await;
            let (second, mut peer) = connected(&listener).await;
            first.write_all(b"old").await.expect("it is queued");
            drop(first);
            // The new stream takes the slot of the first one before any turn.
            let mut second = on_ring(second);
            second.write_all(b"new").await.expect("it is queued");
            let reading = thread::spawn(move || {
                let mut words = vec![0; 3];
                peer.read_exact(&mut words).expect("it comes");
                peer.write_all(b"!").expect("it goes");
                peer.read_to_end(&mut words).expect("it ends");
                words
            });
            let mut response = [0; 1];
            second.read_exact(&mut response).await.expect("a reply");
            drop(second);
            tokio::task::yield_now().await;
            assert_eq!(reading.join().expect("it read"), b"new", "{round}");
        }
    });
}

#[test]
fn completions_beyond_their_queue_are_not_lost() {
    run(async || {
        // The completion queue has space for eight completions.
        let ring = Rc::new(Ring::with_entries(2).expect("a ring already existed"));
        driver::start(&ring).expect("a driver");
        let listener = listener();
        let mut pairs = Vec::new();
        for _ in 0..40 {
            let (ours, theirs) = connected(&listener).await;
            let ours = UringTcp::new(Rc::clone(&ring), ours, Rc::default());
            pairs.push((ours.expect("could not add the socket to the ring"), theirs));
        }
        // The driver submits all receives and then sleeps.
        tokio::time::sleep(Duration::from_millis(20)).await;
        for (_, theirs) in &mut pairs {
            theirs.write_all(b"!").expect("it goes");
        }
        // Do not read the other streams: that would make the driver run another turn.
        let (last, _) = pairs.last_mut().expect("there are some");
        let read = tokio::time::timeout(PATIENCE, last.read_u8()).await;
        assert_eq!(read.expect("it is woken").expect("it comes"), b'!');
    });
}

#[test]
fn a_stream_that_outlives_its_event_loop_fails() {
    let mut left = None;
    run(async || {
        let (ours, theirs) = pair(&listener()).await;
        // The stream's receive is in flight when the loop ends.
        tokio::time::sleep(Duration::from_millis(5)).await;
        left = Some((ours, theirs));
    });
    let Some((mut ours, _theirs)) = left else {
        return;
    };
    run(async || {
        let read = tokio::time::timeout(PATIENCE, ours.read_u8()).await;
        read.expect("the read hangs").expect_err("it fails");
        let (mut another, mut theirs) = pair(&listener()).await;
        theirs.write_all(b"!").expect("it goes");
        assert_eq!(another.read_u8().await.expect("it comes"), b'!');
    });
}

/// Sends on its own thread until the other end closes.
fn flood(mut peer: TcpStream) {
    thread::spawn(move || while peer.write_all(&[1; 65_536]).is_ok() {});
}

/// Echoes what it receives, on its own thread, until the other end closes.
fn echo(mut peer: TcpStream) {
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(length) = peer.read(&mut buffer)
            && length > 0
            && peer.write_all(&buffer[..length]).is_ok()
        {}
    });
}

/// A connection through epoll or this thread's ring, and its peer.
async fn pair_on(io: Io, listener: &TcpListener) -> (Plain, TcpStream) {
    let (ours, theirs) = connected(listener).await;
    let ours = Plain::new(ours, Rc::default(), io).expect("it is taken");
    (ours, theirs)
}

/// Exchanges 500 short messages while other peers flood connections without readers.
async fn exchange_during_floods(io: Io) {
    let listener = listener();
    let mut floods = Vec::new();
    for _ in 0..8 {
        let (mut ours, theirs) = pair_on(io, &listener).await;
        flood(theirs);
        // The user reads once and then never again.
        ours.read_exact(&mut [0; 1]).await.expect("it comes");
        floods.push(ours);
    }
    let (mut ours, theirs) = pair_on(io, &listener).await;
    echo(theirs);
    for round in 0..500u32 {
        let sent = round.to_be_bytes();
        ours.write_all(&sent).await.expect("it is queued");
        let mut received = [0; 4];
        ours.read_exact(&mut received).await.expect("it comes");
        assert_eq!(received, sent);
    }
}

#[test]
fn unread_floods_do_not_starve_other_connections() {
    run(async || {
        for io in [Io::Epoll, Io::Uring] {
            let ended = tokio::time::timeout(PATIENCE, exchange_during_floods(io)).await;
            ended.expect("the healthy connection failed");
        }
    });
}
