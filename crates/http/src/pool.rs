//! The pool of connections, with limits per host and per connection.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Poll, Waker};

use plimsoll_net::{Stream, TlsFacts};

use crate::h1;
use crate::multiplexed::Multiplexed;
use crate::protocol::Protocol;
use crate::url::Url;

/// An HTTP/1.x connection of a user, with its remote address.
#[derive(Debug)]
pub(crate) struct PooledConnection {
    pub(crate) wire: h1::Connection<Stream>,
    /// `None` for a unix socket.
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFacts>,
    /// Buffer for the headers of the request in flight. Its memory is reused.
    pub(crate) out: Vec<u8>,
}

/// The connections of one user, or of a few users that share them.
#[derive(Debug)]
pub(crate) struct Pool {
    hosts: RefCell<Vec<Host>>,
    idle: Cell<usize>,
    /// Number of requests that wait for a slot, over all hosts.
    waiting: Cell<usize>,
    limits: Limits,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) idle_per_host: usize,
    pub(crate) idle_total: usize,
    pub(crate) open_per_host: Option<usize>,
    /// Maximum number of concurrent requests on an HTTP/2 connection. The server's own limit applies as
    /// well.
    pub(crate) streams: Option<usize>,
    /// Whether connections serve more than one request.
    pub(crate) reuses: bool,
}

#[derive(Debug)]
struct Host {
    url: Rc<Url>,
    /// The requested version. A connection that was opened with another version is not used.
    protocol: Protocol,
    /// Boxed, because connections often move in and out of requests.
    #[allow(clippy::vec_box)]
    idle: Vec<Box<PooledConnection>>,
    /// The HTTP/2 or HTTP/3 connections, if the host supports these versions.
    shared: Vec<Rc<Multiplexed>>,
    /// Index at which the next search among them starts.
    turn: usize,
    /// Number of requests that have a separate connection or are opening one.
    taken: usize,
    /// Number of requests that are opening a connection.
    opening: usize,
    waiting: VecDeque<Waker>,
}

/// How a request accesses a connection.
pub(crate) enum Place<'a> {
    /// A stream of a connection that other requests share.
    Stream(StreamPlace<'a>),
    /// A connection that was idle.
    Idle(Box<PooledConnection>, Slot<'a>),
    /// A connection that has yet to be opened.
    New(Slot<'a>),
}

/// A slot among a host's limited connections. It is returned when it is dropped.
pub(crate) struct Slot<'a> {
    held: Option<(&'a Pool, Rc<Url>, Protocol)>,
    is_opening: bool,
}

/// A slot among a connection's streams. It is returned when it is dropped.
pub(crate) struct StreamPlace<'a> {
    pool: &'a Pool,
    url: &'a Rc<Url>,
    protocol: Protocol,
    pub(crate) connection: Rc<Multiplexed>,
}

impl Pool {
    /// See [`Client::idle_memory`](crate::Client::idle_memory).
    pub(crate) fn idle_memory(&self) -> (usize, usize) {
        let hosts = self.hosts.borrow();
        let (mut connections, mut bytes) = (0, 0);
        for host in &*hosts {
            connections += host.idle.len() + host.shared.len();
            for idle in &host.idle {
                bytes += size_of::<PooledConnection>() + idle.out.capacity() + idle.wire.buffers();
            }
        }
        (connections, bytes)
    }

    pub(crate) fn new(limits: Limits) -> Self {
        Pool {
            hosts: RefCell::default(),
            idle: Cell::new(0),
            waiting: Cell::new(0),
            limits,
        }
    }

    /// Reserves a slot for a request to the origin of `url`. `None` while all allowed connections are
    /// in use, or while a connection that the request could share is being opened.
    #[inline]
    pub(crate) fn place<'a>(&'a self, url: &'a Rc<Url>, protocol: Protocol) -> Option<Place<'a>> {
        let is_limited = self.limits.open_per_host.is_some() || self.shares(protocol);
        let mut hosts = self.hosts.borrow_mut();
        let Some(host) = hosts.iter_mut().find(|host| host.is_for(url, protocol)) else {
            drop(hosts);
            return Some(Place::New(match is_limited {
                false => Slot::unlimited(),
                true => self.with_host(url, protocol, |host| self.take_slot(host, true)),
            }));
        };
        if let Some(connection) = host.stream(self.limits.streams) {
            connection.streams().set(connection.streams().get() + 1);
            return Some(Place::Stream(StreamPlace {
                pool: self,
                url,
                protocol,
                connection,
            }));
        }
        let is_limited = is_limited || !host.shared.is_empty();
        if is_limited {
            let open = host.taken + host.shared.len();
            let is_full = self.limits.open_per_host.is_some_and(|most| open >= most);
            let shares = self.shares(protocol) || !host.shared.is_empty();
            if is_full || (shares && host.opening > 0) {
                return None;
            }
        }
        let kept = host.idle.pop();
        let slot = match is_limited {
            true => self.take_slot(host, kept.is_none()),
            false => Slot::unlimited(),
        };
        Some(match kept {
            Some(kept) => {
                self.idle.set(self.idle.get() - 1);
                Place::Idle(kept, slot)
            }
            None => Place::New(slot),
        })
    }

    /// Whether requests wait for a connection that another request is opening. They wait only if
    /// connections are known to handle several requests.
    fn shares(&self, protocol: Protocol) -> bool {
        self.limits.reuses
            && (self.limits.streams.is_some()
                || matches!(protocol, Protocol::Http2 | Protocol::H2c | Protocol::Http3))
    }

    fn take_slot(&self, host: &mut Host, is_opening: bool) -> Slot<'_> {
        host.taken += 1;
        host.opening += usize::from(is_opening);
        Slot {
            held: Some((self, host.url.clone(), host.protocol)),
            is_opening,
        }
    }

    /// Waits for a slot.
    pub(crate) async fn wait_for_place<'a>(
        &'a self,
        url: &'a Rc<Url>,
        protocol: Protocol,
    ) -> Place<'a> {
        poll_fn(|cx| match self.place(url, protocol) {
            Some(place) => Poll::Ready(place),
            None => {
                self.with_host(url, protocol, |host| {
                    host.waiting.push_back(cx.waker().clone())
                });
                self.waiting.set(self.waiting.get() + 1);
                Poll::Pending
            }
        })
        .await
    }

    /// Wakes the waiting requests. A waiter may no longer exist, so all are woken, and the first one
    /// gets the slot.
    fn wake(&self, url: &Rc<Url>, protocol: Protocol) {
        if self.waiting.get() == 0 {
            return;
        }
        let waiting = self.with_host(url, protocol, |host| std::mem::take(&mut host.waiting));
        self.waiting.set(self.waiting.get() - waiting.len());
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The most recently used idle connection to the origin of `url`.
    #[cold]
    pub(crate) fn take(&self, url: &Rc<Url>, protocol: Protocol) -> Option<Box<PooledConnection>> {
        let mut hosts = self.hosts.borrow_mut();
        let host = hosts.iter_mut().find(|host| host.is_for(url, protocol))?;
        let kept = host.idle.pop()?;
        self.idle.set(self.idle.get() - 1);
        Some(kept)
    }

    /// Keeps a connection for the next request to its origin, if the pool has space.
    #[inline]
    pub(crate) fn give_back(&self, url: &Rc<Url>, protocol: Protocol, kept: Box<PooledConnection>) {
        if self.idle.get() >= self.limits.idle_total {
            return;
        }
        let limit = self.limits.idle_per_host;
        let added = self.with_host(url, protocol, |host| {
            if host.idle.len() >= limit {
                return false;
            }
            host.idle.push(kept);
            true
        });
        if added {
            self.idle.set(self.idle.get() + 1);
        }
    }

    /// Lets later requests to the origin of `url` share `connection`, unless another connection has
    /// free streams. Counts the stream of the request that opened it.
    pub(crate) fn share<'a>(
        &'a self,
        url: &'a Rc<Url>,
        protocol: Protocol,
        connection: &Rc<Multiplexed>,
        slot: Slot<'a>,
    ) -> StreamPlace<'a> {
        connection.streams().set(connection.streams().get() + 1);
        self.with_host(url, protocol, |host| {
            if host.stream(self.limits.streams).is_none() {
                host.shared.push(connection.clone());
            }
        });
        // From now on it counts as a shared connection.
        drop(slot);
        StreamPlace {
            pool: self,
            url,
            protocol,
            connection: connection.clone(),
        }
    }

    /// Stops sharing `connection`, which failed.
    pub(crate) fn forget(&self, url: &Rc<Url>, protocol: Protocol, connection: &Rc<Multiplexed>) {
        self.with_host(url, protocol, |host| {
            host.shared.retain(|shared| !Rc::ptr_eq(shared, connection));
        });
    }

    /// Closes all idle connections. An HTTP/2 connection closes when its last request ends.
    pub(crate) fn close_idle(&self) {
        let mut hosts = self.hosts.borrow_mut();
        for host in hosts.iter_mut() {
            host.idle.clear();
            host.shared.clear();
        }
        hosts.retain(|host| host.taken > 0 || !host.waiting.is_empty());
        self.idle.set(0);
    }

    #[inline]
    fn with_host<R>(
        &self,
        url: &Rc<Url>,
        protocol: Protocol,
        act: impl FnOnce(&mut Host) -> R,
    ) -> R {
        let mut hosts = self.hosts.borrow_mut();
        let at = match hosts.iter().position(|host| host.is_for(url, protocol)) {
            Some(at) => at,
            None => {
                // Remove hosts that are no longer used, so hosts that are contacted once do not accumulate.
                hosts.retain(|host| !host.is_unused());
                hosts.push(Host {
                    url: url.clone(),
                    protocol,
                    idle: Vec::new(),
                    shared: Vec::new(),
                    turn: 0,
                    taken: 0,
                    opening: 0,
                    waiting: VecDeque::new(),
                });
                hosts.len() - 1
            }
        };
        act(&mut hosts[at])
    }
}

impl Host {
    fn is_unused(&self) -> bool {
        self.idle.is_empty() && self.shared.is_empty() && self.taken == 0 && self.waiting.is_empty()
    }

    #[inline]
    fn is_for(&self, url: &Rc<Url>, protocol: Protocol) -> bool {
        self.protocol == protocol && (Rc::ptr_eq(&self.url, url) || self.url.same_origin(url))
    }

    /// The next open connection with a free stream, round-robin.
    #[inline]
    fn stream(&mut self, limit: Option<usize>) -> Option<Rc<Multiplexed>> {
        if self.shared.is_empty() {
            return None;
        }
        self.shared.retain(|connection| connection.is_open());
        let count = self.shared.len();
        let first = self.turn;
        let mut places = (0..count).map(|step| (first + step) % count);
        let found = places.find(|place| self.shared[*place].has_capacity(limit))?;
        self.turn = found + 1;
        Some(self.shared[found].clone())
    }
}

impl Slot<'_> {
    /// Used if there is no limit.
    pub(crate) fn unlimited() -> Self {
        Slot {
            held: None,
            is_opening: false,
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some((pool, url, protocol)) = self.held.take() {
            let was_opening = self.is_opening;
            pool.with_host(&url, protocol, |host| {
                host.taken = host.taken.saturating_sub(1);
                host.opening = host.opening.saturating_sub(usize::from(was_opening));
            });
            pool.wake(&url, protocol);
        }
    }
}

impl<'a> Slot<'a> {
    /// Records that the connection is open and cannot be shared.
    pub(crate) fn opened(&mut self) {
        if let Some((pool, url, protocol)) = &self.held
            && std::mem::take(&mut self.is_opening)
        {
            pool.with_host(url, *protocol, |host| {
                host.opening = host.opening.saturating_sub(1);
            });
            pool.wake(url, *protocol);
        }
    }
}

impl Drop for StreamPlace<'_> {
    fn drop(&mut self) {
        let streams = self.connection.streams();
        streams.set(streams.get().saturating_sub(1));
        self.pool.wake(self.url, self.protocol);
    }
}
