//! Reads the seconds of a record while another process writes it.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use super::Second;

/// Number of bytes to read per call. The next call reads the rest.
const PIECE: u64 = 4 << 20;

/// Follows a record that another process writes.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<File>,
    /// The start of a line whose end has not been written yet.
    line: Vec<u8>,
}

impl Follower {
    /// Follows the record at this path, which may not exist yet.
    pub fn new(path: PathBuf) -> Follower {
        Follower {
            path,
            file: None,
            line: Vec::new(),
        }
    }

    /// The seconds written since the previous call. Empty if the record cannot be read;
    /// [`super::read`] reports the reason when the record is complete.
    pub fn seconds(&mut self) -> Vec<Second> {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return Vec::new();
        };
        if file.take(PIECE).read_to_end(&mut self.line).is_err() {
            return Vec::new();
        }
        let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') else {
            // No line of a record is that long, so this file is not a record.
            if self.line.len() as u64 > 4 * PIECE {
                self.line.clear();
            }
            return Vec::new();
        };
        let rest = self.line.split_off(end + 1);
        let lines = std::mem::replace(&mut self.line, rest);
        lines
            .split(|byte| *byte == b'\n')
            // The header and the end do not have the number of a second.
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::super::{End, Writer, tests_header};
    use super::*;

    #[test]
    fn seconds_are_read_as_they_are_written() {
        let folder = std::env::temp_dir().join(format!("plimsoll-follow-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("record.jsonl");
        let mut follower = Follower::new(path.clone());
        assert!(follower.seconds().is_empty());
        let mut writer = Writer::begin(File::create(&path).unwrap(), &tests_header()).unwrap();
        assert!(follower.seconds().is_empty());
        let second = |number| Second {
            second: number,
            users: 3,
            ..Second::default()
        };
        writer.second(&second(0)).unwrap();
        writer.second(&second(1)).unwrap();
        assert_eq!(follower.seconds(), [second(0), second(1)]);
        let third = serde_json::to_vec(&second(2)).unwrap();
        let (start, rest) = third.split_at(10);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(start).unwrap();
        assert!(follower.seconds().is_empty());
        file.write_all(rest).unwrap();
        file.write_all(b"\n").unwrap();
        assert_eq!(follower.seconds(), [second(2)]);
        let mut end = serde_json::to_vec(&End::default()).unwrap();
        end.push(b'\n');
        file.write_all(&end).unwrap();
        assert!(follower.seconds().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
