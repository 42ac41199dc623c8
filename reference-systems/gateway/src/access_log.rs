//! The access log: one JSON object for each request, written by a separate thread.
//! If the thread cannot keep up, lines are dropped and counted; requests never wait.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use plimsoll_serving::log;
use serde_json::Value;

/// Lines that may wait to be written.
const WAITING: usize = 16_384;

enum Message {
    Line(Value),
    Open(Box<dyn Write + Send>),
    /// Write all lines, then drop the sender, which notifies the receiver.
    Flush(SyncSender<()>),
}

pub struct Journal {
    on: AtomicBool,
    /// Lines that could not be written in time.
    pub left_out: AtomicU64,
    writer: SyncSender<Message>,
}

impl Journal {
    pub fn new(place: Option<&str>) -> Result<Journal, String> {
        let (writer, messages) = sync_channel(WAITING);
        std::thread::Builder::new()
            .name("access-log".into())
            .spawn(move || write(&messages))
            .map_err(|error| format!("access_log: {error}"))?;
        let journal = Journal {
            on: AtomicBool::new(false),
            left_out: AtomicU64::new(0),
            writer,
        };
        journal.open(place)?;
        Ok(journal)
    }

    /// Whether lines are written.
    pub fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    /// Changes the place to which lines are written. A file is always opened again, because it may have been
    /// renamed.
    pub fn open(&self, place: Option<&str>) -> Result<(), String> {
        let out: Box<dyn Write + Send> = match place {
            None | Some("off") => Box::new(io::sink()),
            Some("stderr") => Box::new(io::stderr()),
            Some(path) => {
                let file = File::options().append(true).create(true).open(path);
                Box::new(file.map_err(|error| format!("access_log: {path}: {error}"))?)
            }
        };
        // The thread ends only when the sender does.
        let _ = self.writer.send(Message::Open(out));
        self.on.store(!matches!(place, None | Some("off")), Relaxed);
        Ok(())
    }

    pub fn write(&self, line: Value) {
        if self.writer.try_send(Message::Line(line)).is_err() {
            self.left_out.fetch_add(1, Relaxed);
        }
    }

    /// Waits until all lines are written.
    pub fn flush(&self) {
        let (written, done) = sync_channel(0);
        if self.writer.send(Message::Flush(written)).is_ok() {
            // The writer drops its end of the channel when all lines are written.
            let _ = done.recv();
        }
    }
}

fn write(messages: &Receiver<Message>) {
    let mut out = BufWriter::new(Box::new(io::sink()) as Box<dyn Write>);
    loop {
        let message = match messages.try_recv() {
            Ok(message) => message,
            // The queue is empty, so flush the written lines.
            Err(_) => {
                warn_on_error(out.flush());
                match messages.recv() {
                    Ok(message) => message,
                    Err(_) => return,
                }
            }
        };
        match message {
            Message::Line(line) => warn_on_error(writeln!(out, "{}", line)),
            Message::Open(place) => {
                warn_on_error(out.flush());
                out = BufWriter::new(place);
            }
            Message::Flush(_written) => warn_on_error(out.flush()),
        }
    }
}

fn warn_on_error(outcome: io::Result<()>) {
    if let Err(error) = outcome {
        let fields = [("reason", error.to_string().into())];
        log::warn("the access log cannot be written", &fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_are_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("access");
        let journal = Journal::new(file.to_str()).unwrap();
        let write = |path: &str| {
            journal.write(json!({"path": path}));
            journal.flush();
        };
        write("/a");
        std::fs::rename(&file, folder.path().join("old")).unwrap();
        journal.open(file.to_str()).unwrap();
        write("/b");
        let old = std::fs::read_to_string(folder.path().join("old")).unwrap();
        let line: Value = serde_json::from_str(&old).unwrap();
        assert_eq!(line["path"], "/a");
        assert!(std::fs::read_to_string(&file).unwrap().contains("/b"));
    }
}
