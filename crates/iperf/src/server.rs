//! The server: runs one test at a time, and meanwhile responds "busy" to other clients.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use plimsoll_units::Moment;
use socket2::Socket;

use crate::Print;
use crate::amounts::Format;
use crate::client::WELCOME;
use crate::control::{Control, Within};
use crate::error::Error;
use crate::flow::{Flow, Wire, plain};
use crate::report::{Report, Role};
use crate::results::Results;
use crate::session::{self, ControlEvent, ReportSettings, Session};
use crate::sockets::{self, Family, readable};
use crate::test::{Protocol, Test};
use crate::text::{self, Layout};
use crate::wire::{Cookie, State};

#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The address to listen on; `None` for all addresses of the family.
    pub address: Option<std::net::IpAddr>,
    /// The port; 0 lets the system choose one.
    pub port: u16,
    pub family: Family,
    /// Exit after one test.
    pub once: bool,
    pub interval: Option<Duration>,
    pub format: Format,
    pub json: bool,
    /// Time limit for each step that a client performs before and after the test.
    pub patience: Duration,
}

/// A server that listens.
pub struct Server {
    serve: ServerSettings,
    listener: TcpListener,
    address: SocketAddr,
    /// Number of clients that are being informed that the server is busy.
    informing: Arc<AtomicUsize>,
}

/// Maximum number of clients that are informed at the same time that the server is busy. Further
/// connections are closed without a message.
const MAX_BUSY_REPLIES: usize = 32;
/// Maximum number of bytes of the server's output that are kept for the client.
const MAX_OUTPUT: usize = 1 << 20;
const SLICE: Duration = Duration::from_millis(100);

impl Server {
    /// Listens on the address and port.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn bind(serve: ServerSettings) -> Result<Server, Error> {
        let everywhere = serve.address.is_none() && serve.family == Family::Any;
        let ip = serve.address.unwrap_or(match serve.family {
            Family::V4 => Ipv4Addr::UNSPECIFIED.into(),
            Family::Any | Family::V6 => Ipv6Addr::UNSPECIFIED.into(),
        });
        let mut listener = sockets::listen(SocketAddr::new(ip, serve.port));
        if listener.is_err() && everywhere {
            // The machine does not support IPv6.
            listener = sockets::listen(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), serve.port));
        }
        let failed = |error: io::Error| {
            Error::io(
                &format!(
                    "unable to start listener for connections on port {}",
                    serve.port
                ),
                &error,
            )
        };
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server {
            serve,
            listener,
            address,
            informing: Arc::default(),
        })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves tests until `stop` is set, or only one if so configured. Passes each test's report to
    /// `done`.
    ///
    /// # Errors
    /// If the listening socket fails.
    pub fn run(
        &self,
        stop: &AtomicBool,
        print: &mut Print<'_>,
        done: &mut dyn FnMut(&Report),
    ) -> Result<(), Error> {
        let mut number = 0;
        let mut announced = false;
        while !stop.load(Ordering::Relaxed) {
            if !announced {
                announced = true;
                number += 1;
                if !self.serve.json {
                    text::listening(self.address.port(), number, print);
                }
            }
            let failed =
                |error: io::Error| Error::io("unable to accept connection from client", &error);
            let [waiting] =
                readable([self.listener.as_fd()], plimsoll_clock::now() + SLICE).map_err(failed)?;
            if !waiting {
                continue;
            }
            let (stream, client) = match self.listener.accept() {
                Ok(accepted) => accepted,
                // The client disconnected before it was accepted, or no file descriptor is free.
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
            };
            announced = false;
            let report = self.test(stream, plain(client), stop, print);
            done(&report);
            if self.serve.once {
                break;
            }
        }
        Ok(())
    }

    fn test(
        &self,
        stream: TcpStream,
        client: SocketAddr,
        stop: &AtomicBool,
        print: &mut Print<'_>,
    ) -> Report {
        let mut report = Report::new(
            Role::Server,
            Test::default(),
            client.ip().to_string(),
            client.port(),
        );
        // The printed output, for a client that requests it.
        let printed = RefCell::new(String::new());
        let json = self.serve.json;
        let mut tee = |text: &str| {
            let mut printed = printed.borrow_mut();
            if printed.len() + text.len() <= MAX_OUTPUT {
                printed.push_str(text);
            }
            if !json {
                print(text);
            }
        };
        if let Err(error) = self.try_test(stream, client, stop, &mut report, &mut tee, &printed) {
            report.error = Some(error);
        }
        report
    }

    fn try_test(
        &self,
        stream: TcpStream,
        client: SocketAddr,
        stop: &AtomicBool,
        report: &mut Report,
        print: &mut Print<'_>,
        printed: &RefCell<String>,
    ) -> Result<(), Error> {
        let local = stream
            .local_addr()
            .map(plain)
            .map_err(|error| Error::io("unable to accept connection from client", &error))?;
        let control = Control::new(stream, "client", self.serve.patience, stop)?;
        let cookie = Cookie::read(control.within())
            .map_err(|error| Error::io("unable to receive cookie from the client", &error))?;
        report.cookie = cookie.text();
        print(&format!(
            "Accepted connection from {}, port {}\n",
            client.ip(),
            client.port()
        ));
        control.send_state(State::ParamExchange)?;
        let parameters = control.read_json()?;
        report.test = match Test::from_json(&parameters) {
            Ok(test) => test,
            Err(why) => {
                send_error(&control, BAD_PARAMETERS);
                return Err(Error::new(format!(
                    "the client requested an impossible test: {why}"
                )));
            }
        };
        let flows = match self.open(&control, local, &report.test, &cookie, stop) {
            Ok(flows) => flows,
            Err(error) => {
                send_error(&control, NO_STREAM);
                return Err(error);
            }
        };
        let layout = Layout::new(
            Role::Server,
            &report.test,
            self.serve.format,
            self.serve.interval.is_some(),
        );
        let reporting = ReportSettings {
            interval: self.serve.interval,
            json: self.serve.json,
        };
        let mut session = Session::new(
            &report.test,
            Role::Server,
            flows,
            reporting,
            layout.clone(),
            stop,
        );
        session.list(report);
        layout.streams(&report.streams, print);
        control.send_state(State::TestStart)?;
        control.send_state(State::TestRunning)?;
        let mut watch = |until: Moment| self.watch(&control, until);
        let outcome = session.run(report, &mut watch, print);
        layout.totals(report, print);
        if let Err(error) = outcome {
            if error == Error::Interrupted("server") {
                let _ = control.send_state(State::ServerTerminate);
            }
            return Err(error);
        }
        control.send_state(State::ExchangeResults)?;
        let results = Results::from_json(&control.read_json()?).map_err(Error::new)?;
        report.remote = Some(results);
        let output = report.test.server_output.then(|| {
            if self.serve.json {
                crate::json::document(report)
            } else {
                serde_json::Value::String(printed.borrow().clone())
            }
        });
        control.write_json(&session::results(report, output).to_json())?;
        control.send_state(State::DisplayResults)?;
        // A client that closes the connection instead already has all its results.
        let _ = control.read_state();
        Ok(())
    }

    /// Waits for the client's next message, and meanwhile rejects other clients.
    fn watch(&self, control: &Control<'_>, until: Moment) -> Result<ControlEvent, Error> {
        let failed = |error: io::Error| Error::io("unable to read from the client", &error);
        let [has_message, is_connecting] =
            readable([control.stream.as_fd(), self.listener.as_fd()], until).map_err(failed)?;
        if is_connecting && let Ok((stream, _)) = self.listener.accept() {
            self.reject_busy(stream);
        }
        if !has_message {
            return Ok(ControlEvent::Nothing);
        }
        match control.read_state()? {
            State::TestEnd => Ok(ControlEvent::TestEnd),
            other => Err(Error::new(format!(
                "the client sent {other:?} in the middle of the test"
            ))),
        }
    }

    /// Tells another client, on a separate thread, that the server is busy.
    fn reject_busy(&self, stream: TcpStream) {
        let count = Arc::clone(&self.informing);
        if count.fetch_add(1, Ordering::Relaxed) >= MAX_BUSY_REPLIES {
            count.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let reported = Arc::clone(&count);
        let telling = std::thread::Builder::new()
            .name("busy".to_owned())
            .spawn(move || {
                let limit = Some(Duration::from_secs(1));
                let _ = stream
                    .set_read_timeout(limit)
                    .and_then(|()| stream.set_write_timeout(limit));
                let _ = (&stream).write_all(&[State::AccessDenied.byte()]);
                let _ = stream.shutdown(std::net::Shutdown::Write);
                // Read the client's bytes first: closing a socket with unread bytes would discard the response.
                let mut rest = [0; Cookie::LENGTH + 1];
                let _ = (&stream).read_exact(&mut rest);
                reported.fetch_sub(1, Ordering::Relaxed);
            });
        if telling.is_err() {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Accepts the client's streams in order of arrival.
    fn open(
        &self,
        control: &Control<'_>,
        local: SocketAddr,
        test: &Test,
        cookie: &Cookie,
        stop: &AtomicBool,
    ) -> Result<Vec<Flow>, Error> {
        let directions: Vec<bool> = test.streams().collect();
        let until = plimsoll_clock::now() + self.serve.patience;
        let mut flows = Vec::new();
        // Open the UDP socket before the client may continue.
        let mut next = match test.protocol {
            Protocol::Tcp => None,
            Protocol::Udp => Some(sockets::listen_udp(local, test)?),
        };
        control.send_state(State::CreateStreams)?;
        for (index, client_sends) in directions.iter().enumerate() {
            let wire = match next.take() {
                None => Wire::Tcp(self.accept(control, test, cookie, until, stop)?),
                Some(socket) => {
                    let client = self.await_greeting(control, &socket, until, stop)?;
                    socket
                        .connect(client)
                        .map_err(|error| Error::io("unable to accept stream", &error))?;
                    if index + 1 < directions.len() {
                        next = Some(sockets::listen_udp(local, test)?);
                    }
                    socket
                        .send(WELCOME)
                        .map_err(|error| Error::io("unable to accept stream", &error))?;
                    Wire::Udp(socket)
                }
            };
            flows.push(Flow::new(wire, Test::identity(index), !client_sends)?);
        }
        Ok(flows)
    }

    /// Waits for the next connection with the test's cookie. Rejects other connections.
    fn accept(
        &self,
        control: &Control<'_>,
        test: &Test,
        cookie: &Cookie,
        until: Moment,
        stop: &AtomicBool,
    ) -> Result<TcpStream, Error> {
        loop {
            self.waits(control, self.listener.as_fd(), until, stop)?;
            let Ok((stream, _)) = self.listener.accept() else {
                continue;
            };
            let patient = Within {
                stream: &stream,
                until: until.min(plimsoll_clock::now() + Duration::from_secs(2)),
                stop,
            };
            match Cookie::read(patient) {
                Ok(shown) if shown == *cookie => {
                    let socket = Socket::from(stream);
                    sockets::set_options(&socket, test)?;
                    return Ok(socket.into());
                }
                _ => self.reject_busy(stream),
            }
        }
    }

    /// Waits for the next greeting over UDP.
    fn await_greeting(
        &self,
        control: &Control<'_>,
        socket: &UdpSocket,
        until: Moment,
        stop: &AtomicBool,
    ) -> Result<SocketAddr, Error> {
        let failed = |error: io::Error| Error::io("unable to accept stream", &error);
        let client = control.stream.peer_addr().map(plain).map_err(failed)?;
        socket.set_read_timeout(Some(SLICE)).map_err(failed)?;
        let mut greeting = [0; 64];
        loop {
            self.waits(control, socket.as_fd(), until, stop)?;
            match socket.recv_from(&mut greeting) {
                Ok((count, from)) if count >= 4 && plain(from).ip() == client.ip() => {
                    return Ok(from);
                }
                // This is an unrelated datagram, or an error caused by an earlier one.
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Waits for a stream while the client stays connected.
    fn waits(
        &self,
        control: &Control<'_>,
        socket: std::os::fd::BorrowedFd<'_>,
        until: Moment,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        loop {
            let now = plimsoll_clock::now();
            if stop.load(Ordering::Relaxed) {
                let _ = control.send_state(State::ServerTerminate);
                return Err(Error::Interrupted("server"));
            }
            if now >= until {
                return Err(Error::new(
                    "the client did not open all streams of its test in time",
                ));
            }
            let failed = |error: io::Error| Error::io("unable to accept stream", &error);
            let [has_stream, has_message] =
                readable([socket, control.stream.as_fd()], until.min(now + SLICE))
                    .map_err(failed)?;
            if has_stream {
                return Ok(());
            }
            if has_message {
                let state = control.read_state()?;
                return Err(Error::new(format!(
                    "the client sent {state:?} before its streams were open"
                )));
            }
        }
    }
}

/// iperf3's error numbers for invalid parameters, and for a stream that could not be accepted.
const BAD_PARAMETERS: i32 = 114;
const NO_STREAM: i32 = 204;

/// Tells the client that its test cannot run: sends iperf3's error number without a system error.
fn send_error(control: &Control<'_>, number: i32) {
    let mut bytes = vec![State::ServerError.byte()];
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&0_i32.to_be_bytes());
    // The client may have disconnected already.
    let _ = control.write(&bytes);
}
