//! UDP sockets that the connections of a worker share.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::sync::Arc;

use quinn::{Endpoint, EndpointConfig};

use crate::draining::{Draining, Runtime, Task};

/// Number of UDP sockets per worker and address family, or per local address. Connections are
/// distributed over them round-robin. With one socket, all users would share one kernel queue, and
/// servers that distribute clients over their processors would see a single client. One socket per
/// user would be too many.
const SOCKETS: usize = 8;

/// A worker's UDP sockets, which are opened on first use and kept.
#[derive(Default)]
pub struct Endpoints {
    groups: RefCell<Vec<Group>>,
    runtime: Arc<Runtime>,
    draining: Rc<Draining>,
}

struct Group {
    local: IpAddr,
    endpoints: Vec<Endpoint>,
    next: usize,
}

impl Endpoints {
    /// The next socket for `remote`, bound to `local` if both have the same address family.
    pub(crate) fn socket_for(
        &self,
        remote: SocketAddr,
        local: Option<IpAddr>,
    ) -> io::Result<Endpoint> {
        let local = local
            .filter(|ip| ip.is_ipv6() == remote.is_ipv6())
            .unwrap_or(match remote {
                SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
            });
        let mut groups = self.groups.borrow_mut();
        let at = match groups.iter().position(|group| group.local == local) {
            Some(at) => at,
            None => {
                groups.push(Group {
                    local,
                    endpoints: Vec::new(),
                    next: 0,
                });
                groups.len() - 1
            }
        };
        groups[at].turn(&self.runtime)
    }

    /// The task of the connection that was started last on one of these sockets.
    pub(crate) fn task_of_new_connection(&self) -> Task {
        Task::of_new_connection(&self.runtime, &self.draining)
    }
}

impl Group {
    fn turn(&mut self, runtime: &Arc<Runtime>) -> io::Result<Endpoint> {
        let at = self.next % SOCKETS;
        self.next = at + 1;
        if let Some(endpoint) = self.endpoints.get(at) {
            return Ok(endpoint.clone());
        }
        let socket = UdpSocket::bind(SocketAddr::new(self.local, 0))?;
        let config = EndpointConfig::default();
        let endpoint = Endpoint::new(config, None, socket, Arc::clone(runtime) as _)?;
        self.endpoints.push(endpoint.clone());
        Ok(endpoint)
    }
}

impl fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoints").finish_non_exhaustive()
    }
}
