use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Poll, Waker};

use net::{Stream, TlsFacts};

use crate::h1;
use crate::h2_connection;
use crate::settings::Protocol;
use crate::url::Url;

/// An HTTP/1.x connection of a user, with its far end.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) wire: h1::Connection<Stream>,
    pub(crate) remote: SocketAddr,
    pub(crate) tls: Option<TlsFacts>,
    /// Room for the head of the request in flight; its memory is kept.
    pub(crate) out: Vec<u8>,
}

/// The connections of one user.
#[derive(Debug)]
pub(crate) struct Pool {
    hosts: RefCell<Vec<Host>>,
    idle: Cell<usize>,
    limits: Limits,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) idle_per_host: usize,
    pub(crate) idle_total: usize,
    pub(crate) open_per_host: Option<usize>,
}

#[derive(Debug)]
struct Host {
    url: Rc<Url>,
    /// What was asked for: a connection that was made otherwise does not serve.
    protocol: Protocol,
    /// Boxed, because they move in and out of requests all the time.
    #[allow(clippy::vec_box)]
    idle: Vec<Box<Kept>>,
    /// The connection that speaks HTTP/2, if the host does.
    shared: Option<Rc<h2_connection::Connection>>,
    /// Slots taken, where slots are limited.
    taken: usize,
    waiting: VecDeque<Waker>,
}

/// A place among a host's limited connections; given back when dropped.
pub(crate) struct Slot<'a> {
    held: Option<(&'a Pool, Rc<Url>, Protocol)>,
}

impl Pool {
    pub(crate) fn new(limits: Limits) -> Self {
        Pool {
            hosts: RefCell::default(),
            idle: Cell::new(0),
            limits,
        }
    }

    /// A place among the host's connections, if one is free now.
    #[inline]
    pub(crate) fn slot(&self, url: &Rc<Url>, protocol: Protocol) -> Option<Slot<'_>> {
        match self.limits.open_per_host {
            None => Some(Slot { held: None }),
            Some(limit) => self.try_slot(url, protocol, limit),
        }
    }

    fn try_slot(&self, url: &Rc<Url>, protocol: Protocol, limit: usize) -> Option<Slot<'_>> {
        let free = self.with_host(url, protocol, |host| {
            let free = host.taken < limit;
            host.taken += usize::from(free);
            free
        });
        free.then(|| Slot {
            held: Some((self, url.clone(), protocol)),
        })
    }

    /// Waits for a place among the host's connections.
    pub(crate) async fn wait_for_slot(&self, url: &Rc<Url>, protocol: Protocol) -> Slot<'_> {
        poll_fn(|cx| match self.slot(url, protocol) {
            Some(slot) => Poll::Ready(slot),
            None => {
                self.with_host(url, protocol, |host| {
                    host.waiting.push_back(cx.waker().clone())
                });
                Poll::Pending
            }
        })
        .await
    }

    fn release(&self, url: &Rc<Url>, protocol: Protocol) {
        self.with_host(url, protocol, |host| {
            host.taken = host.taken.saturating_sub(1);
            // A waiter may have gone; so each is told, and the first wins.
            for waker in host.waiting.drain(..) {
                waker.wake();
            }
        });
        self.forget_unused(url, protocol);
    }

    /// The connection to `url`'s origin that was used last, if one is idle.
    #[inline]
    pub(crate) fn take(&self, url: &Rc<Url>, protocol: Protocol) -> Option<Box<Kept>> {
        let mut hosts = self.hosts.borrow_mut();
        let host = hosts.iter_mut().find(|host| host.is_for(url, protocol))?;
        let kept = host.idle.pop()?;
        self.idle.set(self.idle.get() - 1);
        Some(kept)
    }

    /// Keeps a connection for the next request to its origin, if there is room.
    #[inline]
    pub(crate) fn give_back(&self, url: &Rc<Url>, protocol: Protocol, kept: Box<Kept>) {
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

    /// The open HTTP/2 connection to `url`'s origin.
    pub(crate) fn shared(
        &self,
        url: &Rc<Url>,
        protocol: Protocol,
    ) -> Option<Rc<h2_connection::Connection>> {
        let mut hosts = self.hosts.borrow_mut();
        let host = hosts.iter_mut().find(|host| host.is_for(url, protocol))?;
        host.shared.take_if(|connection| !connection.is_open());
        host.shared.clone()
    }

    /// Lets later requests to `url`'s origin share `connection`.
    pub(crate) fn share(
        &self,
        url: &Rc<Url>,
        protocol: Protocol,
        connection: &Rc<h2_connection::Connection>,
    ) {
        self.with_host(url, protocol, |host| host.shared = Some(connection.clone()));
    }

    /// Stops sharing `connection`, which failed.
    pub(crate) fn forget(
        &self,
        url: &Rc<Url>,
        protocol: Protocol,
        connection: &Rc<h2_connection::Connection>,
    ) {
        self.with_host(url, protocol, |host| {
            host.shared.take_if(|shared| Rc::ptr_eq(shared, connection));
        });
    }

    /// Closes all idle connections; one that speaks HTTP/2 closes when its last
    /// request ends.
    pub(crate) fn close_idle(&self) {
        let mut hosts = self.hosts.borrow_mut();
        for host in hosts.iter_mut() {
            host.idle.clear();
            host.shared = None;
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
                // Hosts seen once must not pile up.
                hosts.retain(|host| !host.is_unused());
                hosts.push(Host {
                    url: url.clone(),
                    protocol,
                    idle: Vec::new(),
                    shared: None,
                    taken: 0,
                    waiting: VecDeque::new(),
                });
                hosts.len() - 1
            }
        };
        act(&mut hosts[at])
    }

    fn forget_unused(&self, url: &Rc<Url>, protocol: Protocol) {
        self.hosts.borrow_mut().retain(|host| {
            !host.is_for(url, protocol)
                || !host.idle.is_empty()
                || host.taken > 0
                || !host.waiting.is_empty()
        });
    }
}

impl Host {
    fn is_unused(&self) -> bool {
        self.idle.is_empty() && self.shared.is_none() && self.taken == 0 && self.waiting.is_empty()
    }

    #[inline]
    fn is_for(&self, url: &Rc<Url>, protocol: Protocol) -> bool {
        self.protocol == protocol && (Rc::ptr_eq(&self.url, url) || self.url.same_origin(url))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some((pool, url, protocol)) = self.held.take() {
            pool.release(&url, protocol);
        }
    }
}
