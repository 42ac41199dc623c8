use std::time::Duration;

/// Counters of the machine, read before and after a run. What a system does
/// not tell is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineReading {
    /// Processor time that a hypervisor gave to others, all processors.
    pub steal: Option<Duration>,
    /// Processor time in all, idle time included, all processors.
    pub processor_time: Option<Duration>,
    /// How many times the control group was made to wait by its quota.
    pub throttled: Option<u64>,
    /// TCP segments sent again, all connections of this machine.
    pub retransmitted: Option<u64>,
    /// TCP segments sent.
    pub segments_sent: Option<u64>,
}

impl MachineReading {
    /// The present reading.
    pub fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let snmp = std::fs::read_to_string("/proc/net/snmp").unwrap_or_default();
        let cgroup = ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"]
            .iter()
            .find_map(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default();
        let (processor_time, steal) = processor_times(&stat).unzip();
        MachineReading {
            steal,
            processor_time,
            throttled: field_after(&cgroup, "nr_throttled"),
            retransmitted: snmp_tcp(&snmp, "RetransSegs"),
            segments_sent: snmp_tcp(&snmp, "OutSegs"),
        }
    }

    /// What happened since `earlier`.
    pub fn since(&self, earlier: &MachineReading) -> MachineReading {
        let count = |now: Option<u64>, before: Option<u64>| {
            now.zip(before)
                .map(|(now, before)| now.saturating_sub(before))
        };
        let time = |now: Option<Duration>, before: Option<Duration>| {
            now.zip(before)
                .map(|(now, before)| now.saturating_sub(before))
        };
        MachineReading {
            steal: time(self.steal, earlier.steal),
            processor_time: time(self.processor_time, earlier.processor_time),
            throttled: count(self.throttled, earlier.throttled),
            retransmitted: count(self.retransmitted, earlier.retransmitted),
            segments_sent: count(self.segments_sent, earlier.segments_sent),
        }
    }
}

/// Sum of all states, and steal, from the first line of `/proc/stat`
/// (proc_stat(5): user nice system idle iowait irq softirq steal …, in
/// hundredths of a second).
fn processor_times(stat: &str) -> Option<(Duration, Duration)> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .skip(1)
        .take(8)
        .map_while(|t| t.parse().ok())
        .collect();
    let tick = |count: u64| Duration::from_millis(count.saturating_mul(10));
    Some((tick(ticks.iter().sum()), tick(*ticks.get(7)?)))
}

/// The number behind `key` in a file of `key number` lines.
fn field_after(text: &str, key: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.split_ascii_whitespace().next() == Some(key))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// A counter of the `Tcp:` pair of lines, names above figures.
fn snmp_tcp(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let place = lines
        .next()?
        .split_ascii_whitespace()
        .position(|word| word == name)?;
    lines
        .next()?
        .split_ascii_whitespace()
        .nth(place)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_layouts() {
        let stat = "cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 2 3\n";
        let (all, steal) = processor_times(stat).unwrap();
        assert_eq!(all, Duration::from_secs(10));
        assert_eq!(steal, Duration::from_millis(350));
        let snmp = "Ip: a\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 2000 7\n";
        assert_eq!(snmp_tcp(snmp, "RetransSegs"), Some(7));
        assert_eq!(snmp_tcp(snmp, "NoSuch"), None);
        assert_eq!(
            field_after("usage_usec 5\nnr_throttled 3\n", "nr_throttled"),
            Some(3)
        );
    }

    #[test]
    fn a_missing_or_broken_file_gives_nothing() {
        assert_eq!(processor_times(""), None);
        assert_eq!(processor_times("cpu x y"), None);
        assert_eq!(snmp_tcp("Tcp: OutSegs", "OutSegs"), None);
        assert_eq!(field_after("nr_throttled", "nr_throttled"), None);
    }
}
