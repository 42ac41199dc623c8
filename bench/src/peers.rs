//! A server loop on one thread with epoll, for protocols that respond on the connection of the request.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;

use crate::arguments::Arguments;
use crate::syscalls::{self, Poll};

/// The protocol of a connection.
pub trait Peer: Default {
    /// Takes complete messages from `held` and appends the responses to `out`; returning false
    /// closes the connection.
    fn respond(&mut self, held: &mut Vec<u8>, out: &mut Vec<u8>) -> bool;
}

/// The whole server program: `NAME [--port 0] [--cpu 0]`. It prints `listening on 127.0.0.1:PORT`,
/// and serves until it is killed.
pub fn program<P: Peer>(name: &str) -> ExitCode {
    match serve::<P>() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn serve<P: Peer>() -> Result<(), String> {
    let arguments = Arguments::parse(std::env::args().skip(1), &["port", "cpu"])?;
    if let Some(cpu) = arguments.value("cpu")? {
        syscalls::pin_to_cpu(cpu).map_err(|error| format!("--cpu {cpu}: {error}"))?;
    }
    let port: u16 = arguments.value("port")?.unwrap_or(0);
    syscalls::raise_descriptor_limit();
    let (listener, port) = syscalls::listen(port).map_err(|error| error.to_string())?;
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on 127.0.0.1:{port}")
        .and_then(|()| stdout.flush())
        .map_err(|error| error.to_string())?;
    serve_all::<P>(&listener).map_err(|error| error.to_string())
}

const LISTENER: u64 = u64::MAX;

struct Connection<P> {
    socket: OwnedFd,
    /// Received bytes of an incomplete message.
    held: Vec<u8>,
    peer: P,
}

fn serve_all<P: Peer>(listener: &OwnedFd) -> io::Result<()> {
    let mut poll = Poll::new()?;
    poll.watch(listener.as_raw_fd(), LISTENER)?;
    let mut connections: Vec<Option<Connection<P>>> = Vec::new();
    let (mut buffer, mut out) = (vec![0; 1 << 16], Vec::new());
    let mut ready = Vec::new();
    loop {
        ready.clear();
        ready.extend(poll.wait(None)?);
        for &token in &ready {
            if token == LISTENER {
                while let Some(socket) = syscalls::accept(listener.as_raw_fd())? {
                    let free = connections.iter().position(Option::is_none);
                    let slot = free.unwrap_or(connections.len());
                    poll.watch(socket.as_raw_fd(), slot as u64)?;
                    let connection = Some(Connection {
                        socket,
                        held: Vec::new(),
                        peer: P::default(),
                    });
                    match connections.get_mut(slot) {
                        Some(place) => *place = connection,
                        None => connections.push(connection),
                    }
                }
            } else if let Some(place) = connections.get_mut(token as usize)
                && let Some(connection) = place
                && !connection.turn(&mut buffer, &mut out)
            {
                *place = None;
            }
        }
    }
}

impl<P: Peer> Connection<P> {
    /// Reads from a connection and responds; returns false when the connection has ended.
    fn turn(&mut self, buffer: &mut [u8], out: &mut Vec<u8>) -> bool {
        match syscalls::receive(self.socket.as_raw_fd(), buffer) {
            Ok(None) => return true,
            Ok(Some(0)) | Err(_) => return false,
            Ok(Some(length)) => self
                .held
                .extend_from_slice(buffer.get(..length).unwrap_or_default()),
        }
        out.clear();
        if !self.peer.respond(&mut self.held, out) {
            return false;
        }
        // Responses to a client that does not read are not buffered.
        out.is_empty()
            || matches!(syscalls::send(self.socket.as_raw_fd(), out), Ok(Some(sent)) if sent == out.len())
    }
}
