//! Binds ports, with errors that name the fix, and accepts connections up to the limit.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;

use crate::arrival::Arrival;
use crate::counters::{AllCounters, Counters, count};
use crate::drain::Draining;
use crate::log;

/// Maximum connections that the kernel queues until they are accepted.
const BACKLOG: u32 = 4096;

/// Pause when the process has no free file descriptor.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// A port as written on the command line: a number, 0 for any free one, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    Off,
    Number(u16),
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Port::Off),
            _ => text
                .parse()
                .map(Port::Number)
                .map_err(|_| "a port is 1 to 65535, 0 for any free one, or 'off'".to_owned()),
        }
    }
}

/// Listens on `host:port`. `flag` sets the port and is named in the error.
pub fn bind(host: IpAddr, port: u16, flag: &str) -> Result<TcpListener, String> {
    let address = SocketAddr::new(host, port);
    let listen = || -> io::Result<TcpListener> {
        let socket = if host.is_ipv4() {
            TcpSocket::new_v4()?
        } else {
            TcpSocket::new_v6()?
        };
        // A port whose last connections still linger can be reused immediately.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "cannot listen on {address}: the port is in use; choose another with {flag} PORT, \
             {flag} 0 for any free one, or {flag} off to disable it"
        ),
        io::ErrorKind::PermissionDenied => format!(
            "cannot listen on {address}: ports below 1024 require root; choose another with {flag} PORT"
        ),
        io::ErrorKind::AddrNotAvailable => {
            format!("cannot listen on {address}: this machine has no such address; choose another with --listen")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}

/// The workers that serve accepted connections, and their limit.
#[derive(Clone)]
pub struct Acceptor {
    /// The workers' event loops, used in turn.
    pub workers: Vec<Handle>,
    pub counters: AllCounters,
    /// Maximum number of open connections.
    pub limit: u64,
}

/// Accepts connections until draining begins. `serve` returns the task of one, given the index of
/// its worker.
pub async fn accept<S, F>(
    listener: TcpListener,
    acceptor: Acceptor,
    mut draining: Draining,
    serve: S,
) where
    S: Fn(Arrival, usize, Draining) -> F + Clone + Send + 'static,
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let mut turn = 0;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = draining.started() => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::warn(
                    "cannot accept a connection",
                    &[("reason", error.to_string().into())],
                );
                tokio::time::sleep(EXHAUSTED).await;
                continue;
            }
        };
        let place = turn % acceptor.workers.len().max(1);
        let counters = acceptor.counters.of_worker(place);
        if acceptor.counters.sum(Counters::open) >= acceptor.limit {
            count(&counters.rejected);
            continue;
        }
        let Some(worker) = acceptor.workers.get(place) else {
            return;
        };
        turn = turn.wrapping_add(1);
        count(&counters.opened);
        let (serve, draining) = (serve.clone(), draining.clone());
        let has_one_worker = acceptor.workers.len() == 1;
        worker.spawn(async move {
            // A socket belongs to the event loop on which it was created, so move it.
            let stream = if has_one_worker {
                Ok(stream)
            } else {
                stream.into_std().and_then(TcpStream::from_std)
            };
            let outcome = match stream {
                Ok(stream) => {
                    // Small responses must not wait for acknowledgements.
                    let _ = stream.set_nodelay(true);
                    serve(Arrival::new(stream), place, draining).await
                }
                Err(error) => Err(error.to_string()),
            };
            if outcome.is_err() {
                count(&counters.broken);
            }
            count(&counters.closed);
        });
    }
}

/// Raises the process's limit of open files to the maximum.
pub fn allow_many_connections() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If this fails, connections beyond the limit wait in the kernel's queue, and a warning is
    // logged.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        assert_eq!("0".parse(), Ok(Port::Number(0)));
        assert_eq!("off".parse(), Ok(Port::Off));
        assert!("65536".parse::<Port>().is_err());
        assert!("-1".parse::<Port>().is_err());
    }

    #[tokio::test]
    async fn the_error_for_a_port_in_use_suggests_a_fix() {
        let host = IpAddr::from([127, 0, 0, 1]);
        let taken = bind(host, 0, "--plain-port").unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = bind(host, port, "--plain-port").unwrap_err();
        assert!(error.contains(&format!("127.0.0.1:{port}")), "{error}");
        assert!(error.contains("--plain-port 0"), "{error}");
    }
}
