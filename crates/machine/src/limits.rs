//! How close the process is to the limits of the kernel.

/// The number of closed connections on this machine that still hold their local port (TIME_WAIT,
/// RFC 9293, section 3.6.1), and the number of local ports.
pub fn waiting_ports() -> Option<(u64, u64)> {
    let sockets = std::fs::read_to_string("/proc/net/sockstat").ok()?;
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    Some((time_wait(&sockets)?, ports(&range)?))
}

/// The number of open file descriptors of this process, and their limit.
pub fn descriptors() -> Option<(u64, u64)> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let max = most_descriptors(&limits)?;
    // Since Linux 6.2, the size of the directory is the number of entries, so it need not be read.
    let size = std::fs::metadata("/proc/self/fd").ok()?.len();
    if size > 0 {
        return Some((size, max));
    }
    let counted = std::fs::read_dir("/proc/self/fd").ok()?.count();
    Some((u64::try_from(counted).ok()?, max))
}

/// `Max open files            1024                 1048576              files`
/// (proc_pid_limits(5)): the first number is the effective limit. `None` if there is no limit.
fn most_descriptors(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// `TCP: inuse 5 orphan 0 tw 12 alloc 9 mem 2`
fn time_wait(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find(|line| line.starts_with("TCP:"))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

fn ports(range: &str) -> Option<u64> {
    let mut words = range.split_ascii_whitespace();
    let (from, to): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(to.checked_sub(from)? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_layouts() {
        assert_eq!(
            time_wait("sockets: used 1\nTCP: inuse 5 orphan 0 tw 12 alloc 9\n"),
            Some(12)
        );
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  4096  files\n";
        assert_eq!(most_descriptors(limits), Some(1_024));
        assert_eq!(ports("32768\t60999\n"), Some(28_232));
    }

    #[test]
    fn a_missing_or_broken_file_gives_nothing() {
        assert_eq!(most_descriptors("Max open files unlimited"), None);
        assert_eq!((time_wait("TCP: tw"), ports("5 1")), (None, None));
    }
}
