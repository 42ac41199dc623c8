//! The client: requests a test, and reports the counts of both sides.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use socket2::SockRef;

use crate::Print;
use crate::amounts::Format;
use crate::control::Control;
use crate::error::Error;
use crate::flow::{Flow, Wire};
use crate::report::{Report, Role};
use crate::results::Results;
use crate::session::{self, ControlEvent, ReportSettings, Session};
use crate::sockets::{self, readable};
pub use crate::sockets::{Family, From};
use crate::test::{MAX_DATAGRAM, MIN_DATAGRAM, Protocol, Test};
use crate::text::Layout;
use crate::wire::{Cookie, State};

/// A test, and the server that runs it.
#[derive(Clone, Debug)]
pub struct TestRequest {
    pub host: String,
    pub port: u16,
    pub family: Family,
    pub from: From,
    /// Time limit for connecting and for each response of the server.
    pub patience: Duration,
    pub test: Test,
    /// Block length in bytes. Default: 128 KiB for TCP; for UDP, the segment size of the control
    /// connection.
    pub length: Option<usize>,
    /// Time between two lines; `None` for no lines.
    pub interval: Option<Duration>,
    pub format: Format,
    /// Store the periods in the report instead of printing them.
    pub json: bool,
}

/// The first datagram of a UDP client, and the server's response to it.
pub(crate) const GREETING: &[u8; 4] = b"9876";
pub(crate) const WELCOME: &[u8; 4] = b"6789";

/// Runs a test until it ends or `stop` is set. Passes each line to `print`. The report contains
/// everything measured, and the error if there was one.
pub fn run(ask: &TestRequest, stop: &AtomicBool, print: &mut Print<'_>) -> Report {
    let mut report = Report::new(Role::Client, ask.test.clone(), ask.host.clone(), ask.port);
    if let Err(error) = try_run(ask, stop, &mut report, print) {
        report.error = Some(error);
    }
    report
}

fn try_run(
    ask: &TestRequest,
    stop: &AtomicBool,
    report: &mut Report,
    print: &mut Print<'_>,
) -> Result<(), Error> {
    let mut layout = Layout::new(Role::Client, &ask.test, ask.format, ask.interval.is_some());
    let mut quiet = |_: &str| {};
    let print: &mut Print<'_> = if ask.json { &mut quiet } else { print };
    let stream = connect(ask)?;
    layout.connecting(&ask.host, ask.port, print);
    report.segment = segment(&stream);
    report.test.length = length(ask, report.segment);
    report.test.check().map_err(Error::new)?;
    let server = stream
        .peer_addr()
        .map_err(|error| Error::io("unable to connect to server", &error))?;
    let control = Control::new(stream, "server", ask.patience, stop)?;
    let cookie = Cookie::random();
    control.write(cookie.bytes())?;
    control.await_state(State::ParamExchange)?;
    control.write_json(&report.test.to_json())?;
    control.await_state(State::CreateStreams)?;
    let flows = open(ask, &report.test, server, &cookie)?;
    report.cookie = cookie.text();
    layout = Layout::new(
        Role::Client,
        &report.test,
        ask.format,
        ask.interval.is_some(),
    );
    let reporting = ReportSettings {
        interval: ask.interval,
        json: ask.json,
    };
    let mut session = Session::new(
        &report.test,
        Role::Client,
        flows,
        reporting,
        layout.clone(),
        stop,
    );
    session.list(report);
    layout.streams(&report.streams, print);
    control.await_state(State::TestStart)?;
    control.await_state(State::TestRunning)?;
    let mut watch = |until| {
        let [is_readable] = readable([control.stream.as_fd()], until)
            .map_err(|error| Error::io("unable to read from the server", &error))?;
        if !is_readable {
            return Ok(ControlEvent::Nothing);
        }
        let state = control.read_state()?;
        Err(Error::new(format!(
            "the server sent {state:?} in the middle of the test"
        )))
    };
    let outcome = session.run(report, &mut watch, print);
    let outcome = outcome.and_then(|()| exchange(&control, report));
    match &outcome {
        Err(Error::Interrupted(_)) => {
            // The server may also have closed the connection.
            let _ = control.send_state(State::ClientTerminate);
        }
        Err(_) => {}
        Ok(()) => {
            // The test is complete, so it does not matter whether the server has already closed the connection.
            let _ = control.send_state(State::IperfDone);
        }
    }
    layout.totals(report, print);
    outcome?;
    layout.server_output(report, print);
    layout.done(print);
    Ok(())
}

/// Exchanges the counts of both sides.
fn exchange(control: &Control<'_>, report: &mut Report) -> Result<(), Error> {
    control.send_state(State::TestEnd)?;
    control.await_state(State::ExchangeResults)?;
    control.write_json(&session::results(report, None).to_json())?;
    let results = Results::from_json(&control.read_json()?).map_err(Error::new)?;
    report.remote = Some(results);
    control.await_state(State::DisplayResults)
}

fn connect(ask: &TestRequest) -> Result<TcpStream, Error> {
    let failed = |error: std::io::Error| Error::io("unable to connect to server", &error);
    let found: Vec<SocketAddr> = (ask.host.as_str(), ask.port)
        .to_socket_addrs()
        .map_err(|error| {
            Error::new(format!(
                "unable to connect to server: {}: {error}",
                ask.host
            ))
        })?
        .filter(|address| ask.family.holds(address))
        .filter(|address| {
            ask.from
                .address
                .is_none_or(|from| from.is_ipv4() == address.is_ipv4())
        })
        .collect();
    let from = From {
        port: None,
        ..ask.from
    };
    let mut last = failed(std::io::Error::new(
        ErrorKind::NotFound,
        format!("{} has no IPv4 or IPv6 address as requested", ask.host),
    ));
    for address in found {
        match sockets::connect(address, from, None, ask.patience) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(unix)]
fn segment(stream: &TcpStream) -> Option<u32> {
    SockRef::from(stream).tcp_mss().ok()
}

#[cfg(not(unix))]
fn segment(_: &TcpStream) -> Option<u32> {
    None
}

fn length(ask: &TestRequest, segment: Option<u32>) -> usize {
    match (ask.length, ask.test.protocol) {
        (Some(length), _) => length,
        (None, Protocol::Tcp) => Test::default().length,
        (None, Protocol::Udp) => segment
            .map_or(1460, |segment| segment as usize)
            .clamp(MIN_DATAGRAM, MAX_DATAGRAM),
    }
}

/// Opens the streams one after another, because the server identifies them by their order.
fn open(
    ask: &TestRequest,
    test: &Test,
    server: SocketAddr,
    cookie: &Cookie,
) -> Result<Vec<Flow>, Error> {
    let mut flows = Vec::new();
    for (index, sending) in test.streams().enumerate() {
        let offset = u16::try_from(index).unwrap_or(u16::MAX);
        let from = From {
            port: ask.from.port.map(|port| port.saturating_add(offset)),
            ..ask.from
        };
        let wire = match test.protocol {
            Protocol::Tcp => {
                let stream = sockets::connect(server, from, Some(test), ask.patience)?;
                let mut writing = &stream;
                std::io::Write::write_all(&mut writing, cookie.bytes())
                    .map_err(|error| Error::io("unable to send cookie to server", &error))?;
                Wire::Tcp(stream)
            }
            Protocol::Udp => Wire::Udp(greet(
                sockets::connect_udp(server, from, test)?,
                ask.patience,
            )?),
        };
        flows.push(Flow::new(wire, Test::identity(index), sending)?);
    }
    Ok(flows)
}

/// Sends a greeting, so the server learns the address of our datagrams. A greeting can be lost like
/// any datagram.
fn greet(socket: UdpSocket, patience: Duration) -> Result<UdpSocket, Error> {
    const ATTEMPTS: u32 = 5;
    let failed = |error: std::io::Error| Error::io("unable to connect stream", &error);
    let patience = (patience / ATTEMPTS).max(Duration::from_millis(10));
    socket.set_read_timeout(Some(patience)).map_err(failed)?;
    let mut response = [0; 64];
    for _ in 0..ATTEMPTS {
        socket.send(GREETING).map_err(failed)?;
        match socket.recv(&mut response) {
            Ok(_) => return Ok(socket),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(Error::new(
        "unable to connect stream: the server did not respond to a datagram; does a firewall block UDP to its port?",
    ))
}
