//! Reads the counters of the machine.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_units::Moment;

use crate::open_file::OpenFile;
use crate::quota::QuotaFiles;
use crate::reading::{allowed_processors, allowed_times, counter, pressure, processor_times};
use crate::{MachineReading, cpu_time};

/// The kernel files with the counters of the machine. They stay open, because a run may exhaust the
/// file descriptors before the next reading.
pub struct MachineMeter {
    stat: OpenFile,
    own_status: OpenFile,
    snmp: OpenFile,
    netstat: OpenFile,
    processor_pressure: OpenFile,
    memory_pressure: OpenFile,
    quota: QuotaFiles,
}

impl MachineMeter {
    /// Opens the files. Skips files that do not exist or are not readable.
    pub fn open() -> Self {
        Self::open_in(Path::new("/proc"))
    }

    fn open_in(proc: &Path) -> Self {
        let file = |path: &str| OpenFile::open(&proc.join(path));
        MachineMeter {
            stat: file("stat"),
            own_status: file("self/status"),
            snmp: file("net/snmp"),
            netstat: file("net/netstat"),
            processor_pressure: file("pressure/cpu"),
            memory_pressure: file("pressure/memory"),
            quota: QuotaFiles::open(),
        }
    }

    /// The current reading.
    pub fn read(&self) -> MachineReading {
        let stat = self.stat.read();
        let snmp = self.snmp.read();
        let netstat = self.netstat.read();
        // Since Linux 5.10, the kernel counts the segments of each report.
        let arrived_twice = ["TCPDSACKRecvSegs", "TCPDSACKRecv"]
            .into_iter()
            .find_map(|name| counter(&netstat, "TcpExt:", name));
        let (processor_time, steal) = processor_times(&stat).unzip();
        let allowed = allowed_processors(&self.own_status.read());
        let (allowed_time, allowed_busy) = allowed_times(&stat, &allowed).unzip();
        let quota = self.quota.read();
        MachineReading {
            span: plimsoll_clock::now().since(Moment::ZERO),
            steal,
            processor_time,
            allowed_time,
            allowed_busy,
            own: cpu_time(),
            throttled: quota.map(|quota| quota.throttled),
            quota_periods: quota.map(|quota| quota.periods),
            processor_pressure: pressure(&self.processor_pressure.read()),
            memory_pressure: pressure(&self.memory_pressure.read()),
            retransmitted: counter(&snmp, "Tcp:", "RetransSegs"),
            retransmitted_needlessly: arrived_twice,
            segments_sent: counter(&snmp, "Tcp:", "OutSegs"),
            opened: counter(&snmp, "Tcp:", "ActiveOpens"),
            calendar: SystemTime::now().duration_since(UNIX_EPOCH).ok(),
            since_boot: since_boot(),
        }
    }
}

impl MachineReading {
    /// The current reading.
    pub fn now() -> Self {
        MachineMeter::open().read()
    }
}

#[cfg(target_os = "linux")]
fn since_boot() -> Option<std::time::Duration> {
    Some(crate::process::clock_time(rustix::time::ClockId::Boottime))
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Option<std::time::Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_counters_are_named() {
        let folder = Path::new("/nonexistent/proc");
        let unreadable = MachineMeter::open_in(folder).read().unreadable();
        assert_eq!(
            unreadable,
            [
                "processor time (/proc/stat)",
                "TCP segments (/proc/net/snmp)"
            ]
        );
        #[cfg(target_os = "linux")]
        assert!(MachineReading::now().unreadable().is_empty());
    }
}
