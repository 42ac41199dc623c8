//! HTTP/3 connections: QUIC settings, control streams and requests.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use plimsoll_net::{Network, Steps, TlsFacts, Traffic, TrafficCounter};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    ClientConfig, ConnectionError, IdleTimeout, RecvStream, SendStream, TransportConfig, VarInt,
};

use crate::control::{self, State};
use crate::draining::Task;
use crate::endpoints::Endpoints;
use crate::fault::{Fault, NO_ERROR};
use crate::tls::{HandshakeFacts, ObservedTls};

/// Unread bytes that a stream and a connection may hold. This limits the memory of a user.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Number of unidirectional streams that a server may open. It needs three.
const SERVER_STREAMS: u32 = 16;
/// If no packet arrives for this long, the connection is considered lost.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval of the packets that keep an idle connection alive during slow responses and long think
/// times.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// Time without a response after which we check whether a server listens on the port.
const PORT_CHECK_AFTER: Duration = Duration::from_millis(300);

/// The server to connect to.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub host: &'a str,
    pub port: u16,
    /// The local address, if the user has one.
    pub local: Option<IpAddr>,
}

/// One connection of a user, which its requests share. It is closed when it is dropped.
pub struct Connection {
    quic: quinn::Connection,
    _task: Task,
    /// Our control stream, which stays open as long as the connection.
    _control: SendStream,
    state: Rc<State>,
    traffic: Rc<TrafficCounter>,
    /// The traffic counted so far.
    counted: Cell<Traffic>,
    handshake: HandshakeFacts,
    /// Buffer for the headers to send.
    pub(crate) out: RefCell<Vec<u8>>,
    tls: TlsFacts,
    remote: SocketAddr,
}

impl Connection {
    /// Connects. `steps` receives the times: `connected` is when the server's first packet arrived, one
    /// round trip after our own as in TCP, and `secured` is when the handshake ended.
    ///
    /// # Errors
    /// See [`Fault`]. The attempt fails after the network's connect timeout.
    pub async fn open(
        endpoints: &Endpoints,
        network: &Network,
        target: Target<'_>,
        traffic: &Rc<TrafficCounter>,
        steps: &mut Steps,
    ) -> Result<Connection, Fault> {
        let Target { host, port, local } = target;
        let remote = network.locate_for_quic(host, port, steps).await?;
        let handshake = HandshakeFacts::default();
        let config = configuration(network, host, &handshake)?;
        let endpoint = endpoints
            .socket_for(remote, local)
            .map_err(|source| match local {
                Some(from) => plimsoll_net::Error::Bind { from, source },
                None => plimsoll_net::Error::Socket { source },
            })?;
        let connecting = endpoint
            .connect_with(config, remote, host)
            .map_err(|error| Fault::Broken(error.to_string()))?;
        let task = endpoints.task_of_new_connection();
        let limit = network.connect_timeout();
        let quic = tokio::time::timeout(limit, connect(connecting, remote, &handshake, steps))
            .await
            .unwrap_or(Err(Fault::NoResponse {
                to: remote,
                waited: limit,
            }))?;
        steps.secured = Some(plimsoll_clock::now());
        let mut control = quic
            .open_uni()
            .await
            .map_err(|error| Fault::of_connection(error, None))?;
        control
            .write_all(&control::first_control_bytes())
            .await
            .map_err(|error| Fault::Broken(error.to_string()))?;
        let state = Rc::new(State::default());
        tokio::task::spawn_local(control::listen(quic.clone(), Rc::clone(&state)));
        let tls = TlsFacts::of_quic(handshake.facts().cipher_suite);
        Ok(Connection {
            quic,
            _task: task,
            _control: control,
            state,
            traffic: Rc::clone(traffic),
            counted: Cell::default(),
            handshake,
            out: RefCell::default(),
            tls,
            remote,
        })
    }

    /// Whether new requests can be sent on this connection.
    pub fn is_open(&self) -> bool {
        !self.state.is_going_away() && self.quic.close_reason().is_none()
    }

    pub fn remote(&self) -> SocketAddr {
        self.remote
    }

    pub fn tls(&self) -> TlsFacts {
        self.tls
    }

    /// Opens a stream. Waits until the server allows another stream.
    pub(crate) async fn open_stream(&self) -> Result<(SendStream, RecvStream), Fault> {
        if self.state.is_going_away() {
            return Err(Fault::GoAway);
        }
        let opened = self.quic.open_bi().await;
        opened.map_err(|error| self.fault(error))
    }

    pub(crate) fn fault(&self, error: ConnectionError) -> Fault {
        match (&*self.state.violation.borrow(), error) {
            (Some(how), ConnectionError::LocallyClosed) => Fault::Violation(how.clone()),
            (_, error) => Fault::of_connection(error, self.handshake.facts().refusal.clone()),
        }
    }

    pub(crate) fn violated(&self, how: String) -> Fault {
        self.state.violated(&self.quic, how.clone());
        Fault::Violation(how)
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Adds the bytes sent and received since the last call to the user's counter.
    pub(crate) fn count(&self) {
        let stats = self.quic.stats();
        let now = Traffic {
            sent: stats.udp_tx.bytes,
            received: stats.udp_rx.bytes,
        };
        let before = self.counted.replace(now);
        self.traffic.add(Traffic {
            sent: now.sent.saturating_sub(before.sent),
            received: now.received.saturating_sub(before.received),
        });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.quic.close(VarInt::from_u32(NO_ERROR as u32), b"");
        self.count();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}

fn configuration(
    network: &Network,
    host: &str,
    handshake: &HandshakeFacts,
) -> Result<ClientConfig, Fault> {
    let settings = |text: String| plimsoll_net::Error::Tls(plimsoll_net::TlsError::Settings(text));
    let tls = QuicClientConfig::try_from(network.quic_tls(host)?)
        .map_err(|error| settings(format!("HTTP/3: {error}")))?;
    let mut config = ClientConfig::new(Arc::new(ObservedTls {
        tls: Arc::new(tls),
        handshake: handshake.clone(),
    }));
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(SERVER_STREAMS))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(CONNECTION_WINDOW))
        .datagram_receive_buffer_size(None)
        .keep_alive_interval(Some(KEEP_ALIVE_INTERVAL))
        .max_idle_timeout(IdleTimeout::try_from(IDLE_TIMEOUT).ok());
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// Waits for the end of the handshake. Until the first response arrives, also waits for the error
/// that nothing listens on the port.
async fn connect(
    connecting: quinn::Connecting,
    remote: SocketAddr,
    handshake: &HandshakeFacts,
    steps: &mut Steps,
) -> Result<quinn::Connection, Fault> {
    let began = plimsoll_clock::now();
    let mut connecting = pin!(connecting);
    let mut refusal = pin!(refusal(remote));
    poll_fn(|cx| {
        let polled = connecting.as_mut().poll(cx);
        if steps.connected.is_none() {
            steps.connected = handshake.facts().first_response;
        }
        match polled {
            Poll::Ready(Ok(connection)) => Poll::Ready(Ok(connection)),
            Poll::Ready(Err(ConnectionError::TimedOut)) if steps.connected.is_none() => {
                let waited = plimsoll_clock::now().since(began);
                Poll::Ready(Err(Fault::NoResponse { to: remote, waited }))
            }
            Poll::Ready(Err(error)) => {
                let refusal = handshake.facts().refusal.clone();
                Poll::Ready(Err(Fault::of_connection(error, refusal)))
            }
            Poll::Pending if steps.connected.is_none() => refusal
                .as_mut()
                .poll(cx)
                .map(|()| Err(Fault::Refused { to: remote })),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Resolves if the server's host reports that nothing listens on that port, and never otherwise.
/// Only connected sockets receive that error, and QUIC's sockets are not connected. So a connected
/// socket sends an empty datagram, which servers ignore.
async fn refusal(remote: SocketAddr) {
    let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    let refused = async {
        let local: IpAddr = match remote {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        tokio::time::sleep(PORT_CHECK_AFTER).await;
        let socket = tokio::net::UdpSocket::bind((local, 0)).await?;
        socket.connect(remote).await?;
        loop {
            socket.send(&[]).await?;
            let mut buffer = [0; 1];
            let message = socket.recv(&mut buffer);
            if let Ok(Err(error)) = tokio::time::timeout(3 * PORT_CHECK_AFTER, message).await {
                return Err::<(), _>(error);
            }
        }
    };
    match refused.await {
        Err(error) if is_refused(&error) => {}
        _ => std::future::pending().await,
    }
}
