//! Describes the machine and its software.

use std::path::Path;

/// Properties of the machine. Unknown properties are empty or zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// The name of the processor.
    pub cpu: String,
    /// Number of processors that this process may use.
    pub cpus: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// The operating system and its version, such as `Debian GNU/Linux 12`.
    pub os: String,
    /// The kernel release.
    pub kernel: String,
    /// Scaling governor, boost, virtualization, … by name.
    pub settings: Vec<(String, String)>,
}

impl System {
    /// The machine that this process runs on.
    pub fn here() -> System {
        System::below(Path::new("/"))
    }

    /// Reads the files below `root`, which has the layout of a Linux root directory.
    pub fn below(root: &Path) -> System {
        let text = |path: &str| {
            std::fs::read_to_string(root.join(path))
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let cpuinfo = text("proc/cpuinfo");
        let is_virtual = value(&cpuinfo, ':', &["flags", "Features"]).is_some_and(|flags| {
            flags
                .split_ascii_whitespace()
                .any(|flag| flag == "hypervisor")
        });
        let virtualised = is_virtual.then(|| ("virtualised".to_owned(), "yes".to_owned()));
        let read = SETTINGS
            .iter()
            .map(|(name, path)| ((*name).to_owned(), text(path)))
            .filter(|(_, value)| !value.is_empty());
        System {
            cpu: value(&cpuinfo, ':', &["model name", "Model", "Hardware"])
                .unwrap_or(std::env::consts::ARCH)
                .to_owned(),
            cpus: u32::try_from(crate::processors()).unwrap_or(u32::MAX),
            memory_bytes: memory(&text("proc/meminfo")),
            os: value(&text("etc/os-release"), '=', &["PRETTY_NAME"])
                .map_or(std::env::consts::OS, |name| name.trim_matches('"'))
                .to_owned(),
            kernel: text("proc/sys/kernel/osrelease"),
            settings: virtualised.into_iter().chain(read).collect(),
        }
    }
}

/// Settings that affect measurements, with the Linux files that contain them.
const SETTINGS: &[(&str, &str)] = &[
    ("machine", "sys/class/dmi/id/product_name"),
    (
        "governor",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ),
    ("boost", "sys/devices/system/cpu/cpufreq/boost"),
    ("no turbo", "sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("hyper-threading", "sys/devices/system/cpu/smt/active"),
    (
        "clock source",
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    ("processor quota", "sys/fs/cgroup/cpu.max"),
    ("huge pages", "sys/kernel/mm/transparent_hugepage/enabled"),
    (
        "mitigations",
        "sys/devices/system/cpu/vulnerabilities/spectre_v2",
    ),
    ("local ports", "proc/sys/net/ipv4/ip_local_port_range"),
    ("accept queue", "proc/sys/net/core/somaxconn"),
    (
        "congestion control",
        "proc/sys/net/ipv4/tcp_congestion_control",
    ),
];

/// The value of the first of `names` that occurs in a file of `name: value` lines.
fn value<'a>(text: &'a str, separator: char, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        text.lines()
            .filter_map(|line| line.split_once(separator))
            .find(|(known, _)| known.trim() == *name)
            .map(|(_, value)| value.trim())
    })
}

fn memory(meminfo: &str) -> u64 {
    value(meminfo, ':', &["MemTotal"])
        .and_then(|value| value.split_ascii_whitespace().next())
        .and_then(|kibibytes| kibibytes.parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes.saturating_mul(1024))
}
