//! `plimsoll lab keep`: starts one process for a lab on another host, and stops it when the lab
//! ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use plimsoll_machine::{MachineReading, ProcessReading, descendants};
use plimsoll_results::environment::Environment;
use rustix::process::Signal;

use super::super::keeper::{adopt_orphans, kill_descendants, private_name, signal};
use super::super::rate::Sink;
use super::super::server::END;
use super::super::start::start;
use super::{KEEP_ALIVE_TIMEOUT, Prepared, RATE_DURATION, Reading, Reply, Request, Start};

/// Maximum length of a message in bytes. A message contains the files of a process.
const MAX_MESSAGE: u64 = 64 << 20;
/// Maximum number of ports of a process.
const MAX_PORTS: usize = 64;

/// Handles the lab's requests until the lab is gone or silent, or `stop` is set. After that, no
/// process and no file remains.
///
/// # Errors
/// The reason why the preparation failed.
pub fn keep(
    input: impl Read + Send + 'static,
    output: &mut impl Write,
    stop: &AtomicBool,
) -> Result<(), String> {
    adopt_orphans();
    let directory = private_name("lab");
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&directory)
        .map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
    let requests = read_lines(input);
    let mut kept = Session {
        directory: &directory,
        child: None,
        sink: None,
    };
    let done = kept.follow(&requests, output, stop);
    if let Some(child) = &mut kept.child {
        end(child);
    }
    kill_descendants();
    let _ = fs::remove_dir_all(&directory);
    done
}

/// The lines of the input. The channel ends with the input, or after a line that is not a request.
fn read_lines(input: impl Read + Send + 'static) -> Receiver<Request> {
    let (to, requests) = sync_channel(16);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let mut line = Vec::new();
            let read = (&mut input).take(MAX_MESSAGE).read_until(b'\n', &mut line);
            let Ok(1..) = read else { return };
            let Ok(request) = serde_json::from_slice(&line) else {
                return;
            };
            if to.send(request).is_err() {
                return;
            }
        }
    });
    requests
}

struct Session<'a> {
    directory: &'a Path,
    child: Option<Child>,
    sink: Option<Sink>,
}

impl Session<'_> {
    fn follow(
        &mut self,
        requests: &Receiver<Request>,
        output: &mut impl Write,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let mut last_message = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let reply = match requests.recv_timeout(Duration::from_millis(100)) {
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if last_message.elapsed() > KEEP_ALIVE_TIMEOUT => {
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => None,
                Ok(request) => {
                    last_message = Instant::now();
                    self.reply(request)
                }
            };
            let ended = self.ended();
            for reply in reply.into_iter().chain(ended) {
                let mut line = serde_json::to_vec(&reply).map_err(|error| error.to_string())?;
                line.push(b'\n');
                if output
                    .write_all(&line)
                    .and_then(|()| output.flush())
                    .is_err()
                {
                    // The lab no longer exists, so nobody reads the output.
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn reply(&mut self, request: Request) -> Option<Reply> {
        match request {
            Request::Alive => None,
            Request::Prepare(ports) => Some(match free_ports(ports.min(MAX_PORTS)) {
                Ok(ports) => Reply::Prepared(Box::new(Prepared {
                    directory: self.directory.display().to_string(),
                    ports,
                    environment: Environment::here(),
                })),
                Err(error) => Reply::Failed(format!("no free port: {error}")),
            }),
            Request::Start(_) if self.child.is_some() => {
                Some(Reply::Failed("a process is already running".to_owned()))
            }
            Request::Start(process) => Some(match launch(&process, self.directory) {
                Ok(child) => {
                    self.child = Some(child);
                    Reply::Started
                }
                Err(why) => Reply::Failed(why),
            }),
            Request::OpenSink => Some(match Sink::open_at(Ipv4Addr::UNSPECIFIED.into()) {
                Ok(sink) => {
                    let port = sink.port;
                    self.sink = Some(sink);
                    Reply::SinkOpened(port)
                }
                Err(error) => Reply::Failed(format!("no free port: {error}")),
            }),
            Request::MeasureSink => {
                let sink = self.sink.take();
                let rate = sink.and_then(|sink| sink.receive(RATE_DURATION).ok().flatten());
                Some(Reply::SinkMeasured(rate))
            }
            Request::Read(number) => Some(Reply::Read(number, self.read())),
        }
    }

    /// The exit status of the process. It is returned only once.
    fn ended(&mut self) -> Option<Reply> {
        let status = self.child.as_mut()?.try_wait().ok()??;
        self.child = None;
        Some(Reply::Ended(status.to_string()))
    }

    fn read(&self) -> Reading {
        let machine = MachineReading::now();
        let pids = self.child.iter().flat_map(|child| {
            let pid = child.id();
            std::iter::once(pid).chain(descendants(pid))
        });
        Reading {
            processes: pids
                .filter_map(|pid| Some((pid, ProcessReading::of(pid)?.into())))
                .collect(),
            at: machine.span.as_secs_f64(),
            busy: machine.allowed_busy.map(|busy| busy.as_secs_f64()),
        }
    }
}

/// Ports that are free on all addresses.
fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    // Keep all of them open at the same time, so they differ.
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))
        .collect::<std::io::Result<_>>()?;
    listeners
        .iter()
        .map(|listener| Ok(listener.local_addr()?.port()))
        .collect()
}

fn launch(process: &Start, directory: &Path) -> Result<Child, String> {
    for (name, text) in &process.files {
        let mut parts = Path::new(name).components();
        let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
            return Err(format!("{name:?} is not a file name"));
        };
        fs::write(directory.join(name), text)
            .map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    let (first, arguments) = process
        .command
        .split_first()
        .ok_or("the command is empty")?;
    let program = match first.as_str() {
        "plimsoll" => std::env::current_exe().map_err(|error| error.to_string())?,
        "plimsoll-serve" => next_to_this_program(first),
        _ => PathBuf::from(first),
    };
    let talk = || {
        let talk = std::io::stderr().as_fd().try_clone_to_owned();
        talk.map(Stdio::from).map_err(|error| error.to_string())
    };
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env("TMPDIR", directory)
        .envs(
            process
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .current_dir(process.directory.as_deref().map_or(directory, Path::new))
        .stdin(Stdio::null())
        // Our own stdout is used for replies.
        .stdout(talk()?)
        .stderr(talk()?);
    start(&mut command, &process.cpus)
        .map_err(|error| format!("cannot run {}: {error}", program.display()))
}

fn next_to_this_program(name: &str) -> PathBuf {
    let us = std::env::current_exe().ok();
    let sibling = us.and_then(|us| Some(us.parent()?.join(name)));
    sibling
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(name))
}

/// Asks a process to exit, and waits until it has.
fn end(child: &mut Child) {
    signal(child.id(), Signal::TERM);
    let end = Instant::now() + END;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
}
