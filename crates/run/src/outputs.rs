//! Outputs of all samples, on a thread of their own.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use plimsoll_output::output::{Output, OutputError, OutputSetting};
use plimsoll_output::{catalog, wall_clock};
use plimsoll_results::secrets::url_for_display;
use plimsoll_samples::{SampleRecord, SystemTag};

use crate::event::{Event, Finished, Listener};
use crate::output_choice::OutputChoice;
use crate::request::Script;

/// Maximum number of waiting batches. If there are more, the supervisor waits for the disk; workers
/// do not, but their windows accumulate slightly, which is better than losing samples.
const WAITING: usize = 16;

/// The channel to the thread that writes, and the thread, which returns its errors and messages.
type Writing = (SyncSender<Arc<[SampleRecord]>>, JoinHandle<Finished>);

/// The requested outputs, if any.
#[derive(Default)]
pub struct Outputs {
    thread: Option<Writing>,
    lost: Vec<String>,
}

impl Outputs {
    /// Opens the outputs of a script. Returns them with warnings of receivers that cannot be reached.
    ///
    /// # Errors
    /// If one cannot be opened.
    pub(crate) fn open(script: &Script) -> Result<(Outputs, Vec<String>), String> {
        let prepared = &script.prepared;
        // Outputs receive thresholds even if they are not judged.
        let mut catalog = catalog::Catalog::new(
            Arc::clone(&prepared.registry),
            &prepared.plan.thresholds,
            &prepared.plan.watched,
        );
        if !prepared.system_tags.has(SystemTag::ExpectedResponse) {
            catalog = catalog.without_expected_responses();
        }
        let setting = OutputSetting {
            catalog,
            clock: wall_clock::WallClock::reading(plimsoll_clock::now(), SystemTime::now()),
            system_tags: SystemTag::ALL
                .into_iter()
                .filter(|tag| prepared.system_tags.has(*tag))
                .collect(),
            csv_time: script.csv_time,
            shown_url: url_for_display,
        };
        let (mut opened, mut warnings) = (Vec::new(), Vec::new());
        for destination in &script.outputs {
            opened.push(match destination {
                OutputChoice::Written(spec) => spec
                    .open(&setting, script.stdout)
                    .map_err(|error| error.to_string())?,
                OutputChoice::Sent(receiver) => {
                    let (output, warning) = receiver.open(&setting)?;
                    warnings.extend(warning);
                    output
                }
            });
        }
        Ok((Outputs::start(opened)?, warnings))
    }

    /// Starts the thread, unless there is nothing to write to.
    fn start(outputs: Vec<Box<dyn Output>>) -> Result<Outputs, String> {
        if outputs.is_empty() {
            return Ok(Outputs::default());
        }
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("outputs".to_owned())
            .spawn(move || write(outputs, &receiver))
            .map_err(|error| {
                format!(
                    "could not start a thread for outputs: {}",
                    plimsoll_machine::shortage::explain(&error)
                )
            })?;
        Ok(Outputs {
            thread: Some((sender, thread)),
            lost: Vec::new(),
        })
    }
}

impl Listener for Outputs {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Samples(records) = event
            && let Some((sender, _)) = &self.thread
            && sender.send(Arc::clone(records)).is_err()
            && self.lost.is_empty()
        {
            self.lost
                .push("an output ended early; it lacks later samples".to_owned());
        }
    }

    /// Writes the remaining samples.
    fn finish(&mut self) -> Finished {
        let mut finished = Finished {
            errors: std::mem::take(&mut self.lost),
            ..Finished::default()
        };
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            match thread.join() {
                Ok(written) => {
                    finished.errors.extend(written.errors);
                    finished.messages.extend(written.messages);
                }
                Err(_) => finished
                    .errors
                    .push("an output's thread ended by a panic".to_owned()),
            }
        }
        finished
    }
}

/// An output that failed is skipped from then on; the others continue.
fn write(mut outputs: Vec<Box<dyn Output>>, records: &Receiver<Arc<[SampleRecord]>>) -> Finished {
    let (mut errors, mut messages) = (Vec::new(), Vec::new());
    let mut keep = |result: Result<(), OutputError>, consequence: &str| match result {
        Ok(()) => true,
        // A reader that closed the pipe (`| head`) needs no more.
        Err(error) if error.source.kind() == ErrorKind::BrokenPipe => false,
        Err(error) => {
            errors.push(format!("{error}{consequence}"));
            false
        }
    };
    while let Ok(batch) = records.recv() {
        outputs.retain_mut(|output| keep(output.batch(&batch), "; later samples are not in it"));
    }
    for output in &mut outputs {
        if keep(output.finish(), "") {
            messages.extend(output.remark());
        }
    }
    Finished {
        errors,
        messages,
        ..Finished::default()
    }
}
