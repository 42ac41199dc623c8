//! Runs the program on a pseudo-terminal with a terminal emulator.

#![allow(dead_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The program's streams that are connected to the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Whether stdin is also connected.
    All,
    Both,
    Stderr,
}

/// The program, its terminal and the contents of the screen.
pub struct Session {
    child: Child,
    controller: File,
    /// The terminal's file.
    name: String,
    /// The latest bytes, in which a marker is searched.
    tail: Vec<u8>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// The number of upward cursor movements. There is one per frame.
    frames: usize,
}

/// Longer than any wait in these tests, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// A window title, which the screen does not show.
const MARKER: &[u8] = b"\x1b]0;resized\x07";
/// The number of rows to keep after they scroll away.
const SCROLLBACK: usize = 1_000;

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

impl Session {
    pub fn start(arguments: &[&str], columns: u16, rows: u16, streams: Streams) -> Session {
        Session::start_in(Path::new("."), arguments, columns, rows, streams)
    }

    /// Runs the program in this directory.
    pub fn start_in(
        directory: &Path,
        arguments: &[&str],
        columns: u16,
        rows: u16,
        streams: Streams,
    ) -> Session {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        tcsetwinsize(&controller, size(columns, rows)).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let name = name.into_string().unwrap();
        let terminal: OwnedFd = File::options()
            .read(true)
            .write(true)
            .open(&name)
            .unwrap()
            .into();
        let of_terminal = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command
            .args(arguments)
            .current_dir(directory)
            .env("HOME", "/proc/nonexistent")
            .stdin(match streams {
                Streams::All => of_terminal(),
                Streams::Both | Streams::Stderr => Stdio::null(),
            })
            .stderr(of_terminal())
            .stdout(match streams {
                Streams::All | Streams::Both => of_terminal(),
                Streams::Stderr => Stdio::null(),
            });
        let child = command.spawn().unwrap();
        // The command contains copies of the descriptors, which would keep the terminal open.
        drop(command);
        drop(terminal);
        let controller = File::from(controller);
        let mut reader = controller.try_clone().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4_096];
            // EIO marks the end: no process has the terminal open.
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Session {
            child,
            controller,
            name,
            tail: Vec::new(),
            output,
            screen: vt100::Parser::new(cells(rows), cells(columns), SCROLLBACK),
            frames: 0,
        }
    }

    /// Reads until `enough` returns true. Panics with the screen if that never happens.
    fn read_until(&mut self, what: &str, enough: impl Fn(&Session) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !enough(self) {
            match self
                .output
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {
                    panic!("{what} never appeared:\n{}", self.contents())
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.frames += bytes.windows(2).filter(|pair| *pair == b"[J").count();
        self.screen.process(bytes);
        self.tail.extend_from_slice(bytes);
        let old = self
            .tail
            .len()
            .saturating_sub(2 * MARKER.len().max(bytes.len()));
        self.tail.drain(..old);
    }

    /// Types on the terminal's keyboard.
    pub fn enter(&mut self, text: &str) {
        self.controller.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until the screen shows this text.
    pub fn wait_for(&mut self, text: &str) {
        self.read_until(text, |session| session.contents().contains(text));
    }

    /// Reads this number of further frames, up to the end of the last one.
    pub fn wait_for_frames(&mut self, count: usize) {
        let wanted = self.frames + count;
        self.read_until("a frame", |session| session.frames >= wanted);
        self.wait_for("now,");
    }

    /// Resizes the terminal between two writes of the program, which is stopped meanwhile.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let child = Pid::from_child(&self.child);
        kill_process(child, Signal::STOP).unwrap();
        waitpid(Some(child), WaitOptions::UNTRACED).unwrap();
        // Everything that the program wrote precedes the marker.
        let mut terminal = File::options().write(true).open(&self.name).unwrap();
        terminal.write_all(MARKER).unwrap();
        drop(terminal);
        self.read_until("the marker", |session| {
            session
                .tail
                .windows(MARKER.len())
                .any(|part| part == MARKER)
        });
        self.tail.clear();
        tcsetwinsize(&self.controller, size(columns, rows)).unwrap();
        self.screen.set_size(cells(rows), cells(columns));
        kill_process(child, Signal::CONT).unwrap();
    }

    /// Waits for the program to exit, and reads everything until then.
    pub fn finish(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self
                .output
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.contents()),
            }
        }
        self.child.wait().unwrap().code()
    }

    /// The screen with its colors.
    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// The rows of the screen.
    pub fn contents(&self) -> String {
        self.rows().join("\n")
    }

    fn rows(&self) -> Vec<String> {
        let (_, columns) = self.screen.screen().size();
        self.screen.screen().rows(0, columns.get()).collect()
    }

    /// The number of rows that scrolled away.
    pub fn scrolled(&self) -> usize {
        self.screen.screen().scrollback_len()
    }

    /// Whether the program itself broke every line after the one with this text.
    pub fn is_unwrapped_below(&self, text: &str) -> bool {
        let rows = self.rows();
        let start = rows.iter().position(|row| row.contains(text)).unwrap_or(0);
        let rows = (0..).take(rows.len()).skip(start);
        rows.into_iter()
            .all(|row| !self.screen.screen().row_wrapped(row))
    }

    /// Whether the program itself, and not the terminal, broke every line.
    pub fn is_unwrapped(&self) -> bool {
        let (rows, _) = self.screen.screen().size();
        (0..rows.get()).all(|row| !self.screen.screen().row_wrapped(row))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
