//! The live view of a load without a script, on stderr.

use std::time::Duration;

use plimsoll_engine::Notice;
use plimsoll_live::TerminalView;
use plimsoll_output::{Paint, live};
use plimsoll_run::{Event, Listener, Phase};

use crate::messages::print_message;
use crate::streams::{self, Stream};

/// Redraws the view ten times per second. Its figures are those of the latest second.
pub struct LoadView {
    view: TerminalView,
    paint: Paint,
}

impl LoadView {
    pub fn new(view: TerminalView, paint: Paint) -> Self {
        LoadView { view, paint }
    }
}

impl Listener for LoadView {
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn event(&mut self, event: Event<'_>) {
        self.view.event(event);
        match event {
            Event::Progress(progress) => {
                let Some(size) = Stream::Stderr.size() else {
                    return;
                };
                if matches!(progress.phase(), Phase::Running | Phase::TearDown) {
                    // The last column stays empty.
                    let columns = size.columns.saturating_sub(1);
                    let lines = live::lines(&self.view.view(progress), columns, self.paint);
                    streams::draw(Stream::Stderr, &lines);
                }
            }
            Event::Done(_) => streams::clear(),
            other => print_urgent(other),
        }
    }
}

/// Without a terminal, only urgent messages are printed.
pub struct Quiet;

impl Listener for Quiet {
    fn event(&mut self, event: Event<'_>) {
        print_urgent(event);
    }
}

fn print_urgent(event: Event<'_>) {
    match event {
        Event::Message(text) | Event::Warning(text) => print_message(text),
        Event::Notice(Notice::InsufficientUsers {
            scenario, users, ..
        }) => print_message(&format!(
            "Insufficient VUs, reached {users} active VUs and cannot initialize more (scenario {scenario})"
        )),
        _ => {}
    }
}
