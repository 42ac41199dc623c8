//! Connections that are dropped with unread data must not leak memory or descriptors.
//!
//! This test is the only one in its program, because it measures the whole process.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::net::TcpListener;
use std::rc::Rc;

use plimsoll_net::{Io, Network, NetworkSettings, Steps, Stream, TrafficCounter};
use tokio::io::AsyncReadExt;

const ROUNDS: usize = 400;
const WARM_UP: usize = 50;

/// Size of the address space in bytes, and number of open descriptors.
fn footprint() -> (usize, usize) {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = sizes.split(' ').next().unwrap().parse().unwrap();
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
    (pages * 4096, open)
}

async fn dial(network: &Network, listener: &TcpListener) -> Stream {
    let (port, counter) = (listener.local_addr().unwrap().port(), Rc::default());
    let counter: Rc<TrafficCounter> = counter;
    let steps = &mut Steps::default();
    let dialed = network.dial("127.0.0.1", port, None, &counter, false, steps);
    dialed.await.unwrap().stream
}

/// Opens connections one after the other, so each is the only one on its thread. Reads some of the
/// received bytes, and drops the connection.
async fn drop_with_unread_data(io: Io) {
    let network = Network::new(NetworkSettings {
        io,
        ..NetworkSettings::default()
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut before = footprint();
    for round in 0..ROUNDS {
        if round == WARM_UP {
            before = footprint();
        }
        let mut ours = dial(&network, &listener).await;
        let (mut theirs, _) = listener.accept().unwrap();
        theirs.write_all(&[7; 20_000]).unwrap();
        ours.read_exact(&mut [0; 1]).await.unwrap();
        drop(ours);
        tokio::task::yield_now().await;
    }
    let after = footprint();
    let grown = after.0.saturating_sub(before.0);
    assert!(grown < 16 << 20, "{io:?}: {} MiB more", grown >> 20);
    assert!(after.1 <= before.1 + 2, "{io:?}: {before:?}, {after:?}");
}

#[test]
fn connections_dropped_with_unread_data_leak_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for io in [Io::Epoll, Io::Uring] {
        // The kernel does not allow io_uring, so there is nothing to test.
        if io == Io::Uring && plimsoll_net::check_uring().is_err() {
            continue;
        }
        tokio::task::LocalSet::new().block_on(&runtime, drop_with_unread_data(io));
    }
}
