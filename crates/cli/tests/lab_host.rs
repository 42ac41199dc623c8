//! `plimsoll lab` with systems on another host, which is an SSH server on loopback with its own keys, settings and
//! port.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiny_lab::{Lab, TINY, processes_with};

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "not within two minutes: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// An SSH server, and a file with the settings to reach it as `far`.
struct Host {
    directory: tempfile::TempDir,
    server: Child,
}

impl Host {
    fn new() -> Host {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        for name in ["host_key", "key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(at(name))
                .status();
            assert!(made.expect("ssh-keygen").success());
        }
        fs::copy(at("key.pub"), at("authorized_keys")).expect("a file");
        // A separate temporary directory, in which leftover processes and files are detected.
        for name in ["tmp", "cache"] {
            fs::create_dir(at(name)).expect("a directory");
        }
        if rustix::process::geteuid().is_root() {
            // A server that root starts needs this directory, which only the system's own service creates.
            fs::create_dir_all("/run/sshd").expect("a directory");
        }
        let path = directory.path().display();
        let mut server = None;
        // Another program may take the port before the server does.
        for _ in 0..10 {
            let port = plimsoll_testkit::ports::closed().port();
            let settings = format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {path}/host_key\n\
                 AuthorizedKeysFile {path}/authorized_keys\nStrictModes no\nUsePAM no\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\n\
                 SetEnv TMPDIR={path}/tmp XDG_CACHE_HOME={path}/cache\n"
            );
            fs::write(at("sshd_config"), settings).expect("a file");
            let user = Command::new("id").arg("-un").output().expect("id").stdout;
            let user = String::from_utf8_lossy(&user).trim().to_owned();
            let settings = format!(
                "Host far\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n  IdentityFile {path}/key\n  \
                 IdentitiesOnly yes\n  UserKnownHostsFile {path}/known_hosts\n  GlobalKnownHostsFile none\n"
            );
            fs::write(at("ssh_config"), settings).expect("a file");
            let key = fs::read_to_string(at("host_key.pub")).expect("a key");
            fs::write(at("known_hosts"), format!("[127.0.0.1]:{port} {key}")).expect("a file");
            let log = fs::File::create(at("sshd.log")).expect("a file");
            let mut child = Command::new("/usr/sbin/sshd")
                .args(["-D", "-e", "-f"])
                .arg(at("sshd_config"))
                .stdin(Stdio::null())
                .stderr(log)
                .spawn()
                .expect("sshd");
            let mut ended = false;
            wait_for("the server of SSH", || {
                ended = child.try_wait().expect("a status").is_some();
                ended || TcpStream::connect(("127.0.0.1", port)).is_ok()
            });
            if !ended {
                server = Some(child);
                break;
            }
        }
        let log = fs::read_to_string(at("sshd.log")).unwrap_or_default();
        Host {
            server: server.unwrap_or_else(|| panic!("sshd does not run: {log}")),
            directory,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The tiny lab with one cell. Its system is on this host at 127.0.0.2.
    fn lab(&self, duration: &str) -> Lab {
        self.lab_with(duration, "")
    }

    /// The same lab, with additional keys for the host.
    fn lab_with(&self, duration: &str, keys: &str) -> Lab {
        let place = format!(
            "[[place]]\nname = \"far\"\nhost = \"ssh:far\"\nssh-config = \"{}\"\naddress = \"127.0.0.2\"\n{keys}\n[[system]]",
            self.at("ssh_config").display()
        );
        let text = TINY
            .replace("[[system]]", &place)
            .replace("users = [1, 2]", "users = [1]\nplace = [\"far\"]")
            .replace("how = [\"script\", \"http\"]", "how = [\"http\"]")
            .replace("LAB_TEST_PORT = ", "LAB_TEST_HOST = \"{host}\", SAID = \"$(touch hacked); 'a' \\\"b\\\"\", LAB_TEST_PORT = ")
            // The system starts only if it has a certificate.
            .replace("\"SYSTEM\"", "\"sh -c 'test -s \\\"$CERTIFICATE\\\" && exec \\\"$@\\\"' sh SYSTEM\"")
            .replace("LAB_TEST_PORT = ", "CERTIFICATE = \"{certificates.server}\", LAB_TEST_PORT = ")
            .replace("duration = \"1s\"", &format!("duration = \"{duration}\""));
        let text = format!("{text}\n[certificates]\nnames = [\"127.0.0.2\"]\n");
        Lab::new(&text)
    }

    /// The processes of labs on this host, and their private directories.
    fn is_empty(&self) -> bool {
        let tmp = self.at("tmp");
        let files = fs::read_dir(&tmp).expect("a directory").count();
        files == 0 && processes_with(&tmp).is_empty()
    }

    fn wait_until_empty(&self) {
        wait_for("the end of all processes on the host", || self.is_empty());
    }

    /// Waits until a load of this lab has begun.
    fn wait_for_load(&self, lab: &Lab) {
        wait_for("the load", || {
            fs::read_dir(lab.directory.path().join("results")).is_ok_and(|runs| {
                runs.flatten()
                    .any(|run| run.path().join("cells/1/1/record.jsonl").exists())
            })
        });
        assert!(!self.is_empty(), "the system does not run on the host");
    }

    /// Kills the processes of the SSH server that each serve one connection.
    fn drop_connections(&self) {
        let children = format!("/proc/{0}/task/{0}/children", self.server.id());
        let children = fs::read_to_string(children).expect("children");
        assert!(!children.trim().is_empty(), "no connection");
        for pid in children.split_whitespace() {
            // If the user is not root, a child process serves the connection.
            let below = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            for pid in below.unwrap_or_default().split_whitespace().chain([pid]) {
                let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                if name.starts_with("sshd") {
                    let _ = Command::new("kill").args(["-KILL", pid]).status();
                }
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_system_on_another_host_is_started_measured_and_stopped() {
    let host = Host::new();
    let lab = host.lab("2s");
    let result = lab.run_well();
    assert!(host.is_empty(), "{:?}", processes_with(&host.at("tmp")));
    let cell = &result["cells"][0];
    assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
    assert_eq!(cell["repeats"][0]["failed"], 0, "{cell:#}");
    assert!(cell["repeats"][0]["requests"].as_u64() > Some(0));
    assert_eq!(cell["link"]["by"], "the network to another host");
    assert!(cell["link"]["measured_connect_ms"].is_number(), "{cell:#}");
    let rate = cell["link"]["measured_megabits_per_second"].as_f64();
    assert!(rate > Some(1.0), "{cell:#}");
    let report = fs::read_to_string(lab.the_run().join("report.md")).expect("a report");
    assert!(report.contains("far: another host"), "{report}");
    // The load goes to the host's address, not through SSH.
    let command = cell["command"].as_str().expect("text");
    assert!(command.contains("http://127.0.0.2:"), "{command}");
    // The CPU time is that of the process on the host.
    let used = &cell["repeats"][0]["used"][0];
    assert_eq!(used["name"], "pages", "{used:#}");
    assert!(used["cpu_seconds"].as_f64() > Some(0.0), "{used:#}");
    assert!(used["threads"].as_u64() >= Some(2), "{used:#}");
    let there = &result["hosts"][0];
    assert_eq!(there["name"], "far");
    assert_eq!(there["processes"], json!(["pages"]));
    let here = &result["environment"];
    // In this test, both hosts are the same machine.
    assert_eq!(there["environment"]["kernel"], here["kernel"]);
    assert_eq!(there["environment"]["cpu"], here["cpu"]);
    let processors = here["cpus"].as_f64().expect("a number");
    for busy in there["busy_processors"].as_array().expect("a range") {
        let busy = busy.as_f64().expect("a number");
        assert!(busy > 0.0 && busy < processors * 1.2, "{there:#}");
    }
    let page = fs::read_to_string(lab.the_run().join("cells/environment.md")).expect("a page");
    assert!(page.contains("Host far, over SSH"), "{page}");
    assert!(page.contains("processors busy during the load"), "{page}");
    let hacked = |path: &Path| path.join("hacked").exists();
    assert!(!hacked(lab.directory.path()) && !hacked(host.directory.path()));

    // The program is copied only once.
    let programs = host.at("cache/plimsoll/programs");
    let copied = |directory: &Path| {
        let version = fs::read_dir(directory).expect("programs").flatten().next();
        let path = version.expect("a version").path().join("plimsoll");
        fs::metadata(path)
            .expect("the program")
            .modified()
            .expect("a time")
    };
    let before = copied(&programs);
    host.lab("1s").run_well();
    assert_eq!(copied(&programs), before);
    assert!(host.is_empty());
}

#[test]
fn processes_on_a_host_end_when_the_connection_is_lost_and_the_lab_says_so() {
    let host = Host::new();
    let lab = host.lab("4s");
    let child = lab
        .command(&["run", "lab.toml"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    host.wait_for_load(&lab);
    host.drop_connections();
    host.wait_until_empty();
    let output = child.wait_with_output().expect("its end");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("the connection to far was lost"),
        "{stderr}"
    );
    lab.assert_nothing_is_left();
    let cell = &lab.result()["cells"][0];
    assert_eq!(cell["verdict"], "invalid", "{cell:#}");
    let reasons = cell["reasons"].to_string();
    assert!(
        reasons.contains("the connection to far was lost"),
        "{reasons}"
    );
}

#[test]
fn processes_on_a_host_end_when_the_lab_is_killed() {
    let host = Host::new();
    // An existing program is not copied. Its path contains shell syntax.
    let program = host.at("it's $(this)");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_plimsoll"), &program).expect("a link");
    let lab = host.lab_with("10m", &format!("program = \"{}\"\n", program.display()));
    let mut keeper = lab.command(&["run", "lab.toml"]).spawn().expect("it runs");
    host.wait_for_load(&lab);
    let children = format!("/proc/{0}/task/{0}/children", keeper.id());
    let worker = fs::read_to_string(children).expect("children");
    for pid in [worker.trim(), &keeper.id().to_string()] {
        let killed = Command::new("kill").args(["-KILL", pid]).status();
        assert!(killed.expect("kill").success());
    }
    keeper.wait().expect("its end");
    host.wait_until_empty();
    assert_eq!(
        fs::read_dir(host.at("cache")).expect("a directory").count(),
        0
    );
}

#[test]
fn an_unknown_host_is_refused() {
    let host = Host::new();
    fs::write(host.at("known_hosts"), "").expect("a file");
    let lab = host.lab("1s");
    let output = lab.run(&["run", "lab.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("the lab connects to known hosts only"),
        "{stderr}"
    );
    assert!(
        stderr.contains("lab.toml:"),
        "the line is missing: {stderr}"
    );
    assert_eq!(
        fs::read_to_string(host.at("known_hosts")).expect("a file"),
        ""
    );
    assert_eq!(
        fs::read_dir(host.at("cache")).expect("a directory").count(),
        0
    );
    lab.assert_nothing_is_left();
}

/// Runs `plimsoll lab keep`, as SSH does.
struct Keep {
    child: Child,
    replies: BufReader<std::process::ChildStdout>,
    tmp: tempfile::TempDir,
}

impl Keep {
    fn new() -> Keep {
        let tmp = tempfile::tempdir().expect("a directory");
        let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(["lab", "keep"])
            .env("TMPDIR", tmp.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let replies = BufReader::new(child.stdout.take().expect("a pipe"));
        Keep {
            child,
            replies,
            tmp,
        }
    }

    fn ask(&mut self, request: &Value) -> Value {
        let input = self.child.stdin.as_mut().expect("a pipe");
        writeln!(input, "{request}").expect("it reads");
        let mut line = String::new();
        self.replies.read_line(&mut line).expect("a reply");
        serde_json::from_str(&line).expect("JSON")
    }

    /// A process that ignores SIGTERM, and its child process.
    fn start_stubborn(&mut self) {
        let prepared = self.ask(&json!({ "prepare": 3 }));
        let ports = prepared["prepared"]["ports"].as_array().expect("ports");
        assert_eq!(ports.len(), 3, "{prepared}");
        let script = "trap '' TERM; cat words > seen; (trap '' TERM; sleep 600) & sleep 600";
        let start = json!({ "start": {
            "command": ["sh", "-c", script],
            "environment": [], "files": [["words", "$(id); 'x'"]], "directory": null, "cpus": [],
        }});
        assert_eq!(self.ask(&start), json!("started"));
    }

    fn is_empty(&self) -> bool {
        let files = fs::read_dir(self.tmp.path()).expect("a directory").count();
        files == 0 && processes_with(self.tmp.path()).is_empty()
    }
}

#[test]
fn a_process_and_its_files_are_removed_when_the_lab_disappears() {
    let mut keep = Keep::new();
    keep.start_stubborn();
    let private = fs::read_dir(keep.tmp.path())
        .expect("a directory")
        .flatten()
        .next();
    let seen = private.expect("a private directory").path().join("seen");
    wait_for("the file of the process", || {
        fs::read_to_string(&seen).is_ok_and(|text| text == "$(id); 'x'")
    });
    let mut number = 0;
    wait_for("a reading of all processes", || {
        number += 1;
        let reading = keep.ask(&json!({ "read": number }));
        assert_eq!(reading["read"][0], number, "{reading}");
        let processes = reading["read"][1]["processes"].as_array();
        processes.expect("processes").len() >= 3
    });
    drop(keep.child.stdin.take());
    assert!(keep.child.wait().expect("its end").success());
    assert!(keep.is_empty());
}

#[test]
fn a_silent_lab_counts_as_disconnected() {
    let mut keep = Keep::new();
    keep.start_stubborn();
    // Its stdin stays open, as when a network is cut.
    wait_for("its end", || {
        keep.child.try_wait().expect("a status").is_some()
    });
    assert!(keep.is_empty());
}

#[test]
fn files_outside_the_private_directory_are_refused() {
    let mut keep = Keep::new();
    for name in ["../x", "/tmp/x", "a/b", "..", ""] {
        let start = json!({ "start": {
            "command": ["true"], "environment": [], "files": [[name, ""]], "directory": null, "cpus": [],
        }});
        let reply = keep.ask(&start);
        let why = reply["failed"].as_str().expect("it is refused");
        assert!(why.contains("is not a file name"), "{why}");
    }
    drop(keep.child.stdin.take());
    keep.child.wait().expect("its end");
}

#[test]
fn mistakes_in_a_host_are_reported_with_their_lines() {
    for (host, command, message) in [
        ("me@machine", "SYSTEM", "is not a host: write ssh:"),
        (
            "ssh:-oProxyCommand=touch${IFS}x",
            "SYSTEM",
            "is not a host name or address",
        ),
        (
            "ssh:me@machine; touch x",
            "SYSTEM",
            "is not a host name or address",
        ),
        ("ssh:", "SYSTEM", "is not a host name or address"),
        (
            "ssh:me@machine",
            "SYSTEM 127.0.0.1:{port}",
            "write {address}",
        ),
        (
            "ssh:me@machine\"\nrate = \"1Mbit/s",
            "SYSTEM",
            "is real, and the lab does not change it: remove rate",
        ),
    ] {
        let place = format!("[[place]]\nname = \"far\"\nhost = \"{host}\"\n\n[[system]]");
        let text = TINY
            .replace("[[system]]", &place)
            .replace("users = [1, 2]", "users = [1]\nplace = [\"far\"]")
            .replace(
                "\"SYSTEM\"",
                &format!("\"{}\"", command.replace("SYSTEM", "a-system")),
            );
        let lab = Lab::new(&text);
        let output = lab.run(&["plan", "lab.toml"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(0), "{stderr}");
        assert!(
            stderr.contains(message) && stderr.contains("lab.toml:"),
            "{host}: {stderr}"
        );
    }
}
