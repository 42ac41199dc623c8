//! Opens streams: resolves names, applies host rules, connects and performs TLS handshakes.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use plimsoll_address::IpPool;
use plimsoll_units::Moment;
use tokio::net::TcpSocket;

use crate::error::{Error, TlsError};
use crate::kernel_io::Io;
#[cfg(not(unix))]
use crate::no_unix::UnixPath;
use crate::plain::Plain;
use crate::resolve::{DnsSettings, Resolver};
use crate::rules::{HostRules, is_allowed};
use crate::stream::Stream;
use crate::tls::{Alpn, Tls, TlsFacts, TlsSettings};
use crate::traffic::TrafficCounter;
#[cfg(unix)]
use crate::unix::{UnixPath, UnixSocket};

/// All settings for opening streams. Plain data.
#[derive(Clone, Debug)]
pub struct NetworkSettings {
    pub rules: HostRules,
    pub dns: DnsSettings,
    /// Name servers to use instead of the system's resolver; empty uses the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Local addresses, which users bind round-robin. If the pool is empty, the system chooses.
    pub local_ips: IpPool,
    /// Limit for one connection attempt.
    pub connect_timeout: Duration,
    pub tls: TlsSettings,
    pub io: Io,
    /// Every stream connects to this socket, whatever its host and port: no name is looked up, and no
    /// local address is bound.
    pub unix_socket: Option<UnixPath>,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        NetworkSettings {
            rules: HostRules::default(),
            dns: DnsSettings::default(),
            name_servers: Vec::new(),
            local_ips: IpPool::default(),
            connect_timeout: Duration::from_secs(30),
            tls: TlsSettings::default(),
            io: Io::default(),
            unix_socket: None,
        }
    }
}

/// A worker's access to the network: settings, and a resolver with its cache.
#[derive(Debug)]
pub struct Network {
    settings: NetworkSettings,
    resolver: Resolver,
    tls: Tls,
}

/// When each step of opening a stream ended. `None` for a step that was not reached or not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    pub looked_up: Option<Moment>,
    pub connected: Option<Moment>,
    pub secured: Option<Moment>,
}

/// An open stream and its remote address.
#[derive(Debug)]
pub struct Dialed {
    pub stream: Stream,
    /// `None` for a unix socket.
    pub remote: Option<SocketAddr>,
}

/// Rejects a host to which this process may not connect.
fn check_allowed(host: &str) -> Result<(), Error> {
    if is_allowed(host) {
        return Ok(());
    }
    Err(Error::BlockedHost {
        host: host.to_owned(),
        pattern: "not allowed on this machine".to_owned(),
    })
}

impl Network {
    pub fn new(settings: NetworkSettings) -> Self {
        Network {
            resolver: Resolver::new(settings.dns, &settings.name_servers),
            tls: Tls::new(settings.tls.clone()),
            settings,
        }
    }

    pub(crate) fn settings(&self) -> &NetworkSettings {
        &self.settings
    }

    pub(crate) fn tls(&self) -> &Tls {
        &self.tls
    }

    /// The local address of user `number` (counted from 1), if users bind local addresses.
    pub fn local_ip(&self, number: u64) -> Option<IpAddr> {
        self.settings.local_ips.of_user(number)
    }

    /// Opens a stream to `host:port`, from `local` if given. A stream that will be `secured` always
    /// uses epoll: TLS records are read one by one, so io_uring has nothing to batch. `steps` records
    /// the steps that were completed, even if opening fails.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn dial(
        &self,
        host: &str,
        port: u16,
        local: Option<IpAddr>,
        counter: &Rc<TrafficCounter>,
        secured: bool,
        steps: &mut Steps,
    ) -> Result<Dialed, Error> {
        #[cfg(unix)]
        if let Some(path) = &self.settings.unix_socket {
            self.check_name(host)?;
            check_allowed("a unix socket")?;
            let socket = path.connect(self.settings.connect_timeout).await?;
            steps.connected = Some(plimsoll_clock::now());
            let counter = counter.clone();
            return Ok(Dialed {
                stream: Stream::Plain(Plain::Unix(UnixSocket { socket, counter })),
                remote: None,
            });
        }
        let remote = self.locate(host, port).await?;
        // An address needs no lookup.
        if host.parse::<IpAddr>().is_err() {
            steps.looked_up = Some(plimsoll_clock::now());
        }
        let socket = self.connect(remote, local).await?;
        steps.connected = Some(plimsoll_clock::now());
        let io = match self.settings.io {
            Io::Uring if secured => Io::Epoll,
            io => io,
        };
        let stream =
            Plain::new(socket, counter.clone(), io).map_err(|source| Error::Socket { source })?;
        Ok(Dialed {
            stream: Stream::Plain(stream),
            remote: Some(remote),
        })
    }

    /// Performs the TLS handshake with `host` on a plain stream.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub async fn secure(
        &self,
        stream: Stream,
        host: &str,
        alpn: Alpn,
        steps: &mut Steps,
    ) -> Result<(Stream, TlsFacts), Error> {
        let Stream::Plain(plain) = stream else {
            let nested = "TLS within TLS is not supported".to_owned();
            return Err(Error::Tls(TlsError::Settings(nested)));
        };
        let (stream, facts) = self
            .tls
            .secure(plain, host, alpn)
            .await
            .map_err(Error::Tls)?;
        steps.secured = Some(plimsoll_clock::now());
        Ok((Stream::Tls(Box::new(stream)), facts))
    }

    /// Rejects a blocked name, and a host to which this process may not connect.
    fn check_name(&self, host: &str) -> Result<(), Error> {
        check_allowed(host)?;
        match self.settings.rules.blocking(host) {
            Some(pattern) if host.parse::<IpAddr>().is_err() => Err(Error::BlockedHost {
                host: host.to_owned(),
                pattern: pattern.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// The address of `host:port` after the rules have been applied.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn locate(&self, host: &str, port: u16) -> Result<SocketAddr, Error> {
        let rules = &self.settings.rules;
        let literal = host.parse::<IpAddr>().ok();
        self.check_name(host)?;
        let remote = if let Some(target) = rules.lookup(host, port) {
            // Also check the address, so an allowed name cannot lead to another host.
            check_allowed(&target.ip.to_string())?;
            SocketAddr::new(target.ip, target.port.unwrap_or(port))
        } else if let Some(ip) = literal {
            SocketAddr::new(ip, port)
        } else {
            SocketAddr::new(self.resolver.resolve(host).await?, port)
        };
        if let Some(range) = rules.blacklisting(remote.ip()) {
            return Err(Error::BlacklistedIp {
                ip: remote.ip(),
                range: range.to_string(),
            });
        }
        Ok(remote)
    }

    async fn connect(
        &self,
        remote: SocketAddr,
        local: Option<IpAddr>,
    ) -> Result<tokio::net::TcpStream, Error> {
        let socket = if remote.is_ipv6() {
            TcpSocket::new_v6()
        } else {
            TcpSocket::new_v4()
        }
        .map_err(|source| Error::Socket { source })?;
        if let Some(from) = local.filter(|ip| ip.is_ipv6() == remote.is_ipv6()) {
            socket
                .bind(SocketAddr::new(from, 0))
                .map_err(|source| Error::Bind { from, source })?;
        }
        let connecting =
            tokio::time::timeout(self.settings.connect_timeout, socket.connect(remote));
        let stream = match connecting.await {
            Err(_elapsed) => return Err(Error::ConnectTimeout { to: remote }),
            Ok(Err(source)) => return Err(Error::Connect { to: remote, source }),
            Ok(Ok(stream)) => stream,
        };
        // A load generator should measure the delay of the server, not the delay of Nagle's algorithm.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}
