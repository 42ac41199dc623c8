//! Measures throttling by the CPU quota of this process's control group (version 1 or 2) or of a
//! parent group. Any of these groups can throttle the process.

use std::path::{Path, PathBuf};

use crate::open_file::OpenFile;

/// Counters from `cpu.stat` (Documentation/admin-guide/cgroup-v2.rst, and scheduler/sched-bwc.rst
/// for version 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuotaReading {
    /// Number of periods in which the group was runnable.
    pub periods: u64,
    /// Number of periods in which the group was throttled.
    pub throttled: u64,
}

/// The open `cpu.stat` file of each control group of this process.
pub(crate) struct QuotaFiles(Vec<OpenFile>);

impl QuotaFiles {
    pub fn open() -> Self {
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::open_below(Path::new("/sys/fs/cgroup"), &groups)
    }

    fn open_below(root: &Path, groups: &str) -> Self {
        let files = folders(root, groups)
            .into_iter()
            .map(|folder| OpenFile::open(&folder.join("cpu.stat")))
            .filter(OpenFile::exists);
        QuotaFiles(files.collect())
    }

    /// The current counters of the group that was throttled most often, or `None` without control groups.
    pub fn read(&self) -> Option<QuotaReading> {
        self.0
            .iter()
            .filter_map(|file| counters(&file.read()))
            .max_by_key(|quota| (quota.throttled, quota.periods))
    }
}

/// The possible directories of the group and its parent groups.
fn folders(root: &Path, groups: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let mounts: &[&str] = match controllers {
            "" => &["", "unified"],
            _ if controllers.split(',').any(|name| name == "cpu") => &["cpu", "cpu,cpuacct"],
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        for mount in mounts {
            // In a container, the group of the container is the root of the mount.
            folders.extend(path.ancestors().map(|group| root.join(mount).join(group)));
        }
    }
    folders
}

fn counters(text: &str) -> Option<QuotaReading> {
    Some(QuotaReading {
        periods: field_after(text, "nr_periods")?,
        throttled: field_after(text, "nr_throttled")?,
    })
}

/// The number after `key` in a file of `key number` lines.
fn field_after(text: &str, key: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.split_ascii_whitespace().next() == Some(key))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_was_stopped_is_found_in_either_version() {
        let root = std::env::temp_dir().join(format!("plimsoll-quota-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        put("cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\n");
        put(
            "a/cpu.stat",
            "nr_periods 9\nnr_throttled 3\nthrottled_usec 8\n",
        );
        put("a/b/cpu.stat", "usage_usec 5\n");
        put(
            "cpu/x/cpu.stat",
            "nr_periods 20\nnr_throttled 7\nthrottled_time 1\n",
        );
        let quota = |periods, throttled| Some(QuotaReading { periods, throttled });
        let read = |groups: &str| QuotaFiles::open_below(&root, groups).read();
        assert_eq!(read("0::/a/b\n"), quota(9, 3));
        assert_eq!(read("4:memory:/m\n2:cpu,cpuacct:/x/y\n"), quota(20, 7));
        assert_eq!(read("nonsense\n5:x\n"), None);
        std::fs::remove_dir_all(&root).expect("removed");
    }

    #[test]
    fn a_broken_file_gives_nothing() {
        assert_eq!(counters("nr_throttled"), None);
        assert_eq!(counters("nr_periods x\nnr_throttled 1"), None);
    }
}
