//! The control connection: states and JSON, with a time limit for the peer.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_units::Moment;
use serde_json::Value;

use crate::error::Error;
use crate::wire::{self, State};

/// One side of the control connection. `peer` is the name of the other side.
pub struct Control<'a> {
    pub stream: TcpStream,
    pub peer: &'static str,
    /// Time limit for the peer's response.
    pub patience: Duration,
    /// Set when the user of this side wants to stop.
    stop: &'a AtomicBool,
}

/// How soon a wait for the peer ends after `stop` is set.
const SLICE: Duration = Duration::from_millis(100);

impl<'a> Control<'a> {
    pub fn new(
        stream: TcpStream,
        peer: &'static str,
        patience: Duration,
        stop: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let set = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(patience)));
        set.map_err(|error| Error::io("cannot set up the control connection", &error))?;
        Ok(Control {
            stream,
            peer,
            patience,
            stop,
        })
    }

    pub fn send_state(&self, state: State) -> Result<(), Error> {
        self.write(&[state.byte()])
    }

    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        (&self.stream)
            .write_all(bytes)
            .map_err(|error| self.broken("unable to write to", &error))
    }

    /// Reads the next state, whatever it is.
    pub fn read_state(&self) -> Result<State, Error> {
        let mut byte = [0];
        self.within()
            .read_exact(&mut byte)
            .map_err(|error| self.broken("unable to read from", &error))?;
        let state = State::of(byte[0]).ok_or_else(|| {
            Error::new(format!(
                "the {} sent the unknown state {}: is it an iperf3 {}?",
                self.peer,
                byte[0].cast_signed(),
                self.peer
            ))
        })?;
        match state {
            State::AccessDenied => Err(Error::Busy),
            State::ServerTerminate | State::ClientTerminate => Err(Error::Ended(self.peer)),
            State::ServerError => Err(self.server_error()),
            other => Ok(other),
        }
    }

    /// Reads the next state, which must be `state`.
    pub fn await_state(&self, state: State) -> Result<(), Error> {
        match self.read_state()? {
            received if received == state => Ok(()),
            received => Err(Error::new(format!(
                "the {} sent {received:?} instead of {state:?}",
                self.peer
            ))),
        }
    }

    pub fn read_json(&self) -> Result<Value, Error> {
        wire::read_json(self.within()).map_err(|error| self.broken("unable to read from", &error))
    }

    pub fn write_json(&self, value: &Value) -> Result<(), Error> {
        wire::write_json(&self.stream, value)
            .map_err(|error| self.broken("unable to write to", &error))
    }

    pub fn within(&self) -> Within<'_> {
        Within {
            stream: &self.stream,
            until: plimsoll_clock::now() + self.patience,
            stop: self.stop,
        }
    }

    /// Two numbers follow: iperf3's error and the system's error.
    fn server_error(&self) -> Error {
        let mut numbers = [0; 8];
        let system = self.within().read_exact(&mut numbers).ok().and_then(|()| {
            let [.., a, b, c, d] = numbers;
            let number = i32::from_be_bytes([a, b, c, d]);
            (number != 0).then(|| crate::error::describe(&io::Error::from_raw_os_error(number)))
        });
        let number = i32::from_be_bytes([numbers[0], numbers[1], numbers[2], numbers[3]]);
        match system {
            Some(text) => Error::new(format!(
                "the server could not run the test: error {number}, {text}"
            )),
            None => Error::new(format!("the server could not run the test: error {number}")),
        }
    }

    fn broken(&self, doing: &str, error: &io::Error) -> Error {
        if error.get_ref().is_some_and(|inner| inner.is::<Stopped>()) {
            return Error::Interrupted(match self.peer {
                "server" => "client",
                _ => "server",
            });
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::new(format!(
                "control socket has closed unexpectedly: the {} closed the connection",
                self.peer
            )),
            io::ErrorKind::InvalidData => Error::new(error.to_string()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                let address = self.stream.peer_addr();
                let address = address.map_or(String::new(), |address| format!(" {address}"));
                let hint = match self.peer {
                    "server" => ": is it an iperf3 server?",
                    _ => "",
                };
                Error::new(format!(
                    "the {}{address} was silent for {}{hint}",
                    self.peer,
                    plimsoll_units::duration::format(self.patience)
                ))
            }
            _ => Error::io(&format!("{doing} the {}", self.peer), error),
        }
    }
}

/// Reads from a stream until a deadline, regardless of how slowly the peer sends.
pub struct Within<'a> {
    pub stream: &'a TcpStream,
    pub until: Moment,
    /// Ends the wait when it is set.
    pub stop: &'a AtomicBool,
}

/// The error of a wait that `stop` ended.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped by a signal")
    }
}

impl std::error::Error for Stopped {}

impl Read for Within<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other(Stopped));
            }
            let left = self.until.since(plimsoll_clock::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let slice = left.clamp(Duration::from_millis(1), SLICE);
            self.stream.set_read_timeout(Some(slice))?;
            match self.stream.read(buffer) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) => {}
                read => return read,
            }
        }
    }
}
