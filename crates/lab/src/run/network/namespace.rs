//! A network namespace for the generator (network_namespaces(7)), connected to this namespace by a
//! pair of interfaces.
//!
//! The namespace has no name: it exists while this program has it open or a process runs in it. So
//! nothing is left behind, however the lab ends. Inside it, this host's loopback addresses are at
//! the other end of the pair instead of on its own loopback interface. So the generator reaches the
//! systems at the addresses on which they listen, but over the emulated network.

use std::fs::{self, File};
use std::marker::PhantomData;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::{service, start};
use super::queue;
use crate::resolve::Link;

/// The interface inside the namespace.
const INSIDE: &str = "load";

const HINT: &str = "or remove by = \"kernel\" to use the relay";

/// A network namespace, and the queues at its border.
#[derive(Debug)]
pub struct Network {
    namespace: File,
    /// The interface outside the namespace.
    pub outside: String,
    /// The implementation that delays and limits the packets.
    pub made_by: &'static str,
}

/// While this value exists, the calling thread and the processes that it starts are in the
/// namespace.
#[derive(Debug)]
pub struct Inside {
    before: File,
    /// The thread that entered the namespace must drop this value.
    _of_this_thread: PhantomData<*const ()>,
}

impl Network {
    /// Creates the namespace and the network to it.
    ///
    /// # Errors
    /// If something is missing. The message contains a fix.
    pub fn make(link: &Link) -> Result<Network, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let namespace = start::new_network_namespace().map_err(|error| {
            format!(
                "the kernel does not let this process create a network namespace ({error}): run the lab as root, {HINT}"
            )
        })?;
        let network = Network {
            namespace,
            outside: format!("pl{}-{number}", std::process::id()),
            made_by: match (queue::needs_netem(link), link.rate) {
                (true, _) => "kernel (netem)",
                (false, Some(_)) => "kernel (tbf)",
                (false, None) => "kernel (without delay or limit)",
            },
        };
        network.connect(link)?;
        Ok(network)
    }

    fn connect(&self, link: &Link) -> Result<(), String> {
        let settings = tcp_settings();
        let outside = self.outside.as_str();
        // iproute2 accepts the path of a namespace without a name.
        let namespace_path = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            self.namespace.as_raw_fd()
        );
        let pair = ["link", "add", "name", outside, "type", "veth"];
        let peer = ["peer", "name", INSIDE, "netns", &namespace_path];
        tool("ip", &[&pair[..], &peer].concat())?;
        let (near, far) = addresses(outside)?;
        let near_text = near.to_string();
        tool(
            "ip",
            &["address", "add", &format!("{near}/30"), "dev", outside],
        )?;
        tool("ip", &["link", "set", "dev", outside, "up"])?;
        accept_loopback_addresses(outside)?;
        shape(link, outside)?;
        let _inside = self.enter()?;
        tool(
            "ip",
            &["address", "add", &format!("{far}/30"), "dev", INSIDE],
        )?;
        tool("ip", &["link", "set", "dev", INSIDE, "up"])?;
        accept_loopback_addresses(INSIDE)?;
        tool("ip", &["link", "set", "dev", "lo", "up"])?;
        // The kernel assigns this address to the loopback interface when the interface comes up.
        tool("ip", &["address", "del", "127.0.0.1/8", "dev", "lo"])?;
        let through = ["via", &near_text, "dev", INSIDE];
        tool(
            "ip",
            &[&["route", "add", "127.0.0.0/8"], &through[..]].concat(),
        )?;
        for (name, value) in settings {
            // Some settings are read-only, and some belong to the whole machine.
            if fs::read_to_string(&name).is_ok_and(|now| now != value) {
                let _ = fs::write(&name, value);
            }
        }
        shape(link, INSIDE)
    }

    /// Moves the calling thread into the namespace, until the returned value is dropped.
    ///
    /// # Errors
    /// The system's error.
    pub fn enter(&self) -> Result<Inside, String> {
        let failed = |error: std::io::Error| format!("cannot enter a network namespace: {error}");
        let before = File::open("/proc/thread-self/ns/net").map_err(failed)?;
        start::enter_network_namespace(self.namespace.as_fd()).map_err(failed)?;
        Ok(Inside {
            before,
            _of_this_thread: PhantomData,
        })
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Closing the namespace also removes both interfaces, but only some time later.
        let _ = tool("ip", &["link", "del", "dev", &self.outside]);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if start::enter_network_namespace(self.before.as_fd()).is_err() {
            // Everything that this thread starts later would use the wrong network. The keeper cleans up.
            // cleans up.
            std::process::abort();
        }
    }
}

/// Two addresses of 198.18.0.0/15, a range that is reserved for benchmarks (RFC 2544, appendix
/// C.2.2). The interface's number makes them unique on this host.
fn addresses(interface: &str) -> Result<(Ipv4Addr, Ipv4Addr), String> {
    let path = format!("/sys/class/net/{interface}/ifindex");
    let number: u32 = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {path}: {error}"))?
        .trim()
        .parse()
        .map_err(|_| format!("{path} has no number"))?;
    let base = u32::from(Ipv4Addr::new(198, 18, 0, 0)) | (number << 2 & 0x0001_fffc);
    Ok((Ipv4Addr::from(base | 1), Ipv4Addr::from(base | 2)))
}

/// Lets packets from and to 127.0.0.0/8 pass this interface (route_localnet in the kernel's
/// ip-sysctl). The interface only connects two namespaces of this host.
fn accept_loopback_addresses(interface: &str) -> Result<(), String> {
    let path = format!("/proc/sys/net/ipv4/conf/{interface}/route_localnet");
    fs::write(&path, "1").map_err(|error| format!("cannot write {path}: {error}, {HINT}"))
}

/// Copies the settings of TCP and of local ports. For most of them, a new namespace has the
/// kernel's defaults, so the generator would not behave as it does on this host.
fn tcp_settings() -> Vec<(std::path::PathBuf, String)> {
    let Ok(files) = fs::read_dir("/proc/sys/net/ipv4") else {
        return Vec::new();
    };
    files
        .flatten()
        .filter(|file| {
            let name = file.file_name();
            let name = name.to_string_lossy();
            name.starts_with("tcp_") && !name.contains("fastopen_key")
                || name == "ip_local_port_range"
        })
        .filter_map(|file| {
            let path = file.path();
            let value = fs::read_to_string(&path).ok()?;
            Some((path, value))
        })
        .collect()
}

/// Sets the queueing discipline for the packets that this interface sends.
fn shape(link: &Link, interface: &str) -> Result<(), String> {
    if link.loss > 0.0 {
        // Without this, one loss would affect many packets that are not split yet (segmentation offload).
        tool(
            "ip",
            &["link", "set", "dev", interface, "gso_max_segs", "1"],
        )?;
    }
    let Some(discipline) = queue::discipline(link) else {
        return Ok(());
    };
    let mut words = vec!["qdisc", "add", "dev", interface, "root"];
    words.extend(discipline.iter().map(String::as_str));
    tool("tc", &words).map_err(|why| {
        if !why.contains("qdisc kind is unknown") {
            return why;
        }
        if queue::needs_netem(link) {
            let rate = match link.rate {
                Some(_) => "remove round-trip, jitter and loss so that the kernel only limits the rate, ",
                None => "",
            };
            return format!(
                "the kernel cannot delay or lose packets, because it has no netem (CONFIG_NET_SCH_NETEM): {rate}use a kernel with netem (on many systems: modprobe sch_netem), {HINT}"
            );
        }
        format!(
            "the kernel cannot limit the rate, because it has no tbf (CONFIG_NET_SCH_TBF): use a kernel with tbf (on many systems: modprobe sch_tbf), {HINT}"
        )
    })
}

/// Runs a program of iproute2.
fn tool(name: &str, words: &[&str]) -> Result<(), String> {
    let program = service::find(name, &["/usr/sbin", "/sbin"]).ok_or_else(|| {
        format!("by = \"kernel\" needs the program {name}: install the package iproute2, {HINT}")
    })?;
    let output = service::output_of(name, Command::new(program).args(words));
    output
        .map(drop)
        .map_err(|why| match why.contains("not permitted") {
            true => format!(
                "{why} ({name} {}): run the lab as root, {HINT}",
                words.join(" ")
            ),
            false => format!("{why} ({name} {}): {HINT}", words.join(" ")),
        })
}
