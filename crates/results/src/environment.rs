//! Where a run took place.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::hash::hash;

/// The machine and its software, as far as they bear on figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's name.
    pub cpu: String,
    /// Processors that could be used.
    pub cpus: u32,
    /// Memory of the machine. In the fingerprint it counts to the next 1/4 GiB, for
    /// what a kernel keeps for itself changes a little from boot to boot.
    pub memory_bytes: u64,
    /// Operating system and version, such as `Debian GNU/Linux 12`.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// Scaling governor, boost, virtualisation, … by name, where they can be read.
    pub settings: Vec<(String, String)>,
    /// A hash of all above: figures of two runs with different ones are of two places.
    pub fingerprint: String,
}

impl Environment {
    /// The machine this program runs on. What the system does not tell stays empty.
    pub fn here() -> Environment {
        Environment::read(Path::new("/"))
    }

    /// Reads the files below `root`, as on Linux.
    fn read(root: &Path) -> Environment {
        let text = |path: &str| {
            std::fs::read_to_string(root.join(path))
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let cpuinfo = text("proc/cpuinfo");
        let mut environment = Environment {
            cpu: value(&cpuinfo, ':', &["model name", "Model", "Hardware"])
                .unwrap_or(std::env::consts::ARCH)
                .to_owned(),
            cpus: std::thread::available_parallelism()
                .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
            memory_bytes: memory(&text("proc/meminfo")),
            os: value(&text("etc/os-release"), '=', &["PRETTY_NAME"])
                .map_or(std::env::consts::OS, |name| name.trim_matches('"'))
                .to_owned(),
            kernel: text("proc/sys/kernel/osrelease"),
            settings: Vec::new(),
            fingerprint: String::new(),
        };
        let virtualised = value(&cpuinfo, ':', &["flags", "Features"]).is_some_and(|flags| {
            flags
                .split_ascii_whitespace()
                .any(|flag| flag == "hypervisor")
        });
        if virtualised {
            environment.setting("virtualised", "yes");
        }
        for (name, path) in SETTINGS {
            environment.setting(name, &text(path));
        }
        environment.fingerprint = environment.fingerprint();
        environment
    }

    fn setting(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.settings.push((name.to_owned(), value.to_owned()));
        }
    }

    fn fingerprint(&self) -> String {
        let quarters = self.memory_bytes.div_ceil(QUARTER_GIB);
        let mut parts = vec![
            self.cpu.clone(),
            self.cpus.to_string(),
            quarters.to_string(),
            self.os.clone(),
            self.kernel.clone(),
        ];
        parts.extend(
            self.settings
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        hash(parts.iter().map(String::as_bytes))
    }

    /// What differs from `other`, each as a sentence: name, here, there.
    pub fn differences(&self, other: &Environment) -> Vec<(String, String, String)> {
        let mut differences = Vec::new();
        let mut differ = |name: &str, ours: &str, theirs: &str| {
            if ours != theirs {
                let show = |text: &str| if text.is_empty() { "unknown" } else { text }.to_owned();
                differences.push((name.to_owned(), show(ours), show(theirs)));
            }
        };
        let gib = |bytes: u64| format!("{} GiB", bytes.div_ceil(QUARTER_GIB) as f64 / 4.0);
        differ("processor", &self.cpu, &other.cpu);
        differ(
            "processors",
            &self.cpus.to_string(),
            &other.cpus.to_string(),
        );
        differ("memory", &gib(self.memory_bytes), &gib(other.memory_bytes));
        differ("system", &self.os, &other.os);
        differ("kernel", &self.kernel, &other.kernel);
        let find = |environment: &Environment, name: &str| {
            environment
                .settings
                .iter()
                .find(|(known, _)| known == name)
                .map_or(String::new(), |(_, value)| value.clone())
        };
        let names = self.settings.iter().chain(&other.settings);
        let mut seen: Vec<&str> = Vec::new();
        for (name, _) in names {
            if !seen.contains(&name.as_str()) {
                seen.push(name);
                differ(name, &find(self, name), &find(other, name));
            }
        }
        differences
    }
}

const QUARTER_GIB: u64 = 1 << 28;

/// What bears on figures, and where Linux tells it.
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

/// What stands behind the first of `names` that a file of `name: value` lines has.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_tells() {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            (
                "proc/cpuinfo",
                "processor : 0\nmodel name\t: Example 3000\nflags : fpu hypervisor\n",
            ),
            (
                "proc/meminfo",
                "MemTotal:       8000000 kB\nMemFree: 1 kB\n",
            ),
            (
                "etc/os-release",
                "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
            ),
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "performance\n",
            ),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let here = Environment::read(root.path());
        assert_eq!(here.cpu, "Example 3000");
        assert_eq!(here.memory_bytes, 8_192_000_000);
        assert_eq!(here.os, "Debian GNU/Linux 12");
        assert_eq!(here.kernel, "6.1.0");
        let settings: Vec<_> = here
            .settings
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(
            settings,
            [("virtualised", "yes"), ("governor", "performance")]
        );
        let mut other = here.clone();
        assert_eq!(here.differences(&other), []);
        // A little less memory is the same machine; another governor is not.
        other.memory_bytes -= 1 << 20;
        assert_eq!(other.fingerprint(), here.fingerprint);
        other.settings[1].1 = "powersave".to_owned();
        assert_ne!(other.fingerprint(), here.fingerprint);
        let difference = ("governor", "performance", "powersave");
        let (name, ours, theirs) = &here.differences(&other)[0];
        assert_eq!((name.as_str(), ours.as_str(), theirs.as_str()), difference);
    }

    #[test]
    fn a_system_that_tells_nothing_still_has_a_fingerprint() {
        let root = tempfile::tempdir().expect("a folder");
        let here = Environment::read(root.path());
        assert!(!here.fingerprint.is_empty() && here.cpus > 0 && here.settings.is_empty());
    }
}
