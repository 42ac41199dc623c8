//! Stores the frames of a run on disk until the coordinator has all of them, so that they can be collected if the
//! coordinator is lost.
//!
//! A file starts with the assignment as one line of JSON. The frames follow, each preceded by its length.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use crate::access::state_folder;
use crate::assignment::Assignment;
use crate::part_event::Input;

/// Maximum size in bytes of one run, and of all earlier runs together.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum length of a frame, and of the first line.
const MAX_FRAME_LENGTH: u64 = 64 << 20;
/// The suffix of the file names.
const SUFFIX: &str = ".frames";

/// A file that is written on a separate thread, so that a slow disk delays nothing.
pub struct Spool {
    path: PathBuf,
    frames: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

/// A file with the frames of one agent in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFile {
    pub path: PathBuf,
    pub run: String,
    pub agent: u32,
    pub epoch: u64,
}

/// The directory for files: the given one, or one in the user's state directory. Without either, a path that cannot be
/// created, so that the agent reports that it stores no results.
pub fn folder(given: Option<&Path>) -> PathBuf {
    match given {
        Some(folder) => folder.to_owned(),
        None => state_folder().map_or_else(|_| PathBuf::new(), |folder| folder.join("spool")),
    }
}

impl Spool {
    /// Starts a file in this directory. Reports a write error to `inputs` once, because the run itself does not need
    /// the file.
    pub fn start(
        folder: &Path,
        assignment: &Assignment,
        epoch: u64,
        inputs: Sender<Input>,
    ) -> Result<Spool, String> {
        let name = format!(
            "{}.{}.{epoch:016x}{SUFFIX}",
            assignment.run, assignment.agent
        );
        let path = folder.join(name);
        let cannot = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        create(folder).map_err(cannot)?;
        make_space(folder);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let mut file = options.open(&path).map_err(cannot)?;
        let mut first = serde_json::to_vec(&assignment.without_secrets()).unwrap_or_default();
        first.push(b'\n');
        let (frames, receiver) = channel::<Vec<u8>>();
        let place = path.clone();
        let thread = std::thread::Builder::new()
            .name("fleet-spool".to_owned())
            .spawn(move || {
                let mut length = first.len() as u64;
                let mut written = file.write_all(&first);
                for frame in &receiver {
                    let mut bytes = (frame.len() as u64).to_be_bytes().to_vec();
                    bytes.extend_from_slice(&frame);
                    length += bytes.len() as u64;
                    if written.is_ok() && length <= MAX_BYTES {
                        written = file.write_all(&bytes);
                    }
                    let problem = match &written {
                        Err(error) => error.to_string(),
                        Ok(()) if length > MAX_BYTES => format!("it has {} MB", MAX_BYTES >> 20),
                        Ok(()) => continue,
                    };
                    let text = format!(
                        "{} is incomplete: {problem}; the run continues, but cannot be recovered",
                        place.display()
                    );
                    // If this fails, the agent has exited, which happens only after its part ends.
                    let _ = inputs.send(Input::Spool(text));
                    break;
                }
                // The frames before the error stay readable. Later frames are not stored.
                receiver.iter().for_each(drop);
            })
            .map_err(|error| format!("could not start a thread: {error}"))?;
        Ok(Spool {
            path,
            frames: Some(frames),
            thread: Some(thread),
        })
    }

    pub fn add(&self, frame: &[u8]) {
        if let Some(frames) = &self.frames {
            // The thread ends only when this is dropped.
            let _ = frames.send(frame.to_vec());
        }
    }

    /// Deletes the file, because the coordinator has everything.
    pub fn delete(mut self) {
        self.close();
        // If this fails, the file is already gone.
        let _ = std::fs::remove_file(&self.path);
    }

    fn close(&mut self) {
        self.frames = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.close();
    }
}

/// Creates a directory that only this user can read.
fn create(folder: &Path) -> Result<(), std::io::Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Deletes the oldest files while the total size exceeds the limit.
fn make_space(folder: &Path) {
    let mut kept: Vec<_> = files(folder)
        .into_iter()
        .filter_map(|file| {
            let about = std::fs::metadata(&file.path).ok()?;
            Some((about.modified().ok()?, about.len(), file.path))
        })
        .collect();
    kept.sort();
    let mut total: u64 = kept.iter().map(|(_, length, _)| length).sum();
    for (_, length, path) in kept {
        if total <= MAX_BYTES {
            return;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= length;
        }
    }
}

/// The files in this directory.
pub fn files(folder: &Path) -> Vec<SpoolFile> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.filter_map(|entry| file(entry.path())).collect();
    files.sort_by(|one, other| (&one.run, one.agent).cmp(&(&other.run, other.agent)));
    files
}

fn file(path: PathBuf) -> Option<SpoolFile> {
    let name = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    let mut words = name.split('.');
    let (run, agent, epoch) = (words.next()?, words.next()?, words.next()?);
    Some(SpoolFile {
        run: run.to_owned(),
        agent: agent.parse().ok()?,
        epoch: u64::from_str_radix(epoch, 16).ok()?,
        path,
    })
}

/// Reads at most this many bytes of a file, starting at `offset`.
///
/// # Errors
/// If it cannot be read.
pub fn piece(path: &Path, offset: u64, length: usize) -> Result<Vec<u8>, std::io::Error> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut piece = Vec::new();
    file.take(length as u64).read_to_end(&mut piece)?;
    Ok(piece)
}

/// The content of a file: the assignment, and all complete frames. If an agent was killed, the last frame may be
/// incomplete.
///
/// # Errors
/// If it cannot be read, or does not start with an assignment.
pub fn read(path: &Path) -> Result<(Assignment, Vec<Vec<u8>>), String> {
    let cannot = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let mut input = BufReader::new(file);
    let mut line = Vec::new();
    let mut first = (&mut input).take(MAX_FRAME_LENGTH);
    first
        .read_until(b'\n', &mut line)
        .map_err(|error| cannot(&error))?;
    let assignment = serde_json::from_slice(&line).map_err(|error| cannot(&error))?;
    let mut frames = Vec::new();
    loop {
        let mut length = [0; 8];
        if input.read_exact(&mut length).is_err() {
            return Ok((assignment, frames));
        }
        let length = u64::from_be_bytes(length);
        if length > MAX_FRAME_LENGTH {
            return Err(cannot(&"a frame is too long"));
        }
        let mut frame = Vec::new();
        let read = (&mut input).take(length).read_to_end(&mut frame);
        if read.map_err(|error| cannot(&error))? as u64 != length {
            return Ok((assignment, frames));
        }
        frames.push(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment() -> Assignment {
        Assignment {
            run: "00ff".to_owned(),
            agent: 3,
            ..Assignment::default()
        }
    }

    #[test]
    fn frames_are_read_back_up_to_the_last_complete_one() {
        let folder = tempfile::tempdir().unwrap();
        let (send, _inputs) = channel();
        let spool = Spool::start(folder.path(), &assignment(), 7, send).unwrap();
        spool.add(b"one");
        spool.add(b"two");
        drop(spool);
        let found = files(folder.path());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].agent, found[0].epoch), (3, 7));
        let (read_back, frames) = read(&found[0].path).unwrap();
        assert_eq!(read_back.run, "00ff");
        assert_eq!(frames, [b"one".to_vec(), b"two".to_vec()]);
        let bytes = std::fs::read(&found[0].path).unwrap();
        std::fs::write(&found[0].path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(read(&found[0].path).unwrap().1, [b"one".to_vec()]);
    }

    #[test]
    fn a_deleted_spool_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (send, _inputs) = channel();
        let spool = Spool::start(folder.path(), &assignment(), 7, send).unwrap();
        spool.add(b"one");
        spool.delete();
        assert!(files(folder.path()).is_empty());
    }
}
