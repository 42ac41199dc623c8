//! The environment of a run.

use plimsoll_machine::System;
use serde::{Deserialize, Serialize};

use crate::hash::hash;

/// The machine and its software, as far as they affect measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's name.
    pub cpu: String,
    /// Number of processors available to the process.
    pub cpus: u32,
    /// The memory of the machine. The fingerprint rounds it to 1/4 GiB, because the memory that a
    /// kernel reserves varies slightly between boots.
    pub memory_bytes: u64,
    /// The operating system and its version, such as `Debian GNU/Linux 12`.
    pub os: String,
    /// The kernel release.
    pub kernel: String,
    /// Settings that affect measurements by name, such as scaling governor, boost and
    /// virtualization, if readable.
    pub settings: Vec<(String, String)>,
    /// A hash of all fields above. Runs with different fingerprints had different environments.
    pub fingerprint: String,
}

impl Environment {
    /// Describes the machine that this program runs on. Values that the system does not provide
    /// stay empty.
    pub fn here() -> Environment {
        Environment::of(System::here())
    }

    fn of(system: System) -> Environment {
        let mut environment = Environment {
            cpu: system.cpu,
            cpus: system.cpus,
            memory_bytes: system.memory_bytes,
            os: system.os,
            kernel: system.kernel,
            settings: system.settings,
            fingerprint: String::new(),
        };
        environment.fingerprint = environment.fingerprint();
        environment
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

    /// The differences from `other`: name, value here, value in `other`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_system_information_is_read() {
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
        let here = Environment::of(System::below(root.path()));
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
        // Slightly less memory is still the same machine, but another governor is not.
        other.memory_bytes -= 1 << 20;
        assert_eq!(other.fingerprint(), here.fingerprint);
        other.settings[1].1 = "powersave".to_owned();
        assert_ne!(other.fingerprint(), here.fingerprint);
        let difference = ("governor", "performance", "powersave");
        let (name, ours, theirs) = &here.differences(&other)[0];
        assert_eq!((name.as_str(), ours.as_str(), theirs.as_str()), difference);
    }

    #[test]
    fn a_system_without_information_still_has_a_fingerprint() {
        let root = tempfile::tempdir().expect("a folder");
        let here = Environment::of(System::below(root.path()));
        assert!(!here.fingerprint.is_empty() && here.cpus > 0 && here.settings.is_empty());
    }
}
