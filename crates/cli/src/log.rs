//! The log: the script's console, warnings and errors of a run.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use script::logline::{Format, Level, Line, WallTime};
use units::Moment;

use crate::args::GlobalArgs;
use crate::talk;

/// Where lines go and what they look like.
#[derive(Debug)]
pub struct Log {
    target: Target,
    /// Where the script's console goes instead, if told so.
    console: Option<Mutex<File>>,
    format: Format,
    least: Level,
}

#[derive(Debug)]
enum Target {
    Stderr,
    Stdout,
    Nowhere,
    File(Mutex<File>),
}

impl Log {
    /// As the flags and variables say.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(args: &GlobalArgs) -> Result<Log, String> {
        let target = match args.log_output.as_deref() {
            None | Some("stderr") => Target::Stderr,
            Some("stdout") => Target::Stdout,
            Some("none") => Target::Nowhere,
            Some(other) => match other.split_once('=') {
                Some(("file", path)) => {
                    // k6 lets levels follow the path; they are not told apart here.
                    let path = path.split(',').next().unwrap_or(path);
                    Target::File(Mutex::new(create(&PathBuf::from(path))?))
                }
                _ => {
                    return Err(format!(
                        "--log-output {other}: use stderr, stdout, none or file=PATH"
                    ));
                }
            },
        };
        let terminal = match target {
            Target::Stderr => std::io::stderr().is_terminal(),
            Target::Stdout => std::io::stdout().is_terminal(),
            _ => false,
        };
        let format = match args.log_format.as_deref() {
            None | Some("" | "text") if terminal && !talk::no_color(args) => Format::Terminal,
            None | Some("" | "text") => Format::Text,
            Some("json") => Format::Json,
            Some("raw") => Format::Raw,
            Some(other) => return Err(format!("--log-format {other}: use text, json or raw")),
        };
        let least = if args.verbose {
            Level::Debug
        } else {
            Level::Info
        };
        Ok(Log {
            target,
            console: None,
            format,
            least,
        })
    }

    /// Sends the script's console to a file.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn console_to(&mut self, path: &str) -> Result<(), String> {
        self.console = Some(Mutex::new(create(&PathBuf::from(path))?));
        Ok(())
    }

    /// One line.
    pub fn line(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if level < self.least {
            return;
        }
        let from_console = fields.contains(&("source", "console"));
        let line = Line {
            level,
            message,
            fields,
            time: wall_time(),
            since_start: clock::now().since(Moment::ZERO),
        };
        if let (true, Some(file)) = (from_console, &self.console) {
            // There all lines have one source.
            let line = Line {
                fields: &[],
                ..line
            };
            return write_to(file, &line.to_text(Format::Text));
        }
        let text = line.to_text(self.format);
        match &self.target {
            Target::Stderr => talk::talk(&text),
            Target::Stdout => talk::put(text.as_bytes()),
            Target::Nowhere => {}
            Target::File(file) => write_to(file, &text),
        }
    }

    /// A warning.
    pub fn warn(&self, message: &str) {
        self.line(Level::Warning, message, &[]);
    }

    /// An error.
    pub fn error(&self, message: &str) {
        self.line(Level::Error, message, &[]);
    }
}

fn create(path: &PathBuf) -> Result<File, String> {
    File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn write_to(file: &Mutex<File>, text: &str) {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    // A full disk must not stop a run; the lines are lost and nothing else.
    let _ = file.write_all(text.as_bytes());
}

fn wall_time() -> WallTime {
    let now = SystemTime::now();
    let unix_seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs().try_into().unwrap_or(0));
    let offset =
        report::wall_clock::WallClock::reading(Moment::ZERO, now).local_offset(Moment::ZERO);
    WallTime {
        unix_seconds,
        utc_offset_seconds: offset,
    }
}
