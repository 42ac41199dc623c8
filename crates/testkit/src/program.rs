//! Runs a built program as a user would, and records the result.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

/// A program with its arguments and environment. It inherits only `PATH` from the caller's
/// environment.
pub struct Program {
    command: Command,
    input: Vec<u8>,
    limit: Duration,
}

/// The result of running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit status; `None` if a signal killed the program.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    /// The program at `path`. In tests of its own crate, that is `env!("CARGO_BIN_EXE_name")`.
    pub fn at(path: impl AsRef<OsStr>) -> Program {
        let mut command = Command::new(path);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // A crash must show its location in every environment.
        command.env("RUST_BACKTRACE", "1");
        Program {
            command,
            input: Vec::new(),
            limit: Duration::from_secs(60),
        }
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Program {
        self.command.arg(argument);
        self
    }

    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Program {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Program {
        self.command.env(name, value);
        self
    }

    /// Sets the working directory to `folder`.
    pub fn inside(mut self, folder: impl AsRef<Path>) -> Program {
        self.command.current_dir(folder);
        self
    }

    /// Sets the program's stdin, which is empty by default.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Program {
        self.input = bytes.into();
        self
    }

    /// Sets the time limit, one minute by default. If it is exceeded, the program is killed and the
    /// test fails.
    pub fn limit(mut self, limit: Duration) -> Program {
        self.limit = limit;
        self
    }

    /// Runs the program until it exits.
    ///
    /// # Panics
    /// If it cannot be started, or takes longer than the limit.
    pub fn run(self) -> Ended {
        self.start().wait()
    }

    /// Starts the program. Dropping the returned value kills it.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(mut self) -> Running {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self
            .command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command.get_program()));
        if let Some(mut stdin) = child.stdin.take() {
            let input = std::mem::take(&mut self.input);
            // A program that does not read all its input may close stdin.
            thread::spawn(move || stdin.write_all(&input).ok());
        }
        let (message, lines) = mpsc::channel();
        let stdout = child.stdout.take().map(|pipe| collect(pipe, Some(message)));
        let stderr = child.stderr.take().map(|pipe| collect(pipe, None));
        Running {
            name: format!("{:?}", self.command.get_program()),
            child,
            lines,
            stdout,
            stderr,
            deadline: Instant::now() + self.limit,
        }
    }
}

type Collected = Option<JoinHandle<String>>;

/// Reads `pipe` to its end, and forwards each line.
fn collect(
    pipe: impl Read + Send + 'static,
    lines: Option<mpsc::Sender<String>>,
) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut text = String::new();
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let read = String::from_utf8_lossy(&line).into_owned();
            text.push_str(&read);
            if let Some(lines) = &lines {
                // The test may no longer receive lines.
                let _ = lines.send(read.trim_end().to_owned());
            }
            line.clear();
        }
        text
    })
}

/// A running program, which is killed when it is dropped.
pub struct Running {
    name: String,
    child: Child,
    lines: mpsc::Receiver<String>,
    stdout: Collected,
    stderr: Collected,
    deadline: Instant,
}

impl Running {
    /// The next line of stdout.
    ///
    /// # Panics
    /// If there is no line within the limit.
    pub fn line(&mut self) -> String {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => line,
            Err(error) => {
                let _ = self.child.kill();
                let stderr = join(&mut self.stderr);
                panic!(
                    "{}: no further line of output ({error}); on stderr:\n{stderr}",
                    self.name
                )
            }
        }
    }

    /// The program's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The program's maximum memory so far in bytes; `None` if the system does not report it.
    pub fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes << 10)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // The program may have exited already, which the test will detect.
        let _ = id.map(|id| kill_process(id, signal));
    }

    /// Waits until the program exits.
    ///
    /// # Panics
    /// If it does not exit within the limit.
    pub fn wait(mut self) -> Ended {
        let status = self.wait_for_status();
        Ended {
            status: status.code(),
            stdout: join(&mut self.stdout),
            stderr: join(&mut self.stderr),
        }
    }

    fn wait_for_status(&mut self) -> ExitStatus {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status,
                Ok(None) if Instant::now() < self.deadline => {
                    thread::sleep(Duration::from_millis(2))
                }
                Ok(None) => {
                    let _ = self.child.kill();
                    let (stdout, stderr) = (join(&mut self.stdout), join(&mut self.stderr));
                    panic!(
                        "{} did not end in time; it printed:\n{stdout}\n{stderr}",
                        self.name
                    )
                }
                Err(error) => panic!("{}: {error}", self.name),
            }
        }
    }
}

fn join(pipe: &mut Collected) -> String {
    pipe.take()
        .and_then(|pipe| pipe.join().ok())
        .unwrap_or_default()
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_of_a_program_are_recorded() {
        let ended = Program::at("sh")
            .args(["-c", "cat; echo $WORD >&2; exit 3"])
            .env("WORD", "said")
            .input("read")
            .run();
        assert_eq!(
            ended,
            Ended {
                status: Some(3),
                stdout: "read".into(),
                stderr: "said\n".into()
            }
        );
    }

    #[test]
    fn lines_are_printed_before_the_end_and_signals_arrive() {
        let mut running = Program::at("sh")
            .args([
                "-c",
                "trap 'echo ending; exit 0' TERM; echo ready; while :; do sleep 0.01; done",
            ])
            .start();
        assert_eq!(running.line(), "ready");
        running.signal(Signal::TERM);
        let ended = running.wait();
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (Some(0), "ready\nending\n")
        );
    }

    #[test]
    #[should_panic(expected = "did not end in time")]
    fn a_program_is_killed_at_the_limit() {
        Program::at("sh")
            .args(["-c", "exec sleep 60"])
            .limit(Duration::from_millis(50))
            .run();
    }
}
