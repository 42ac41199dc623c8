//! Finds the processes that listen on a port of this machine.

use std::collections::HashSet;
use std::fs;

/// The state of a listening socket in `/proc/net/tcp` (proc_net_tcp(5)).
const LISTEN: &str = "0A";

/// The processes that listen on a TCP port, sorted by id, as far as this user can see them.
/// Processes that share a socket are all included.
pub fn listening_processes(port: u16) -> Vec<u32> {
    let mut sockets = HashSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = fs::read_to_string(table).unwrap_or_default();
        sockets.extend(listening_sockets(&text, port));
    }
    if sockets.is_empty() {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut found: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| holds(*pid, &sockets))
        .collect();
    found.sort_unstable();
    found
}

/// The link targets of the listening sockets of a port, such as `socket:[1234]`.
fn listening_sockets(table: &str, port: u16) -> Vec<String> {
    let lines = table.lines().skip(1);
    lines
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
            let its_port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
            let is_it = its_port == port && *state == LISTEN;
            is_it.then(|| format!("socket:[{inode}]"))
        })
        .collect()
}

/// Whether a process has one of the sockets. False for a process of another user, which cannot be
/// inspected.
fn holds(pid: u32, sockets: &HashSet<String>) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    files.flatten().any(|file| {
        let link = fs::read_link(file.path());
        link.is_ok_and(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_sockets_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0
   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0
   2: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 4713
   3: short";
        assert_eq!(
            listening_sockets(table, 8080),
            ["socket:[4711]", "socket:[4713]"]
        );
        assert!(listening_sockets(table, 8081).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_by_its_port() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listening_processes(port).contains(&std::process::id()));
        drop(listener);
        assert!(!listening_processes(port).contains(&std::process::id()));
    }
}
