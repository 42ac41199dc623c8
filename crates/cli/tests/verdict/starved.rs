//! A generator that lacks processor time, local ports or network capacity. These tests use features that only Linux
//! has.

#![allow(clippy::print_stdout)]

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::{Ended, Program};

use super::{assert_blamed, verdict};

/// Threads that are always busy, on the first processor that this test may use.
struct Crowd(Arc<AtomicBool>);

impl Crowd {
    fn of(count: usize, processor: u32) -> Crowd {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..count {
            let over = Arc::clone(&over);
            // Each thread runs a process, which `taskset` pins.
            thread::spawn(move || {
                let mut busy = Command::new("taskset")
                    .args([
                        "-c",
                        &processor.to_string(),
                        "sh",
                        "-c",
                        "while :; do :; done",
                    ])
                    .spawn()
                    .expect("taskset, of util-linux");
                while !over.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(20));
                }
                let _ = busy.kill();
                let _ = busy.wait();
            });
        }
        Crowd(over)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        // The threads kill their processes within a moment.
        thread::sleep(Duration::from_millis(200));
    }
}

/// The first processor that this process may use.
fn processor() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .expect("a list");
    let first = list.trim().split([',', '-']).next().expect("a number");
    first.parse().expect("a number")
}

#[test]
fn a_generator_on_a_crowded_processor_is_reported() {
    let server = Peer::start(Play::ok("hello"));
    let processor = processor();
    let crowd = Crowd::of(8, processor);
    let ended = Program::at("taskset")
        .args(["-c", &processor.to_string(), env!("CARGO_BIN_EXE_plimsoll")])
        .args([
            "http",
            "--json",
            "--quiet",
            "-c",
            "50",
            "-d",
            "4s",
            &server.url(),
        ])
        .run();
    drop(crowd);
    assert_blamed(&ended, "client", "had no processor for");
    assert_eq!(verdict(&ended).0, "invalid");
}

/// Needs its own control group in a writable hierarchy, which only root has, usually outside of containers. If it
/// cannot be created, the test does nothing. The code that reads quotas has its own tests.
#[test]
fn a_generator_with_a_processor_quota_is_reported() {
    let Some(group) = Group::with_a_tenth() else {
        println!("no control group can be created here");
        return;
    };
    let server = Peer::start(Play::ok("hello"));
    let line = format!(
        "echo $$ > {} && exec '{}' http --json --quiet -c 20 -d 2s {}",
        group.procs(),
        env!("CARGO_BIN_EXE_plimsoll"),
        server.url()
    );
    let ended = Program::at("/bin/sh").args(["-c", &line]).run();
    drop(group);
    assert_blamed(&ended, "client", "CPU quota throttled the generator");
    assert_eq!(verdict(&ended).0, "invalid");
}

/// A control group that may use a tenth of a processor.
struct Group(std::path::PathBuf);

impl Group {
    fn with_a_tenth() -> Option<Group> {
        let name = format!("plimsoll-test-{}", std::process::id());
        for (mount, file, quota) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000"),
            ("/sys/fs/cgroup", "cpu.max", "10000 100000"),
        ] {
            let folder = std::path::Path::new(mount).join(&name);
            if std::fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Group(folder);
            if group.0.join(file).exists() && std::fs::write(group.0.join(file), quota).is_ok() {
                return Some(group);
            }
        }
        None
    }

    fn procs(&self) -> String {
        self.0.join("cgroup.procs").display().to_string()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Runs in a network namespace with ten local ports. Needs `unshare`, `ip` and the permission to create a namespace: as
/// root, or in a user namespace.
#[test]
fn exhausted_ports_are_reported() {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    // A server for the script would need another program. A refused connection needs none, but does not occupy a port.
    // So the relay listens: it accepts, but cannot reach its target.
    let script = format!(
        "ip link set lo up && echo '40000 40009' > /proc/sys/net/ipv4/ip_local_port_range || exit 77
         '{program}' link --listen 127.0.0.1:7000 --to 127.0.0.1:7001 --round-trip 2s >/dev/null &
         relay=$!
         sleep 1
         '{program}' http --json --quiet -c 100 -d 2s http://127.0.0.1:7000/
         kill $relay"
    );
    let arguments = ["--net", "--map-root-user", "sh", "-c", &script];
    let ended = Program::at("unshare").args(arguments).run();
    if ended.status == Some(77) || ended.stderr.contains("unshare failed") {
        println!("no network can be created here: {}", ended.stderr);
        return;
    }
    assert_blamed(
        &ended,
        "client",
        "because there was no free local port or file descriptor",
    );
    assert_eq!(verdict(&ended).0, "invalid");
}

#[test]
fn late_starts_of_an_open_schedule_are_reported() {
    let server = Peer::start(Play::ok("hello"));
    let processor = processor();
    let crowd = Crowd::of(8, processor);
    let ended = Program::at("taskset")
        .args(["-c", &processor.to_string(), env!("CARGO_BIN_EXE_plimsoll")])
        .args([
            "http", "--json", "--quiet", "-r", "2000", "-c", "50", "-d", "3s",
        ])
        .arg(server.url())
        .run();
    drop(crowd);
    assert_blamed(
        &ended,
        "client",
        "after its scheduled moment (send lag p99)",
    );
}

/// The output of `plimsoll http` in a network namespace. Its server is behind a tunnel that drops every `drop`-th
/// packet. `None` if no such network can be created.
fn tunnelled(drop: u32, server: &str, ports: &str, flags: &[&str]) -> Option<Ended> {
    let tunnel = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verdict/tunnel.py");
    let ended = Program::at("unshare")
        .args(["--net", "--map-root-user", "python3", tunnel])
        .args([&drop.to_string(), server, ports])
        .args([env!("CARGO_BIN_EXE_plimsoll"), "http", "--json", "--quiet"])
        .args(flags)
        .arg("http://10.9.0.2:7000/")
        .run();
    let refused = ended.status == Some(77) || ended.stderr.contains("unshare");
    if refused {
        println!("no network can be created here: {}", ended.stderr);
    }
    (!refused).then_some(ended)
}

#[test]
fn packet_loss_is_reported() {
    // One packet in twenty is lost, so at least one in a hundred segments is retransmitted.
    let flags = ["-c", "50", "-d", "4s"];
    if let Some(ended) = tunnelled(20, "keep", "32768 60999", &flags) {
        assert_blamed(&ended, "network", "TCP segments were retransmitted");
    }
}

#[test]
fn a_shortage_of_local_ports_is_reported() {
    // Ninety of a hundred ports. Each closed connection occupies its port for a minute.
    let flags = ["-c", "2", "-n", "90"];
    if let Some(ended) = tunnelled(0, "close", "40000 40099", &flags) {
        assert_blamed(
            &ended,
            "client",
            "of 100 local ports were held by closed connections (TIME_WAIT)",
        );
    }
}
