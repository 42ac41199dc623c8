//! The live view of `plimsoll http` on a terminal.

use std::time::Duration;

use plimsoll_engine::Notice;
use plimsoll_output::Paint;
use plimsoll_run::{Event, Listener, LiveTitle, Phase};
use plimsoll_terminal::messages::say;
use plimsoll_terminal::streams::{self, Stream};

/// Redraws the view ten times a second.
pub struct Live {
    title: LiveTitle,
    paint: Paint,
}

impl Live {
    pub fn new(title: LiveTitle, paint: Paint) -> Self {
        Live { title, paint }
    }
}

impl Listener for Live {
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => {
                let Some(size) = Stream::Stderr.size() else {
                    return;
                };
                if matches!(progress.phase(), Phase::Running | Phase::TearDown) {
                    // The last column stays free.
                    let columns = size.columns.saturating_sub(1);
                    let lines = plimsoll_output::live::lines(
                        &progress.live_view(&self.title),
                        columns,
                        self.paint,
                    );
                    streams::draw(Stream::Stderr, &lines);
                }
            }
            Event::Done(_) => streams::clear(),
            other => say_what_cannot_wait(other),
        }
    }
}

/// Without a terminal, only urgent messages are printed.
pub struct Quiet;

impl Listener for Quiet {
    fn event(&mut self, event: Event<'_>) {
        say_what_cannot_wait(event);
    }
}

fn say_what_cannot_wait(event: Event<'_>) {
    match event {
        Event::Message(text) | Event::Warning(text) => say(text),
        Event::Notice(Notice::InsufficientUsers {
            scenario, users, ..
        }) => say(&format!(
            "Insufficient VUs, reached {users} active VUs and cannot initialize more (scenario {scenario})"
        )),
        _ => {}
    }
}
