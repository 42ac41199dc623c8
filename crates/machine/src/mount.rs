//! Finds the file system that contains a path.

use std::path::Path;

/// The file system, its device and its options, such as `ext4 on /dev/vda (rw,relatime)`. `None` if
/// the system does not list its mounts.
pub fn file_system(path: &Path) -> Option<String> {
    let path = std::fs::canonicalize(path).ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    of(&mounts, &path)
}

/// The mount with the longest path that contains `path`. If several have the same path, the last one.
fn of(mounts: &str, path: &Path) -> Option<String> {
    let mut found: Option<(usize, String)> = None;
    for line in mounts.lines() {
        // proc_pid_mountinfo(5): id, parent, device, root, mount point, options, …, -, type, source, options.
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(4);
        let (Some(point), Some(options)) = (left.next(), left.next()) else {
            continue;
        };
        let point = point.replace("\\040", " ");
        let mut right = right.split(' ');
        let (Some(kind), Some(source)) = (right.next(), right.next()) else {
            continue;
        };
        let is_deeper = found
            .as_ref()
            .is_none_or(|(depth, _)| point.len() >= *depth);
        if is_deeper && path.starts_with(&point) {
            found = Some((point.len(), format!("{kind} on {source} ({options})")));
        }
    }
    found.map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 0:20 / /proc rw,nosuid - proc proc rw
30 21 0:31 / /tmp rw,nosuid,nodev shared:1 - tmpfs tmpfs rw,size=100k
31 30 0:32 / /tmp/a\\040b rw - xfs /dev/vdb rw
";

    #[test]
    fn the_deepest_mount_that_contains_the_path_counts() {
        let of = |path: &str| of(MOUNTS, Path::new(path)).expect("a mount");
        assert_eq!(of("/var/lib"), "ext4 on /dev/vda (rw,relatime)");
        assert_eq!(of("/tmp/x"), "tmpfs on tmpfs (rw,nosuid,nodev)");
        assert_eq!(of("/tmpx"), "ext4 on /dev/vda (rw,relatime)");
        assert_eq!(of("/tmp/a b/c"), "xfs on /dev/vdb (rw)");
    }
}
