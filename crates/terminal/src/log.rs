//! The log of a run: the script's console, warnings and errors.

use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ::log::Level;
use plimsoll_output::log_line::{Format, Line, WallTime};
use plimsoll_output::wall_clock::{WallClock, read_local_zone};
use plimsoll_results::secrets::for_display;
use plimsoll_units::Moment;

use crate::messages;
use crate::repeated::Repeated;

/// Receives lines: their level, message and fields.
pub type Sink = Arc<dyn Fn(Level, &str, &[(&str, &str)]) + Send + Sync>;

/// The user's settings for the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a> {
    /// Whether to include debug messages.
    pub verbose: bool,
    pub no_color: bool,
    /// `stderr`, `stdout`, `none` or `file=PATH[,level=LEVEL]`. The default is stderr.
    pub output: Option<&'a str>,
    /// `text`, `json` or `raw`. The default is text.
    pub format: Option<&'a str>,
}

/// The destination and format of lines.
#[derive(Debug)]
pub struct Log {
    target: Target,
    /// A separate destination for the script's console.
    console: Option<Mutex<File>>,
    console_format: Format,
    format: Format,
    most_verbose: Level,
    /// Folds warnings and errors that repeat. `None` if a program reads the log.
    repeated: Option<Mutex<Repeated>>,
}

#[derive(Debug)]
enum Target {
    Stderr,
    Stdout,
    Nowhere,
    File(Mutex<File>),
}

impl Log {
    /// Creates a log with these settings.
    ///
    /// # Errors
    /// If a setting is invalid. The message names the flag.
    pub fn new(settings: Settings<'_>) -> Result<Log, String> {
        let mut most_verbose = if settings.verbose {
            Level::Debug
        } else {
            Level::Info
        };
        let target = match settings.output {
            None | Some("" | "stderr") => Target::Stderr,
            Some("stdout") => Target::Stdout,
            Some("none") => Target::Nowhere,
            Some(other) => {
                let (path, level) = file_target(other)?;
                most_verbose = level.unwrap_or(most_verbose);
                Target::File(Mutex::new(open(Path::new(path))?))
            }
        };
        let terminal = match target {
            Target::Stderr => std::io::stderr().is_terminal(),
            Target::Stdout => std::io::stdout().is_terminal(),
            _ => false,
        };
        let format = match settings.format {
            None | Some("" | "text") if terminal && !settings.no_color => Format::Terminal,
            None | Some("" | "text") => Format::Text,
            Some("json") => Format::Json,
            Some("raw") => Format::Raw,
            Some(other) => return Err(format!("--log-format {other}: use text, json or raw")),
        };
        // Files and log collectors receive every line.
        let is_for_people = matches!(format, Format::Terminal | Format::Text)
            && matches!(target, Target::Stderr | Target::Stdout);
        Ok(Log {
            repeated: is_for_people.then(Mutex::default),
            target,
            console: None,
            console_format: match format {
                Format::Terminal => Format::Text,
                other => other,
            },
            format,
            most_verbose,
        })
    }

    /// Sends the script's console to a file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn console_to(&mut self, path: &str) -> Result<(), String> {
        self.console = Some(Mutex::new(open(Path::new(path))?));
        Ok(())
    }

    /// Writes one line.
    pub fn line(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if level > self.most_verbose {
            return;
        }
        let from_console = fields.contains(&("source", "console"));
        if level <= Level::Warn
            && !from_console
            && let Some(repeated) = &self.repeated
        {
            let mut repeated = repeated.lock().unwrap_or_else(PoisonError::into_inner);
            if !repeated.is_shown(level, message, fields) {
                return;
            }
        }
        self.write(level, message, fields, from_console);
    }

    /// Reports the lines that were omitted because they repeat.
    pub fn report_repeated(&self) {
        let Some(repeated) = &self.repeated else {
            return;
        };
        let folded = repeated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        for line in folded {
            let fields = line.fields.iter();
            let fields: Vec<(&str, &str)> = fields
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            self.write(line.level, &line.message, &fields, false);
        }
    }

    fn write(&self, level: Level, message: &str, fields: &[(&str, &str)], from_console: bool) {
        let line = Line {
            level,
            message,
            fields,
            time: wall_time(),
            since_start: plimsoll_clock::now().since(Moment::ZERO),
        };
        if let (true, Some(file)) = (from_console, &self.console) {
            // In the console's own file, all lines have the same source.
            let line = Line {
                fields: &[],
                ..line
            };
            return write_to(file, &line.to_text(self.console_format));
        }
        // In its own file, the output of the script's console is data, and stays unchanged.
        let shown: Vec<(&str, Cow<'_, str>)> = fields
            .iter()
            .map(|(name, value)| (*name, for_display(value)))
            .collect();
        let fields: Vec<(&str, &str)> = shown
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let message = for_display(message);
        let line = Line {
            message: &message,
            fields: &fields,
            ..line
        };
        let text = line.to_text(self.format);
        match &self.target {
            Target::Stderr => messages::print_stderr(&text),
            Target::Stdout => messages::print_stdout(text.as_bytes()),
            Target::Nowhere => {}
            Target::File(file) => write_to(file, &text),
        }
    }

    /// A function that receives the lines of a script and of its preparation.
    pub fn sink(self: &Arc<Self>) -> Sink {
        read_local_zone();
        let log = Arc::clone(self);
        Arc::new(move |level, message, fields| log.line(level, message, fields))
    }

    /// Writes a warning.
    pub fn warn(&self, message: &str) {
        self.line(Level::Warn, message, &[]);
    }

    /// Writes an error, with one more fact in a separate field if there is one.
    pub fn failure(&self, message: &str, field: &str, value: Option<&str>) {
        match value {
            Some(value) => self.line(Level::Error, message, &[(field, value)]),
            None => self.error(message),
        }
    }

    /// Writes an error.
    pub fn error(&self, message: &str) {
        self.line(Level::Error, message, &[]);
    }
}

/// Parses `file=PATH` or `file=PATH,level=LEVEL`. Returns the path and the least severe level to write.
fn file_target(text: &str) -> Result<(&str, Option<Level>), String> {
    let unknown = || format!("--log-output {text}: use stderr, stdout, none or file=PATH");
    let file = text.strip_prefix("file=").ok_or_else(unknown)?;
    let (path, further) = file.split_once(',').unwrap_or((file, ""));
    let level = match further.strip_prefix("level=") {
        None if further.is_empty() => None,
        Some("debug" | "trace") => Some(Level::Debug),
        Some("info") => Some(Level::Info),
        Some("warn" | "warning") => Some(Level::Warn),
        Some("error" | "fatal" | "panic") => Some(Level::Error),
        _ => {
            return Err(format!(
                "--log-output {text}: only ,level= with debug, info, warning or error may follow the path"
            ));
        }
    };
    Ok((path, level))
}

/// Opens a file and appends to it, as k6 does.
fn open(path: &Path) -> Result<File, String> {
    let mut options = File::options();
    let opened = options.append(true).create(true).open(path);
    opened.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Whether lost log lines were reported.
static LOST_LINES: AtomicBool = AtomicBool::new(false);

fn write_to(file: &Mutex<File>, text: &str) {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = file.write_all(text.as_bytes())
        && !LOST_LINES.swap(true, Ordering::Relaxed)
    {
        // A full disk does not stop a run.
        messages::report_lost(&format!("cannot write log lines: {error}; some are lost"));
    }
}

fn wall_time() -> WallTime {
    let now = SystemTime::now();
    let unix_seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs().try_into().unwrap_or(0));
    let offset = WallClock::reading(Moment::ZERO, now).local_offset(Moment::ZERO);
    WallTime {
        unix_seconds,
        utc_offset_seconds: offset,
    }
}
