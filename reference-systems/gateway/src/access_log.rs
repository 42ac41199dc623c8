//! The access log: one JSON object for each request, written by a thread of its own.
//! When that cannot keep up, lines are left out and counted, and requests do not wait.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use hyper::header::HeaderValue;
use hyper::{Method, Uri, Version};
use plimsoll_serving::log;

use crate::config::AccessLog;

/// Lines that may wait to be written.
const WAITING: usize = 16_384;

/// The facts about a request when it has ended. Neither queries nor further fields are
/// written, because secrets are in them.
#[derive(Debug)]
pub struct Line {
    pub at: SystemTime,
    pub begun: Instant,
    pub client: HeaderValue,
    pub entry: Arc<str>,
    pub method: Method,
    pub version: Version,
    pub host: Option<HeaderValue>,
    pub uri: Uri,
    /// 0 if the client disconnected before there was a response.
    pub status: u16,
    /// Of the response's body.
    pub bytes: u64,
    pub route: Option<String>,
    /// The last target that was tried.
    pub target: Option<String>,
    pub retries: u32,
    /// The error, if any.
    pub trouble: Option<String>,
}

enum Message {
    /// A line, and the duration of its request.
    Line(Box<Line>, Duration),
    Open(AccessLog),
    /// Write all lines, then drop the sender, which notifies the receiver.
    Flush(SyncSender<()>),
}

pub struct Journal {
    on: AtomicBool,
    left_out: AtomicU64,
    writer: RwLock<Option<SyncSender<Message>>>,
}

impl Journal {
    /// A journal that is off.
    pub fn new() -> Arc<Journal> {
        Arc::new(Journal {
            on: AtomicBool::new(false),
            left_out: AtomicU64::new(0),
            writer: RwLock::new(None),
        })
    }

    /// Whether lines are written.
    pub fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    /// Lines that were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }

    /// Writes to `place` from now on. A file is always opened again, because it may have been
    /// renamed.
    pub fn open(&self, place: &AccessLog) -> Result<(), String> {
        if let AccessLog::File(path) = place {
            append(path).map_err(|error| format!("access_log: {}: {error}", path.display()))?;
        }
        let mut writer = self.writer.write().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() && *place != AccessLog::Off {
            let (sender, receiver) = sync_channel(WAITING);
            std::thread::Builder::new()
                .name("access-log".into())
                .spawn(move || write(&receiver))
                .map_err(|error| format!("access_log: {error}"))?;
            *writer = Some(sender);
        }
        if let Some(writer) = &*writer {
            // The thread ends only when the sender does.
            let _ = writer.send(Message::Open(place.clone()));
        }
        self.on.store(*place != AccessLog::Off, Relaxed);
        Ok(())
    }

    pub fn write(&self, line: Line) {
        let took = line.begun.elapsed();
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = &*writer
            && writer
                .try_send(Message::Line(Box::new(line), took))
                .is_err()
        {
            self.left_out.fetch_add(1, Relaxed);
        }
    }

    /// Waits until all is written.
    pub fn flush(&self) {
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = &*writer {
            let (written, done) = sync_channel(0);
            if writer.send(Message::Flush(written)).is_ok() {
                // The writer drops its end when all is written.
                let _ = done.recv();
            }
        }
    }
}

fn append(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

fn write(messages: &Receiver<Message>) {
    let mut out: Option<BufWriter<Box<dyn Write>>> = None;
    loop {
        let message = match messages.try_recv() {
            Ok(message) => message,
            // Nothing waits, so flush what is written.
            Err(_) => {
                warn_on_error(out.as_mut().map(BufWriter::flush));
                match messages.recv() {
                    Ok(message) => message,
                    Err(_) => return,
                }
            }
        };
        match message {
            Message::Line(line, took) => {
                if let Some(out) = &mut out {
                    warn_on_error(Some(writeln!(out, "{}", line.into_json(took))));
                }
            }
            Message::Open(place) => {
                warn_on_error(out.as_mut().map(BufWriter::flush));
                out = match place {
                    AccessLog::Off => None,
                    AccessLog::StandardError => Some(BufWriter::new(Box::new(io::stderr()))),
                    AccessLog::File(path) => match append(&path) {
                        Ok(file) => Some(BufWriter::new(Box::new(file))),
                        Err(error) => {
                            warn_on_error(Some(Err(error)));
                            None
                        }
                    },
                };
            }
            Message::Flush(_written) => warn_on_error(out.as_mut().map(BufWriter::flush)),
        }
    }
}

fn warn_on_error(outcome: Option<io::Result<()>>) {
    if let Some(Err(error)) = outcome {
        log::warn(
            "the access log cannot be written",
            &[("reason", error.to_string().into())],
        );
    }
}

impl Line {
    fn into_json(self, took: Duration) -> String {
        let since = self
            .at
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let mut fields = serde_json::json!({
            // Seconds with three decimals: precise enough, and cheap to write and to read.
            "time": since.as_millis() as f64 / 1000.0,
            "client": text(&self.client),
            "entry": &*self.entry,
            "method": self.method.as_str(),
            "protocol": protocol(self.version),
            "host": self.host.as_ref().map(text),
            "path": self.uri.path(),
            "status": self.status,
            "bytes": self.bytes,
            "ms": took.as_micros() as f64 / 1000.0,
            "route": self.route,
            "target": self.target,
            "retries": self.retries,
        });
        if let (Some(trouble), Some(fields)) = (self.trouble, fields.as_object_mut()) {
            fields.insert("trouble".into(), trouble.into());
        }
        fields.to_string()
    }
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str) -> Line {
        Line {
            at: SystemTime::now(),
            begun: Instant::now(),
            client: HeaderValue::from_static("10.0.0.1"),
            entry: "web".into(),
            method: Method::GET,
            version: Version::HTTP_2,
            host: None,
            uri: path.parse().unwrap(),
            status: 200,
            bytes: 3,
            route: Some("all".into()),
            target: None,
            retries: 0,
            trouble: None,
        }
    }

    #[test]
    fn lines_omit_queries_and_files_are_reopened() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("access");
        let place = AccessLog::File(file.clone());
        let journal = Journal::new();
        journal.write(line("/lost"));
        journal.open(&place).unwrap();
        journal.write(line("/a?token=secret"));
        journal.flush();
        std::fs::rename(&file, folder.path().join("old")).unwrap();
        journal.open(&place).unwrap();
        journal.write(line("/b"));
        journal.flush();
        let old = std::fs::read_to_string(folder.path().join("old")).unwrap();
        let line: serde_json::Value = serde_json::from_str(&old).unwrap();
        assert_eq!(line["path"], "/a");
        assert!(line["ms"].as_f64().unwrap() >= 0.0);
        assert!(!old.contains("secret"));
        assert!(std::fs::read_to_string(&file).unwrap().contains("/b"));
    }
}
