//! The live view of a script's run, on stdout: k6's header and bars, and below them the figures of the live page.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{Event as EngineEvent, Notice, UserMemory};
use plimsoll_live::TerminalView;
use plimsoll_output::header::Header;
use plimsoll_output::{Paint, header, live, progress};
use plimsoll_run::{Event, Extent, Listener, Phase, Progress};
use plimsoll_units::Bytes;

use crate::log::Log;
use crate::messages::{print_message, print_screen, screen_columns};
use crate::streams::{self, Stream};

/// Shows the progress of a run. On a terminal, bars and figures; elsewhere, only the bars, once per second.
pub struct ScriptView {
    pub log: Arc<Log>,
    /// The version of the program.
    pub version: &'static str,
    pub header: Header,
    pub extent: Extent,
    pub paint: Paint,
    pub quiet: bool,
    /// The figures below the bars, if they are shown.
    pub figures: Option<TerminalView>,
    /// The final state of the run, shown after all other output.
    pub last: Option<String>,
    /// The memory of users at the end, by kind.
    pub memory: Option<UserMemory>,
}

impl ScriptView {
    fn bars(&self, progress: &Progress, columns: Option<usize>) -> Vec<String> {
        let view = progress.bars(self.extent, plimsoll_clock::now());
        progress::lines(&view, columns, self.paint)
    }

    fn start(&self) {
        if !self.quiet {
            print_screen(&header::banner(self.version, self.paint));
            print_screen(&header::plan(&self.header, self.paint));
        }
    }

    fn progress(&self, progress: &Progress) {
        if self.quiet {
            return;
        }
        let columns = screen_columns();
        let mut lines = self.bars(progress, columns);
        let Some(columns) = columns else {
            return print_screen(&format!("{}\n", lines.join("\n")));
        };
        let figures = self.figures.as_ref().filter(|_| is_shown(progress.phase()));
        if let Some(figures) = figures.and_then(TerminalView::figures) {
            // The last column stays empty.
            let columns = columns.saturating_sub(1);
            lines.push(String::new());
            lines.extend(live::figure_lines(&figures, columns, self.paint));
        }
        streams::draw(Stream::Stdout, &lines);
    }

    fn notice(&self, notice: &Notice) {
        let Notice::InsufficientUsers {
            scenario,
            users,
            executor,
        } = notice;
        self.log.line(
            ::log::Level::Warn,
            &format!("Insufficient VUs, reached {users} active VUs and cannot initialize more"),
            &[("executor", executor), ("scenario", scenario)],
        );
    }
}

impl ScriptView {
    /// Logs the memory of users by kind.
    fn memory(&self) {
        if let Some(memory) = self.memory.filter(|memory| memory.users > 0) {
            let text = memory_text(&memory);
            self.log.line(::log::Level::Debug, &text, &[]);
        }
    }
}

/// The memory of users by kind, and how much of it each user has.
fn memory_text(memory: &UserMemory) -> String {
    let kinds = [
        ("images of the heap", memory.images),
        ("changes in them", memory.changes),
        ("objects made since", memory.objects),
        ("heaps of users without an image", memory.heaps),
        ("stacks", memory.stacks),
        ("buffers of connections", memory.buffers),
    ];
    let kinds: Vec<_> = kinds
        .into_iter()
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(kind, bytes)| format!("{kind} {}", Bytes(bytes)))
        .collect();
    format!(
        "memory of the virtual users ({}, of which {} began with an image; {} idle connections): {}",
        memory.users,
        memory.users_with_image,
        memory.connections,
        kinds.join(", ")
    )
}

/// Before scenarios run, there are no figures.
fn is_shown(phase: Phase) -> bool {
    matches!(phase, Phase::Running | Phase::TearDown)
}

impl Listener for ScriptView {
    fn interval(&self) -> Duration {
        if screen_columns().is_some() {
            Duration::from_millis(100)
        } else {
            Duration::from_secs(1)
        }
    }

    fn event(&mut self, event: Event<'_>) {
        if let Some(figures) = &mut self.figures {
            figures.event(event);
        }
        match event {
            Event::Starting => self.start(),
            Event::Message(text) => print_message(text),
            Event::Notice(notice) => self.notice(notice),
            Event::Warning(text) => self.log.warn(text),
            Event::Engine(EngineEvent::Memory(memory)) => {
                *self.memory.get_or_insert_default() += *memory;
            }
            Event::Judged(_) => self.memory(),
            Event::Progress(progress) => self.progress(progress),
            Event::Done(progress) => {
                streams::clear();
                self.last = (!self.quiet).then(|| {
                    let lines = self.bars(progress, screen_columns());
                    format!("{}\n", streams::fitted(Stream::Stdout, &lines).join("\n"))
                });
            }
            _ => {}
        }
    }
}
