//! The lab's side of a connection to another host, on which one process runs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::rate::measure_while_sending;
use super::super::server::{END, open_log};
use super::super::start::start;
use super::ssh::{self, Programs};
use super::{KEEP_ALIVE_INTERVAL, Prepared, Reading, Reply, Request, Start};
use crate::resolve::host::Host;

/// Time limit for replies that require no work.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time limit for a reading. It is short, because a reading must not delay the end of the load.
const READING: Duration = Duration::from_secs(2);
/// Maximum length of a reply in bytes.
const MAX_REPLY: u64 = 1 << 20;

/// A process on another host.
#[derive(Debug)]
pub struct Connection {
    /// The host's name.
    pub name: String,
    /// The address to which the load connects.
    pub address: IpAddr,
    /// Its directory, its ports, and the host.
    pub prepared: Prepared,
    requests: Arc<Mutex<Option<ChildStdin>>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    ssh: Child,
    replies: Receiver<Line>,
    /// The last reading.
    reading: Reading,
    number: u64,
    /// The reason why the process or the connection ended.
    ended: Option<String>,
}

/// A reply, or the reason why there is none.
type Line = Result<Reply, String>;

impl Connection {
    /// Connects, copies this program if necessary, and chooses ports. The output of ssh and of the
    /// process goes to `log`.
    ///
    /// # Errors
    /// The reason why the connection failed, and a fix.
    pub fn open(
        host: &Host,
        command: &[String],
        ports: usize,
        log: &Path,
    ) -> Result<Connection, String> {
        let address = ssh::address(host)?;
        let programs = Programs::of(host, command)?;
        match Connection::prepare(host, address, &programs, ports, log) {
            Ok(connection) => Ok(connection),
            Err(Unprepared::Absent(system)) => {
                programs.copy(host, &system)?;
                Connection::prepare(host, address, &programs, ports, log)
                    .map_err(|why| why.text(host))
            }
            Err(why) => Err(why.text(host)),
        }
    }

    fn prepare(
        host: &Host,
        address: IpAddr,
        programs: &Programs,
        ports: usize,
        log: &Path,
    ) -> Result<Connection, Unprepared> {
        let failed = Unprepared::Failed;
        let mut command = ssh::script(host, &programs.keep()).map_err(failed)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(open_log(log).map_err(failed)?);
        let log_length = fs::metadata(log).map_or(0, |metadata| metadata.len());
        let mut ssh =
            start(&mut command, &[]).map_err(|error| failed(format!("cannot run ssh: {error}")))?;
        let requests = Arc::new(Mutex::new(ssh.stdin.take()));
        let replies = read_replies(ssh.stdout.take());
        let mut connection = Connection {
            name: host.name().to_owned(),
            address,
            prepared: Prepared::default(),
            requests,
            state: Mutex::new(State {
                ssh,
                replies,
                reading: Reading::default(),
                number: 0,
                ended: None,
            }),
        };
        // If this fails, the missing reply is more informative.
        let _ = connection.write(&Request::Prepare(ports));
        let reply = connection.state().next(PATIENCE);
        connection.prepared = match reply {
            Ok(Ok(Reply::Prepared(prepared))) => *prepared,
            Ok(Ok(Reply::Failed(why))) => return Err(failed(why)),
            Ok(Err(line)) if Programs::absent(&line).is_some() => {
                let system = Programs::absent(&line).unwrap_or_default();
                return Err(Unprepared::Absent(system.to_owned()));
            }
            Ok(other) => return Err(failed(format!("unexpected reply: {other:?}"))),
            Err(RecvTimeoutError::Timeout) => {
                return Err(failed(format!("no reply within {} s", PATIENCE.as_secs())));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Unprepared::Refused(log_since(log, log_length)));
            }
        };
        send_keep_alives(&connection.requests);
        Ok(connection)
    }

    /// Starts the process.
    ///
    /// # Errors
    /// The reason why it does not run.
    pub fn start(&self, process: Start) -> Result<(), String> {
        match self.request_reply(&Request::Start(Box::new(process)))? {
            Reply::Started => Ok(()),
            other => Err(format!("unexpected reply: {other:?}")),
        }
    }

    /// The resources that the process and the host have used so far. If the connection is lost, the
    /// last known values.
    pub fn read(&self) -> Reading {
        let mut state = self.state();
        state.number += 1;
        let number = state.number;
        let end = Instant::now() + READING;
        let mut is_pending = state.ended.is_none() && self.write(&Request::Read(number)).is_ok();
        while is_pending {
            let left = end.saturating_duration_since(Instant::now());
            match state.next(left) {
                Ok(Ok(Reply::Read(of, reading))) => {
                    // The reply may belong to an earlier request and be late.
                    is_pending = of != number;
                    state.reading = reading;
                }
                Ok(_) => {}
                Err(_) => is_pending = false,
            }
        }
        state.reading.clone()
    }

    /// Bits per second of one stream to the host. `None` if it cannot be measured, for example because
    /// a firewall blocks the stream.
    pub fn rate(&self) -> Option<f64> {
        let Ok(Reply::SinkOpened(port)) = self.request_reply(&Request::OpenSink) else {
            return None;
        };
        let measure = || match self.request_reply(&Request::MeasureSink) {
            Ok(Reply::SinkMeasured(rate)) => Ok(rate),
            _ => Err(std::io::ErrorKind::ConnectionAborted.into()),
        };
        measure_while_sending(SocketAddr::new(self.address, port), measure).ok()?
    }

    fn request_reply(&self, request: &Request) -> Result<Reply, String> {
        let lost = || "the connection was lost".to_owned();
        self.write(request).map_err(|_| lost())?;
        let mut state = self.state();
        loop {
            return match state.next(PATIENCE) {
                // A late reply to an earlier request.
                Ok(Ok(Reply::Read(..))) => continue,
                Ok(Ok(Reply::Failed(why))) => Err(why),
                Ok(Ok(reply)) => Ok(reply),
                Ok(Err(line)) => Err(format!("unexpected reply: {line:?}")),
                Err(_) => Err(lost()),
            };
        }
    }

    /// The reason why the process or the connection ended, if it did.
    pub fn ended(&self) -> Option<String> {
        let mut state = self.state();
        while state.ended.is_none() && state.next(Duration::ZERO).is_ok() {}
        if state.ended.is_none()
            && let Ok(Some(status)) = state.ssh.try_wait()
        {
            state.ended = Some(format!(
                "the connection to {} was lost (ssh: {status}), which stops the processes there",
                self.name
            ));
        }
        state.ended.clone()
    }

    /// Stops the process and closes the connection.
    pub fn stop(&self) {
        // This program stops the process on the host when its stdin is closed.
        drop(self.requests().take());
        let mut state = self.state();
        let end = Instant::now() + END + Duration::from_secs(5);
        while matches!(state.ssh.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = state.ssh.kill();
        let _ = state.ssh.wait();
    }

    fn write(&self, request: &Request) -> std::io::Result<()> {
        write(&self.requests, request)
    }

    fn requests(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop();
    }
}

impl State {
    /// The next reply. An exit of the process is stored and not returned.
    fn next(&mut self, patience: Duration) -> Result<Line, RecvTimeoutError> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left)? {
                Ok(Reply::Ended(status)) => {
                    self.ended = Some(format!("the process exited ({status})"))
                }
                line => return Ok(line),
            }
        }
    }
}

/// Reasons why no process runs on the host.
enum Unprepared {
    /// A program is missing. Contains the host's operating system.
    Absent(String),
    /// ssh exited with this message.
    Refused(String),
    /// Another reason.
    Failed(String),
}

impl Unprepared {
    fn text(self, host: &Host) -> String {
        match self {
            Unprepared::Absent(_) => {
                "this program was copied to the host, but it is missing there".to_owned()
            }
            Unprepared::Refused(message) => ssh::explain(&message, host),
            Unprepared::Failed(why) => why,
        }
    }
}

fn write(to: &Mutex<Option<ChildStdin>>, request: &Request) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    let to = to.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
    to.write_all(&line).and_then(|()| to.flush())
}

/// Regularly confirms that the lab still exists, until the connection ends.
fn send_keep_alives(requests: &Arc<Mutex<Option<ChildStdin>>>) {
    let requests = Arc::downgrade(requests);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(KEEP_ALIVE_INTERVAL);
            let Some(requests) = requests.upgrade() else {
                return;
            };
            if write(&requests, &Request::Alive).is_err() {
                return;
            }
        }
    });
}

fn read_replies(output: Option<impl Read + Send + 'static>) -> Receiver<Line> {
    let (to, replies) = sync_channel(64);
    std::thread::spawn(move || {
        let Some(output) = output else { return };
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            let read = (&mut output).take(MAX_REPLY).read_until(b'\n', &mut line);
            let Ok(1..) = read else { return };
            let reply = serde_json::from_slice(&line)
                .map_err(|_| String::from_utf8_lossy(&line).into_owned());
            if to.send(reply).is_err() {
                return;
            }
        }
    });
    replies
}

/// The part of a log after its first `before` bytes.
fn log_since(log: &Path, before: u64) -> String {
    let log_content = fs::read(log).unwrap_or_default();
    let from = usize::try_from(before).unwrap_or(0);
    String::from_utf8_lossy(log_content.get(from..).unwrap_or_default()).into_owned()
}
