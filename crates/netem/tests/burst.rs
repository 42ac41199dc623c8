//! A burst of connections must not keep the relay from its other work.

use std::cell::Cell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use plimsoll_netem::path::NetworkPath;
use plimsoll_netem::{Link, tcp};
use tokio::net::TcpStream;
use tokio::task::{LocalSet, yield_now};

const CONNECTIONS: u64 = 300;

/// Timers and received bytes wait for whatever is already in the queue of ready tasks. So between
/// two turns of such a task, the relay may set up only a few connections, even if many wait to be
/// accepted.
#[test]
fn a_burst_of_connections_leaves_turns_to_other_tasks() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let work = plimsoll_engine::timer::run_with_timers(burst());
    let most = LocalSet::new().block_on(&runtime, work)??;
    assert!((1..=32).contains(&most), "{most} connections in one turn");
    Ok(())
}

/// The largest number of connections that were set up between two turns of another task.
async fn burst() -> io::Result<u64> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = tcp::listen(any)?;
    let target = server.local_addr()?;
    let listener = tcp::listen(any)?;
    let address = listener.local_addr()?;
    // The kernel completes the handshakes, so all connections wait before the relay starts.
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(TcpStream::connect(address).await?);
    }
    let link = Link {
        round_trip: Duration::from_millis(10),
        jitter: Duration::ZERO,
        rate: None,
        loss: 0.0,
    };
    let path = Rc::new(NetworkPath::new(link, 1));
    let most = Cell::new(0);
    let turns = async {
        let mut before = 0;
        while before < CONNECTIONS {
            yield_now().await;
            let now = path.account.connections.get();
            most.set(most.get().max(now - before));
            before = now;
        }
    };
    tokio::select! {
        ended = tcp::relay(listener, target, Rc::clone(&path)) => ended?,
        () = turns => {}
    }
    Ok(most.get())
}
