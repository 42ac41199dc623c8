//! TCP through a link.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use engine::timer::{sleep, sleep_until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use units::{Bytes, Moment};

use crate::account::{Account, Direction};
use crate::line::{Flow, Line};
use crate::queue::{Piece, Queue};

/// What a relay's connections and packets share: the two directions of the way, and the account.
#[derive(Debug)]
pub struct Way {
    pub link: crate::Link,
    pub forward: RefCell<Line>,
    pub backward: RefCell<Line>,
    pub account: Account,
}

impl Way {
    /// A way that nothing is on yet. Equal seeds stray and lose alike.
    pub fn new(link: crate::Link, seed: u64) -> Self {
        Way {
            link,
            forward: RefCell::new(Line::new(link, seed)),
            backward: RefCell::new(Line::new(link, seed.wrapping_add(1))),
            account: Account::default(),
        }
    }
}

/// Bytes of one connection that may be under way in one direction: a window of TCP.
const WINDOW: usize = 16 << 20;
/// What waits at most for the line to be free, as a router's buffer does, before senders are held up.
pub(crate) const BUFFER: Duration = Duration::from_millis(20);
/// Read at once. With a rate a piece is at most what the line carries in this time.
const SMOOTH: Duration = Duration::from_micros(200);
const LARGEST: usize = 64 << 10;
const SMALLEST: usize = 1448;
/// Connections at one time; more wait to be accepted.
const MOST: usize = 20_000;

/// Passes on every connection that comes in, for as long as it is polled.
pub async fn relay(listener: TcpListener, target: SocketAddr, way: Rc<Way>) -> io::Result<()> {
    let places = std::sync::Arc::new(tokio::sync::Semaphore::new(MOST));
    loop {
        let Ok(place) = std::sync::Arc::clone(&places).acquire_owned().await else {
            return Ok(());
        };
        match listener.accept().await {
            Ok((client, _)) => {
                let way = Rc::clone(&way);
                tokio::task::spawn_local(async move {
                    pass_on(client, target, &way).await;
                    drop(place);
                });
            }
            // A connection that was gone before it was accepted, or no descriptor left: wait, and try again.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn pass_on(client: TcpStream, target: SocketAddr, way: &Rc<Way>) {
    let accepted = clock::now();
    way.account
        .connections
        .set(way.account.connections.get() + 1);
    let server = match TcpStream::connect(target).await {
        Ok(server) => server,
        Err(_) => {
            way.account
                .unreachable
                .set(way.account.unreachable.get() + 1);
            // The refusal comes a round trip later, as a reset.
            sleep_until(accepted + way.link.round_trip).await;
            let _ = client.set_zero_linger();
            return;
        }
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // The handshake's round trip, which the kernel has made without us.
    let open = accepted + way.link.round_trip;
    tokio::join!(
        carry(from_client, to_server, open, way, Side::Forward),
        carry(from_server, to_client, open, way, Side::Backward),
    );
}

#[derive(Clone, Copy)]
enum Side {
    Forward,
    Backward,
}

impl Side {
    fn line(self, way: &Way) -> &RefCell<Line> {
        match self {
            Side::Forward => &way.forward,
            Side::Backward => &way.backward,
        }
    }

    fn account(self, way: &Way) -> &Direction {
        match self {
            Side::Forward => &way.account.forward,
            Side::Backward => &way.account.backward,
        }
    }
}

/// One direction of one connection, until its end has come out.
async fn carry(from: OwnedReadHalf, to: OwnedWriteHalf, open: Moment, way: &Way, side: Side) {
    let queue = Queue::default();
    tokio::select! {
        // The end of what comes in is on its way to the writer: it ends this.
        () = async { take_in(from, open, way, side, &queue).await; std::future::pending::<()>().await } => {}
        () = give_out(to, way, side, &queue) => {}
    }
}

async fn take_in(mut from: OwnedReadHalf, open: Moment, way: &Way, side: Side, queue: &Queue) {
    let line = side.line(way);
    let mut flow = Flow::default();
    let piece = piece_size(&way.link);
    let mut buffer = BytesMut::new();
    loop {
        queue.room(WINDOW).await;
        let backlog = line.borrow().backlog(clock::now());
        if backlog > BUFFER {
            sleep(backlog - BUFFER).await;
            continue;
        }
        buffer.reserve(piece);
        let mut limited = (&mut from).take(piece as u64);
        let read = limited.read_buf(&mut buffer).await;
        let entered = clock::now().max(open);
        match read {
            Ok(0) | Err(_) => {
                let due = line.borrow_mut().stream(&mut flow, entered, Bytes(0));
                queue.push(due, Piece::End);
                return;
            }
            Ok(count) => {
                let due = line
                    .borrow_mut()
                    .stream(&mut flow, entered, Bytes(count as u64));
                queue.push(due, Piece::Data(buffer.split().freeze()));
            }
        }
    }
}

async fn give_out(mut to: OwnedWriteHalf, way: &Way, side: Side, queue: &Queue) {
    loop {
        let (due, piece) = queue.next().await;
        sleep_until(due).await;
        let late = clock::now().since(due);
        match piece {
            Piece::Data(data) => {
                if to.write_all(&data).await.is_err() {
                    return;
                }
                side.account(way).passed(Bytes(data.len() as u64), late);
            }
            Piece::End => {
                let _ = to.shutdown().await;
                return;
            }
        }
    }
}

fn piece_size(link: &crate::Link) -> usize {
    let Some(rate) = link.rate else {
        return LARGEST;
    };
    let smooth = u128::from(rate.get()) * SMOOTH.as_nanos() / 8 / 1_000_000_000;
    usize::try_from(smooth)
        .unwrap_or(LARGEST)
        .clamp(SMALLEST, LARGEST)
}
