//! A server's process: start, kill, restart, and cleanup.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Time limit for a start.
const START: Duration = Duration::from_secs(60);

/// Time limit for a graceful stop.
const END: Duration = Duration::from_secs(20);

/// Number of attempts to start. An attempt fails if another process has taken the port in the
/// meantime.
const ATTEMPTS: usize = 5;

type MakeCommand = Box<dyn Fn(&Path, u16) -> Command + Send + Sync>;
type IsReady = Box<dyn Fn(SocketAddr) -> bool + Send + Sync>;

/// A running server, or a server that was killed.
pub struct Server {
    name: &'static str,
    directory: TempDir,
    port: u16,
    command: MakeCommand,
    ready: IsReady,
    /// The signal for a graceful stop, and the signal for a quick stop that includes the server's
    /// children.
    end: [Signal; 2],
    running: Option<Running>,
}

struct Running {
    child: Child,
    /// Stops the server if this process exits without stopping it.
    watcher: Child,
    _until: Option<ChildStdin>,
}

impl Server {
    /// Starts a server. `prepare` fills its directory, `command` returns the command for its directory
    /// and port, and `ready` checks whether it accepts requests.
    pub(crate) fn start(
        name: &'static str,
        prepare: impl FnOnce(&Path),
        command: impl Fn(&Path, u16) -> Command + Send + Sync + 'static,
        ready: impl Fn(SocketAddr) -> bool + Send + Sync + 'static,
        end: [Signal; 2],
    ) -> Server {
        let directory = tempfile::Builder::new()
            .prefix(&format!("plimsoll-{name}-"))
            .tempdir()
            .expect("cannot create a temporary directory");
        prepare(directory.path());
        let mut server = Server {
            name,
            directory,
            port: 0,
            command: Box::new(command),
            ready: Box::new(ready),
            end,
            running: None,
        };
        for attempt in 1.. {
            server.port = free_port();
            match server.try_start() {
                Ok(()) => break,
                Err(_) if attempt < ATTEMPTS => {}
                Err(error) => panic!("{error}"),
            }
        }
        server
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The server's directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The server's output so far.
    pub fn output(&self) -> String {
        fs::read(self.directory.path().join("said"))
            .map(|output| String::from_utf8_lossy(&output).into_owned())
            .unwrap_or_default()
    }

    /// The server's process id, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.child.id())
    }

    /// Kills the server and its children with SIGKILL, like a crash. Its files remain.
    pub fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            let children = children_of(running.child.id());
            signal(running.child.id(), Signal::KILL);
            for child in &children {
                signal(*child, Signal::KILL);
            }
            running.reap();
            let deadline = Instant::now() + END;
            while children.iter().any(|child| exists(*child)) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Stops the server gracefully.
    pub fn stop(&mut self) {
        self.end(self.end[0]);
    }

    fn end(&mut self, how: Signal) {
        if let Some(mut running) = self.running.take() {
            signal(running.child.id(), how);
            let deadline = Instant::now() + END;
            while matches!(running.child.try_wait(), Ok(None)) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(2));
            }
            signal(running.child.id(), Signal::KILL);
            running.reap();
        }
    }

    /// Suspends the server: connections stay open, but it does not respond.
    pub fn suspend(&self) {
        let Some(pid) = self.pid() else { return };
        // A running process stops a moment after the signal. Until then it can start another child.
        suspend(pid);
        for child in children_of(pid) {
            suspend(child);
        }
    }

    pub fn resume(&self) {
        let Some(pid) = self.pid() else { return };
        for process in children_of(pid).into_iter().chain([pid]) {
            signal(process, Signal::CONT);
        }
    }

    /// Restarts the server after [`Server::kill`] or [`Server::stop`], on the same port and in the same
    /// directory.
    pub fn restart(&mut self) {
        self.stop();
        self.try_start().unwrap_or_else(|error| panic!("{error}"));
    }

    fn try_start(&mut self) -> Result<(), String> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.directory.path().join("said"))
            .expect("cannot write to the server's directory");
        let mut command = (self.command)(self.directory.path(), self.port);
        let child = command
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("cannot duplicate the file handle"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", command.get_program()));
        let mut running = Running::watched(child, self.directory.path());
        let deadline = Instant::now() + START;
        while !(self.ready)(self.address()) {
            let ended = running.child.try_wait().ok().flatten();
            if let Some(status) = ended {
                running.reap();
                return Err(format!(
                    "{} exited immediately with {status}:\n{}",
                    self.name,
                    self.output()
                ));
            }
            if Instant::now() > deadline {
                signal(running.child.id(), Signal::KILL);
                running.reap();
                return Err(format!(
                    "{} is not ready after {START:?}:\n{}",
                    self.name,
                    self.output()
                ));
            }
            thread::sleep(Duration::from_millis(10));
        }
        // Another process may have taken the port in the meantime, and this one may still wait for it.
        if !has_listener(running.child.id(), self.port) {
            signal(running.child.id(), Signal::KILL);
            running.reap();
            return Err(format!(
                "another process listens on port {} of {}",
                self.port, self.name
            ));
        }
        self.running = Some(running);
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(self.end[1]);
    }
}

impl Running {
    /// The watcher's stdin closes when this process exits, for whatever reason.
    fn watched(child: Child, directory: &Path) -> Running {
        let script = "cat >/dev/null; for child in $(pgrep -P $1); do kill -9 $child; done; \
                      kill -9 $1; sleep 0.1; rm -rf -- \"$2\"";
        let mut watcher = Command::new("sh")
            .args(["-c", script, "watcher", &child.id().to_string()])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("cannot run a shell");
        let until = watcher.stdin.take();
        Running {
            child,
            watcher,
            _until: until,
        }
    }

    fn reap(mut self) {
        // Stop the watcher first, so it cannot kill another process that gets the same id.
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
        let _ = self.child.wait();
    }
}

/// Whether a program accepts connections on the port.
pub(crate) fn listens(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

fn signal(process: u32, which: Signal) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // The process may have exited already.
        let _ = kill_process(pid, which);
    }
}

fn exists(process: u32) -> bool {
    stat(process).is_some_and(|(state, _)| state != 'Z')
}

/// Whether the process or one of its descendants has a TCP socket that listens on the port.
fn has_listener(process: u32, port: u16) -> bool {
    let mut sockets = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let table = fs::read_to_string(table).unwrap_or_default();
        sockets.extend(table.lines().filter_map(|line| listener(line, port)));
    }
    let mut processes = vec![process];
    while let Some(process) = processes.pop() {
        let files = fs::read_dir(format!("/proc/{process}/fd"));
        let mut links = files
            .into_iter()
            .flatten()
            .filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        if links.any(|link| {
            sockets
                .iter()
                .any(|socket| link.as_os_str() == socket.as_str())
        }) {
            return true;
        }
        processes.extend(children_of(process));
    }
    false
}

/// The name in /proc/pid/fd of the socket in a line of /proc/net/tcp (proc_pid_net(5)), if it listens on the
/// port. Fields from 0: 1 is the local address and port in hexadecimal, 3 the state (0A listens), and 9 the inode.
fn listener(line: &str, port: u16) -> Option<String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let local = fields.get(1)?.rsplit_once(':')?.1;
    let listens = u16::from_str_radix(local, 16) == Ok(port) && *fields.get(3)? == "0A";
    listens.then(|| Some(format!("socket:[{}]", fields.get(9)?)))?
}

/// Suspends a process and waits until it has stopped (state T, proc(5)) or no longer exists.
fn suspend(process: u32) {
    signal(process, Signal::STOP);
    let deadline = Instant::now() + END;
    while stat(process).is_some_and(|(state, _)| !matches!(state, 'T' | 'Z' | 'X')) {
        assert!(
            Instant::now() < deadline,
            "process {process} did not stop after SIGSTOP"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

/// The running processes that `parent` started.
fn children_of(parent: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|process| stat(*process).is_some_and(|(_, its)| its == parent))
        .collect()
}

/// A process's state and its parent's id, from /proc/pid/stat (proc(5)). The name before them is in
/// parentheses and may contain any characters.
fn stat(process: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{http, program};

    /// Starts nginx. It tries for two seconds to bind a port that another process has.
    fn nginx(before: impl Fn(u16) + Send + Sync + 'static) -> Server {
        Server::start(
            "nginx",
            |_| {},
            move |directory, port| {
                before(port);
                let file = directory.join("nginx.conf");
                let text = format!(
                    "events {{}} http {{ access_log off; server {{ listen 127.0.0.1:{port}; }} }}"
                );
                fs::write(&file, text).unwrap();
                let mut nginx = Command::new(program::find("nginx", &["/usr/sbin"], "nginx-light"));
                nginx.arg("-p").arg(directory).arg("-c").arg(file);
                nginx.args(["-e", "stderr", "-g", "daemon off; pid nginx.pid;"]);
                nginx
            },
            listens,
            [Signal::QUIT, Signal::TERM],
        )
    }

    #[test]
    fn a_server_that_waits_for_its_port_is_not_taken_for_the_process_that_has_it() {
        // Takes the port of the first attempt, as another test can.
        let other = Mutex::new(None);
        let server = nginx(move |port| {
            let mut other = other.lock().unwrap();
            if other.is_none() {
                *other = Some(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
            }
        });
        assert!(has_listener(server.pid().unwrap(), server.address().port()));
        assert!(http::get(server.address(), "/").is_ok());
    }

    #[test]
    fn all_processes_of_a_suspended_server_have_stopped() {
        let server = nginx(|_| {});
        for _ in 0..20 {
            server.suspend();
            let pid = server.pid().unwrap();
            let processes: Vec<u32> = children_of(pid).into_iter().chain([pid]).collect();
            for process in processes {
                assert_eq!(stat(process).map(|(state, _)| state), Some('T'));
            }
            server.resume();
            assert!(http::get(server.address(), "/").is_ok());
        }
    }
}
