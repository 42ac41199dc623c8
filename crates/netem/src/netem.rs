//! Network emulation by the kernel: a network namespace at the far end of a pair of interfaces.
//! Each interface has a `netem` discipline for the packets that it sends (tc-netem(8)). Netem
//! delays packets, not bytes: connecting takes a round trip, and TCP itself handles losses. But it
//! needs root and a kernel with netem.
//!
//! This module builds the necessary iproute2 commands and runs them.

use std::net::Ipv4Addr;
use std::process::Command;

use crate::Link;

/// A namespace that exists until this value is dropped.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    near: Ipv4Addr,
    far: Ipv4Addr,
}

/// Maximum number of packets in transit; netem drops more. Its default of 1000 is too small for a
/// long delay.
const LIMIT: u32 = 100_000;

/// An interface name has at most 15 bytes (IFNAMSIZ, linux/if.h), two of which are our prefix.
const MAX_NAME: usize = 13;

impl Namespace {
    /// Creates the namespace `name` behind this emulated network.
    ///
    /// # Errors
    /// The command that failed, its message, and a fix. Everything that was created is removed.
    pub fn make(name: &str, link: &Link) -> Result<Namespace, String> {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty()
            || name.len() > MAX_NAME
            || !name.bytes().all(fits)
            || name.starts_with('-')
        {
            return Err(format!(
                "{name:?} is not a valid name for a namespace: use 1 to {MAX_NAME} lower-case letters, digits and dashes"
            ));
        }
        Namespace::with(name, &netem(link))
    }

    /// Creates it with any queueing discipline on both interfaces.
    fn with(name: &str, discipline: &str) -> Result<Namespace, String> {
        let (near, far) = addresses(name);
        run(&format!("ip netns add {name}"))?;
        // From here on, dropping `namespace` removes the namespace.
        let made = Namespace {
            name: name.to_owned(),
            near,
            far,
        };
        for command in commands(name, near, far, discipline) {
            run(&command)?;
        }
        Ok(made)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of this side.
    pub fn near(&self) -> Ipv4Addr {
        self.near
    }

    /// The address inside the namespace.
    pub fn far(&self) -> Ipv4Addr {
        self.far
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // This also removes both interfaces. `drop` cannot report a failure.
        let _ = run(&format!("ip netns del {}", self.name));
    }
}

/// Derives two addresses of 198.18.0.0/15 from the name. The range is reserved for benchmarks (RFC
/// 2544, appendix C.2.2).
fn addresses(name: &str) -> (Ipv4Addr, Ipv4Addr) {
    // FNV-1a, so a name always has the same addresses.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let base = u32::from(Ipv4Addr::new(198, 18, 0, 0)) | (hash & 0x0001_fffc);
    (Ipv4Addr::from(base | 1), Ipv4Addr::from(base | 2))
}

/// The commands that create both interfaces and the emulated network between them.
fn commands(name: &str, near: Ipv4Addr, far: Ipv4Addr, discipline: &str) -> Vec<String> {
    vec![
        format!("ip link add n-{name} type veth peer name f-{name} netns {name}"),
        format!("ip address add {near}/30 dev n-{name}"),
        format!("ip link set n-{name} up"),
        format!("ip -n {name} address add {far}/30 dev f-{name}"),
        format!("ip -n {name} link set f-{name} up"),
        format!("ip -n {name} link set lo up"),
        format!("tc qdisc add dev n-{name} root {discipline}"),
        format!("tc -n {name} qdisc add dev f-{name} root {discipline}"),
    ]
}

/// Each direction gets half of the round trip and half of the jitter.
fn netem(link: &Link) -> String {
    let micros = |time: std::time::Duration| format!("{}us", (time / 2).as_micros());
    let mut text = format!("netem limit {LIMIT} delay {}", micros(link.round_trip));
    if !link.jitter.is_zero() {
        text += &format!(" {}", micros(link.jitter));
    }
    if link.loss > 0.0 {
        text += &format!(" loss {}%", link.loss * 100.0);
    }
    if let Some(rate) = link.rate {
        text += &format!(" rate {}bit", rate.get());
    }
    text
}

fn run(command: &str) -> Result<(), String> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let output = Command::new(program).args(words).output();
    let hint = "; without --netem, a relay (--listen and --to) works everywhere";
    match output {
        Err(error) => Err(format!("cannot run {program} (of iproute2): {error}{hint}")),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr);
            let message = message.trim();
            let why = if message.contains("qdisc kind is unknown") {
                ": this kernel has no netem (CONFIG_NET_SCH_NETEM)"
            } else if message.contains("File exists") {
                let name = command.rsplit(' ').next().unwrap_or_default();
                // A previous run that was killed could not remove the namespace.
                return Err(format!(
                    "a namespace named {name} already exists ({message}): choose another name, or, if it was left \
                     behind, remove it with `ip netns del {name}`"
                ));
            } else if message.contains("not permitted") || message.contains("Permission denied") {
                ": it needs root"
            } else {
                ""
            };
            Err(format!("`{command}` failed{why} ({message}){hint}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_units::BitRate;
    use std::time::Duration;

    #[test]
    fn each_direction_gets_half_of_the_delay_and_the_full_rate_and_loss() {
        let link = Link {
            round_trip: Duration::from_millis(74),
            jitter: Duration::from_millis(2),
            rate: BitRate::parse("556Mbit/s").ok(),
            loss: 0.001,
        };
        assert_eq!(
            netem(&link),
            "netem limit 100000 delay 37000us 1000us loss 0.1% rate 556000000bit"
        );
        let bare = Link {
            round_trip: Duration::from_micros(26_401),
            jitter: Duration::ZERO,
            rate: None,
            loss: 0.0,
        };
        assert_eq!(netem(&bare), "netem limit 100000 delay 13200us");
        let (near, far) = addresses("far");
        assert_eq!(
            commands("far", near, far, "netem delay 1us"),
            [
                "ip link add n-far type veth peer name f-far netns far".to_owned(),
                format!("ip address add {near}/30 dev n-far"),
                "ip link set n-far up".to_owned(),
                format!("ip -n far address add {far}/30 dev f-far"),
                "ip -n far link set f-far up".to_owned(),
                "ip -n far link set lo up".to_owned(),
                "tc qdisc add dev n-far root netem delay 1us".to_owned(),
                "tc -n far qdisc add dev f-far root netem delay 1us".to_owned(),
            ]
        );
    }

    /// A name that no other test or process uses at the same time.
    fn own_name(of: char) -> String {
        format!("{of}{}", std::process::id())
    }

    fn exists(name: &str) -> bool {
        std::path::Path::new("/run/netns").join(name).exists()
    }

    /// Uses a discipline that more kernels have than netem. Everything except the delay is the same:
    /// the namespace exists, is reached only by its address, and is removed.
    #[test]
    fn a_namespace_is_reachable_and_removed_or_the_failure_is_explained() {
        let name = own_name('q');
        let made = match Namespace::with(&name, "tbf rate 50mbit burst 64kb latency 100ms") {
            Err(message) => {
                // This fails without root, iproute2 or veth. The message must state what is missing, and what
                // works instead.
                assert!(message.contains("--listen and --to"), "{message}");
                assert!(!exists(&name));
                return;
            }
            Ok(made) => made,
        };
        // Nothing listens on that port, and only the namespace's own kernel can report that.
        let address = (made.far(), 9).into();
        let refused = std::net::TcpStream::connect_timeout(&address, Duration::from_secs(10));
        let kind = refused.map_err(|error| error.kind()).map(drop);
        assert_eq!(kind, Err(std::io::ErrorKind::ConnectionRefused));
        let shown = |arguments: &[&str]| {
            let output = Command::new("tc").args(arguments).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let near = shown(&["qdisc", "show", "dev", &format!("n-{name}")]);
        let far = shown(&["-n", &name, "qdisc", "show", "dev", &format!("f-{name}")]);
        assert!(near.contains("tbf") && far.contains("tbf"), "{near}{far}");
        let again = Namespace::with(&name, "pfifo").unwrap_err();
        assert!(again.contains(&format!("ip netns del {name}")), "{again}");
        assert!(exists(&name), "another test's namespace was removed");
        drop(made);
        assert!(!exists(&name));
    }

    #[test]
    fn a_failure_in_the_middle_is_cleaned_up() {
        let name = own_name('h');
        let message = Namespace::with(&name, "no-such-discipline").unwrap_err();
        assert!(message.contains("--listen and --to"), "{message}");
        assert!(!exists(&name));
    }

    /// `tc` parses a discipline's options itself before it calls the kernel, so this test checks them
    /// even if the kernel lacks the discipline. If `tc` or the permission is missing, the message
    /// states it.
    #[test]
    fn tc_accepts_the_arguments_for_netem() {
        let link = Link {
            round_trip: Duration::from_millis(74),
            jitter: Duration::from_millis(2),
            rate: BitRate::parse("556Mbit/s").ok(),
            loss: 0.001,
        };
        // This interface cannot exist, so nothing changes.
        let message = run(&format!(
            "tc qdisc add dev no-such-link root {}",
            netem(&link)
        ));
        let message = message.unwrap_err();
        assert!(
            !message.contains("What is") && !message.contains("Illegal"),
            "{message}"
        );
        let wrong = run("tc qdisc add dev no-such-link root netem dellay 1us").unwrap_err();
        let cannot = wrong.contains("cannot run tc");
        assert!(cannot || wrong.contains("What is"), "{wrong}");
    }

    #[test]
    fn a_name_gives_two_addresses_of_one_network() {
        for name in ["far", "near", "a", "0123456789-12"] {
            let (near, far) = addresses(name);
            assert_eq!(near.octets()[0], 198);
            assert!([18, 19].contains(&near.octets()[1]), "{near}");
            // The address is neither the network address nor the broadcast address.
            assert_eq!((u32::from(near) & 3, u32::from(far) & 3), (1, 2));
            assert_eq!(u32::from(near) >> 2, u32::from(far) >> 2);
        }
        assert_ne!(addresses("far"), addresses("near"));
    }

    #[test]
    fn invalid_interface_names_are_refused() {
        for name in ["", "a b", "toolongforthis", "../up", "-n", "Ä"] {
            let link = Link {
                round_trip: Duration::ZERO,
                jitter: Duration::ZERO,
                rate: None,
                loss: 0.0,
            };
            assert!(
                Namespace::make(name, &link)
                    .is_err_and(|error| error.contains("is not a valid name")),
                "{name}"
            );
        }
    }
}
