use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use plimsoll_http2::RequestHead;
use plimsoll_net::{Traffic, TrafficCounter};

use crate::pool::{Limits, Pool};
use crate::shared::Shared;

/// The HTTP client of one virtual user, or of a few users that share it: its connections and its
/// traffic counters. Methods take `&self`, so several requests can run concurrently.
#[derive(Debug)]
pub struct Client {
    pub(crate) shared: Rc<Shared>,
    pub(crate) pool: Pool,
    pub(crate) traffic: Rc<TrafficCounter>,
    /// Number of connections that exchanges opened and that the methods below have not returned yet.
    pub(crate) opened: Cell<u64>,
    pub(crate) local_ip: Option<IpAddr>,
    /// The most recently sent headers. A user usually sends the same headers again.
    pub(crate) last_sent: RefCell<Rc<[u8]>>,
    /// The headers that were most recently sent over HTTP/2 or HTTP/3.
    pub(crate) last_multiplexed: RefCell<Option<SentHead>>,
}

/// Headers as text, and in the form that HTTP/2 and HTTP/3 send for a URL with this scheme.
#[derive(Debug)]
pub(crate) struct SentHead {
    pub(crate) text: Rc<[u8]>,
    pub(crate) is_https: bool,
    pub(crate) head: Rc<RequestHead>,
}

impl Client {
    /// Creates the client of user `number`, counted from 1. The number selects the local address if
    /// there are several.
    pub fn new(shared: Rc<Shared>, number: u64) -> Self {
        let settings = shared.settings();
        let limits = Limits {
            idle_per_host: settings.idle_per_host,
            idle_total: settings.idle_total,
            open_per_host: settings.connections_per_host,
            streams: settings.streams_per_connection,
            reuses: !settings.no_connection_reuse,
        };
        Client {
            pool: Pool::new(limits),
            traffic: Rc::default(),
            opened: Cell::new(0),
            local_ip: shared.network.local_ip(number),
            last_sent: RefCell::new(Rc::default()),
            last_multiplexed: RefCell::default(),
            shared,
        }
    }

    /// Bytes on sockets since the last call of this method.
    pub fn traffic(&self) -> Traffic {
        self.traffic.take()
    }

    /// Number of connections that exchanges opened since the last call, including those of interrupted exchanges, which
    /// have no result.
    pub fn take_opened(&self) -> u64 {
        self.opened.take()
    }

    /// Takes one of these connections. False if another exchange has taken it already.
    pub fn take_one_opened(&self) -> bool {
        let opened = self.opened.get();
        self.opened.set(opened.saturating_sub(1));
        opened > 0
    }

    /// The counter of this client's traffic, for other protocols that count towards the same user.
    pub fn traffic_counter(&self) -> Rc<TrafficCounter> {
        Rc::clone(&self.traffic)
    }

    /// The number of open connections that no request is using, and the bytes of their buffers, without those of TLS and
    /// HTTP/2.
    pub fn idle_memory(&self) -> (usize, usize) {
        self.pool.idle_memory()
    }

    /// Closes the connections that no request uses.
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }
}
