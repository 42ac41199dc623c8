//! Counters of the machine. The difference of two readings shows what happened in between.

use std::time::Duration;

/// Counters of the machine. A counter is `None` if the system does not provide it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineReading {
    /// The time of the reading. In a difference, the time between the two readings.
    pub span: Duration,
    /// Processor time that a hypervisor gave to other guests, on all processors.
    pub steal: Option<Duration>,
    /// Total processor time including idle time, on all processors.
    pub processor_time: Option<Duration>,
    /// The part of `processor_time` on the processors that this process may use.
    pub allowed_time: Option<Duration>,
    /// The part of that time in which these processors were not idle.
    pub allowed_busy: Option<Duration>,
    /// Processor time of this process.
    pub own: Duration,
    /// How often the quota throttled the control group.
    pub throttled: Option<u64>,
    /// Number of quota periods in which the control group was runnable.
    pub quota_periods: Option<u64>,
    /// The time in which some task waited for a processor (PSI).
    pub processor_pressure: Option<Duration>,
    /// The time in which some task waited for memory to be freed (PSI).
    pub memory_pressure: Option<Duration>,
    /// Number of retransmitted TCP segments on all connections of this machine.
    pub retransmitted: Option<u64>,
    /// Number of segments that arrived twice according to their receivers (DSACK, RFC 2883). They
    /// were retransmitted although nothing was lost.
    pub retransmitted_needlessly: Option<u64>,
    /// Number of TCP segments sent.
    pub segments_sent: Option<u64>,
    /// Number of TCP connections opened by all programs on this machine.
    pub opened: Option<u64>,
    /// The wall-clock time since 1970.
    pub calendar: Option<Duration>,
    /// The time since the machine started, including sleep.
    pub since_boot: Option<Duration>,
}

impl MachineReading {
    /// The readings that this process cannot access, so that the verdict does not cover them. Does
    /// not mention pressure (PSI) and quotas, because many healthy systems lack them and other
    /// counters show the same problems.
    pub fn unreadable(&self) -> Vec<&'static str> {
        [
            (self.allowed_time.is_none(), "processor time (/proc/stat)"),
            (
                self.segments_sent.is_none(),
                "TCP segments (/proc/net/snmp)",
            ),
        ]
        .into_iter()
        .filter_map(|(missing, what)| missing.then_some(what))
        .collect()
    }

    /// The difference between this reading and an `earlier` one.
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
            span: self.span.saturating_sub(earlier.span),
            steal: time(self.steal, earlier.steal),
            processor_time: time(self.processor_time, earlier.processor_time),
            allowed_time: time(self.allowed_time, earlier.allowed_time),
            allowed_busy: time(self.allowed_busy, earlier.allowed_busy),
            own: self.own.saturating_sub(earlier.own),
            throttled: count(self.throttled, earlier.throttled),
            quota_periods: count(self.quota_periods, earlier.quota_periods),
            processor_pressure: time(self.processor_pressure, earlier.processor_pressure),
            memory_pressure: time(self.memory_pressure, earlier.memory_pressure),
            retransmitted: count(self.retransmitted, earlier.retransmitted),
            retransmitted_needlessly: count(
                self.retransmitted_needlessly,
                earlier.retransmitted_needlessly,
            ),
            segments_sent: count(self.segments_sent, earlier.segments_sent),
            opened: count(self.opened, earlier.opened),
            calendar: time(self.calendar, earlier.calendar),
            since_boot: time(self.since_boot, earlier.since_boot),
        }
    }
}

/// Parses the processors in `Cpus_allowed_list: 0-3,8` (proc_pid_status(5)).
pub(crate) fn allowed_processors(status: &str) -> Vec<u32> {
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or_default();
    list.trim()
        .split(',')
        .filter_map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
            Some(from..=to.min(from.saturating_add(4_096)))
        })
        .flatten()
        .collect()
}

/// The total time and the busy time of the given processors, from the lines `cpuN`.
pub(crate) fn allowed_times(stat: &str, processors: &[u32]) -> Option<(Duration, Duration)> {
    let (mut all, mut busy) = (0, 0);
    for line in stat.lines() {
        let mut words = line.split_ascii_whitespace();
        let number = words.next().and_then(|word| word.strip_prefix("cpu"));
        let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) else {
            continue;
        };
        if processors.contains(&number) {
            let ticks: Vec<u64> = words.take(8).map_while(|t| t.parse().ok()).collect();
            let idle = ticks.get(3)? + ticks.get(4)?;
            let sum: u64 = ticks.iter().sum();
            all += sum;
            busy += sum.saturating_sub(idle);
        }
    }
    let tick = |count: u64| Duration::from_millis(count.saturating_mul(10));
    (all > 0).then(|| (tick(all), tick(busy)))
}

/// The total in the line `some avg10=… total=MICROSECONDS` (Documentation/accounting/psi.rst).
pub(crate) fn pressure(text: &str) -> Option<Duration> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

/// The sum of all states, and the steal time, from the first line of `/proc/stat` (proc_stat(5):
/// user nice system idle iowait irq softirq steal …, in hundredths of a second).
pub(crate) fn processor_times(stat: &str) -> Option<(Duration, Duration)> {
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

/// A counter from the two lines of a protocol, such as `Tcp:`: the first line has the names, the
/// second one has the values.
pub(crate) fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(protocol));
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
        assert_eq!(counter(snmp, "Tcp:", "RetransSegs"), Some(7));
        assert_eq!(counter(snmp, "Tcp:", "NoSuch"), None);
        let netstat = "TcpExt: TW TCPDSACKRecv\nTcpExt: 5 6\nIpExt: InOctets\nIpExt: 8\n";
        assert_eq!(counter(netstat, "TcpExt:", "TCPDSACKRecv"), Some(6));
        assert_eq!(counter(netstat, "TcpExt:", "TCPDSACKRecvSegs"), None);
        let status = "Name:\tx\nCpus_allowed_list:\t0-1,5\n";
        assert_eq!(allowed_processors(status), [0, 1, 5]);
        let stat = "cpu  9 9 9 9\ncpu0 100 0 0 300 0 0 0 0\ncpu1 1 1 1 1 1 1 1 1\n";
        assert_eq!(
            allowed_times(stat, &[0]),
            Some((Duration::from_secs(4), Duration::from_secs(1)))
        );
        let psi = "some avg10=1.00 avg60=0 avg300=0 total=2500000\nfull avg10=0 total=7\n";
        assert_eq!(pressure(psi), Some(Duration::from_millis(2_500)));
    }

    #[test]
    fn a_missing_or_broken_file_gives_nothing() {
        assert_eq!(processor_times(""), None);
        assert_eq!(processor_times("cpu x y"), None);
        assert_eq!(counter("Tcp: OutSegs", "Tcp:", "OutSegs"), None);
        assert_eq!(allowed_times("cpu0 1 2", &[0]), None);
        assert_eq!(pressure("some avg10=0"), None);
        assert_eq!(
            allowed_processors("Cpus_allowed_list: x,0-99999999").len(),
            4_097
        );
    }
}
