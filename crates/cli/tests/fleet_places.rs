//! `plimsoll fleet up`: agents that are started with SSH, using an SSH server on loopback, and manifests for
//! Kubernetes.

#![cfg(target_os = "linux")]

mod plimsoll;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Program, Running, Signal};
use serde_json::Value;

fn wait_for_port(port: u16) {
    let started = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An SSH server with its own keys and port, and the arguments for `ssh` to reach it.
fn ssh_server(folder: &Path) -> (Running, Vec<String>) {
    let at = |name: &str| folder.join(name).display().to_string();
    for name in ["host_key", "key"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f", &at(name)])
            .status();
        assert!(made.unwrap().success());
    }
    if rustix::process::geteuid().is_root() {
        // A server that root starts needs this directory, which only the system's own service creates.
        fs::create_dir_all("/run/sshd").unwrap();
    }
    let port = ports::closed().port();
    let settings = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\nSetEnv HOME={}\n",
        at("host_key"),
        at("key.pub"),
        folder.display()
    );
    fs::write(at("sshd_config"), settings).unwrap();
    let key = fs::read_to_string(at("host_key.pub")).unwrap();
    fs::write(at("known_hosts"), format!("[127.0.0.1]:{port} {key}")).unwrap();
    let server = Program::at("/usr/sbin/sshd")
        .args(["-D", "-e", "-f", &at("sshd_config")])
        .start();
    wait_for_port(port);
    let options = [
        "-F".to_owned(),
        "/dev/null".to_owned(),
        "-p".to_owned(),
        port.to_string(),
        "-i".to_owned(),
        at("key"),
        "-o".to_owned(),
        format!("UserKnownHostsFile={}", at("known_hosts")),
    ];
    (server, options.into())
}

/// The processes of agents whose program is below this directory.
fn agents_below(folder: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let start = folder.display().to_string();
    let is_agent = |command: &Vec<u8>| {
        let command = String::from_utf8_lossy(command);
        command.starts_with(&start) && command.contains("\0agent\0")
    };
    commands.filter(is_agent).count()
}

#[test]
fn agents_start_with_ssh_and_stop_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let (_sshd, options) = ssh_server(folder.path());
    let port = ports::closed().port();
    let _server = plimsoll(&["fleet", "serve", "--listen", &format!("127.0.0.1:{port}")])
        .args(["--folder", folder.path().to_str().unwrap()])
        .start();
    wait_for_port(port);
    let place = folder.path().join("agents of a test");
    let hosts = format!(
        "[[host]]\naddress = \"127.0.0.1\"\nagents = 2\nregion = \"here\"\ndirectory = {:?}\nssh = {options:?}\nagent = [\"--spool\", {:?}]\n",
        place,
        folder.path().join("spool"),
    );
    let hosts_file = folder.path().join("hosts.toml");
    fs::write(&hosts_file, hosts).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let up = || {
        plimsoll(&[
            "fleet",
            "up",
            "--ssh",
            &at("hosts.toml"),
            "--access",
            &at("agent.json"),
        ])
        .limit(Duration::from_secs(120))
        .start()
    };
    let service = Peer::start(Play::ok("hello"));
    let run = || {
        plimsoll(&[
            "http",
            "--fleet",
            "here=2",
            "-u",
            "4",
            "-n",
            "40",
            &service.url(),
        ])
        .args([
            "--fleet-server",
            &at("coordinator.json"),
            "--fleet-wait",
            "60s",
        ])
        .limit(Duration::from_secs(120))
        .run()
    };
    let wait_for_agents = |number| {
        let started = Instant::now();
        while agents_below(&place) != number {
            assert!(started.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // The program is copied only once.
    for expected in ["copying this program", "has this program already"] {
        let placed = up();
        wait_for_agents(2);
        if service.requests() == 0 {
            let ended = run();
            assert_eq!(ended.status, Some(0), "{}", ended.stderr);
            assert!(
                ended
                    .stderr
                    .contains("fleet: complete: every sample of 2 agents"),
                "{}",
                ended.stderr
            );
            assert_eq!(service.requests(), 40);
        }
        placed.signal(Signal::INT);
        let ended = placed.wait();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        wait_for_agents(0);
    }
    // Only the user can read the credentials.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(place.join("agent.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn unreachable_machines_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("agent.json");
    fs::write(&access, "{}").unwrap();
    let hosts = folder.path().join("hosts.toml");
    let port = ports::closed().port();
    let text = format!(
        "[[host]]\naddress = \"127.0.0.1\"\nssh = [\"-F\", \"/dev/null\", \"-p\", \"{port}\"]\n"
    );
    fs::write(&hosts, text).unwrap();
    let ended = plimsoll(&["fleet", "up", "--ssh", hosts.to_str().unwrap()])
        .args(["--access", access.to_str().unwrap()])
        .run();
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(ended.stderr.contains("127.0.0.1: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("refused"), "{}", ended.stderr);
}

fn manifests(folder: &Path) -> PathBuf {
    let access = folder.join("agent.json");
    fs::write(
        &access,
        "{\"address\": \"tls://nats:4222\", \"password\": \"hush\"}",
    )
    .unwrap();
    let ended = plimsoll(&["fleet", "up", "--kubernetes", "--print", "--agents", "20"])
        .args(["--image", "registry.example/plimsoll:1", "--region", "eu"])
        .args(["--access", access.to_str().unwrap()])
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let path = folder.join("agents.yaml");
    fs::write(&path, ended.stdout).unwrap();
    path
}

#[test]
fn manifests_have_an_indexed_job_with_the_agents() {
    let folder = tempfile::tempdir().unwrap();
    let list: Value = serde_json::from_slice(&fs::read(manifests(folder.path())).unwrap()).unwrap();
    let job = &list["items"][1];
    assert_eq!(job["spec"]["completionMode"], "Indexed");
    assert_eq!(job["spec"]["parallelism"], 20);
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "registry.example/plimsoll:1");
    assert_eq!(container["args"][0], "fleet");
    // Only the secret contains the password.
    assert!(!job.to_string().contains("hush"));
    assert!(list["items"][0].to_string().contains("hush"));
}

/// Validates each manifest strictly: unknown keys are errors.
const VALIDATE: &str = "
import json, sys, kubernetes_validate
for item in json.load(open(sys.argv[1]))['items']:
    kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)
wrong = json.load(open(sys.argv[1]))['items'][1]
wrong['spec']['paralelism'] = 1
try:
    kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)
except kubernetes_validate.ValidationError:
    sys.exit(0)
sys.exit('a wrong manifest is valid')
";

#[test]
fn manifests_are_valid_by_the_published_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let file = manifests(folder.path());
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubernetes-validate");
    let run = |program: &Path, arguments: &[&str]| {
        let ran = Command::new(program).args(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{arguments:?}: {stderr}");
    };
    let interpreter = python.join("bin/python");
    if !python.join("ready").exists() {
        run(
            Path::new("python3"),
            &["-m", "venv", python.to_str().unwrap()],
        );
        run(
            &interpreter,
            &[
                "-m",
                "pip",
                "install",
                "--quiet",
                "kubernetes-validate==1.37.0",
            ],
        );
        fs::write(python.join("ready"), "").unwrap();
    }
    run(&interpreter, &["-c", VALIDATE, file.to_str().unwrap()]);
}

#[test]
fn agents_connect_with_tls_and_only_with_the_right_authority() {
    let folder = tempfile::tempdir().unwrap();
    let port = ports::closed().port();
    let folder_name = folder.path().to_str().unwrap();
    let server = plimsoll(&["fleet", "serve", "--listen", &format!("0.0.0.0:{port}")])
        .args(["--host", "127.0.0.1", "--folder", folder_name])
        .start();
    wait_for_port(port);
    let access: Value =
        serde_json::from_slice(&fs::read(folder.path().join("agent.json")).unwrap()).unwrap();
    assert_eq!(access["address"], format!("tls://127.0.0.1:{port}"));
    let at = |name: &str| folder.path().join(name).display().to_string();
    let _agent = plimsoll(&["fleet", "agent", &at("agent.json"), "--spool", &at("spool")]).start();
    let started = Instant::now();
    loop {
        let status = ["fleet", "status", "--fleet-server", &at("coordinator.json")];
        let ended = plimsoll(&status).run();
        if ended.stdout.starts_with("1 agents") {
            break;
        }
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{}",
            ended.stderr
        );
    }
    // Another authority, with the correct password.
    let other = tempfile::tempdir().unwrap();
    let ended = plimsoll(&[
        "fleet",
        "serve",
        "--listen",
        "0.0.0.0:1",
        "--host",
        "127.0.0.1",
    ])
    .args(["--only-write", "--folder", other.path().to_str().unwrap()])
    .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let path = other.path().join("coordinator.json");
    let mut wrong: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let right = fs::read(folder.path().join("coordinator.json")).unwrap();
    let right: Value = serde_json::from_slice(&right).unwrap();
    wrong["address"] = right["address"].clone();
    wrong["password"] = right["password"].clone();
    fs::write(&path, wrong.to_string()).unwrap();
    let ended = plimsoll(&["fleet", "status", "--fleet-server", path.to_str().unwrap()]).run();
    assert!(
        ended.stderr.contains("could not connect"),
        "{}",
        ended.stderr
    );
    server.signal(Signal::TERM);
}
