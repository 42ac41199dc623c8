//! Writes all samples to the outputs, on a separate thread.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use plimsoll_output::catalog::Catalog;
use plimsoll_output::output::{Output, OutputError, OutputSetting};
use plimsoll_output::wall_clock;
use plimsoll_results::secrets::url_for_display;
use plimsoll_samples::{SampleRecord, SystemTag, SystemTags};

use crate::event::{Event, Listener, ListenerReport};
use crate::output_choice::OutputChoice;
use crate::output_request::OutputRequest;

/// Maximum number of samples that wait for the outputs, about 200 MB. Further samples are dropped and counted. Waiting
/// for the outputs would block thresholds and the live page, while samples would fill the memory.
const MAX_QUEUED_SAMPLES: usize = 2_000_000;

/// The thread that writes during the run, and its channel.
struct WriterThread {
    sender: Sender<Arc<[SampleRecord]>>,
    /// Returns the unwritten samples when the run ends.
    thread: JoinHandle<(Writer, Receiver<Arc<[SampleRecord]>>)>,
    is_ending: Arc<AtomicBool>,
    /// The number of samples in the channel.
    waiting: Arc<AtomicUsize>,
    /// The number of dropped samples.
    left_out: usize,
    has_ended: bool,
}

/// The requested outputs, if any.
#[derive(Default)]
pub struct Outputs {
    writing: Option<WriterThread>,
}

impl Outputs {
    /// Opens the outputs. Also returns warnings about receivers that cannot be reached.
    ///
    /// # Errors
    /// If one cannot be opened.
    pub(crate) fn open(
        request: &OutputRequest,
        mut catalog: Catalog,
        system_tags: SystemTags,
    ) -> Result<(Outputs, Vec<String>), String> {
        if !system_tags.has(SystemTag::ExpectedResponse) {
            catalog = catalog.without_expected_responses();
        }
        let setting = OutputSetting {
            catalog,
            clock: wall_clock::WallClock::reading(plimsoll_clock::now(), SystemTime::now()),
            system_tags: SystemTag::ALL
                .into_iter()
                .filter(|tag| system_tags.has(*tag))
                .collect(),
            csv_time: request.csv_time,
            shown_url: url_for_display,
        };
        let (mut opened, mut warnings) = (Vec::new(), Vec::new());
        for destination in &request.choices {
            opened.push(match destination {
                OutputChoice::Written(spec) => spec
                    .open(&setting, request.stdout)
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

    /// Starts the thread, if there is anything to write to.
    fn start(outputs: Vec<Box<dyn Output>>) -> Result<Outputs, String> {
        if outputs.is_empty() {
            return Ok(Outputs::default());
        }
        let (sender, receiver) = channel::<Arc<[SampleRecord]>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let taken = Arc::clone(&waiting);
        let is_ending = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_ending);
        let thread = std::thread::Builder::new()
            .name("outputs".to_owned())
            .spawn(move || {
                plimsoll_machine::run_in_background();
                let mut writer = Writer {
                    outputs,
                    errors: Vec::new(),
                };
                while !ends.load(Ordering::Relaxed)
                    && let Ok(batch) = receiver.recv()
                {
                    writer.write(&batch);
                    taken.fetch_sub(batch.len(), Ordering::Relaxed);
                }
                (writer, receiver)
            })
            .map_err(|error| {
                format!(
                    "could not start a thread for outputs: {}",
                    plimsoll_machine::shortage::explain(&error)
                )
            })?;
        Ok(Outputs {
            writing: Some(WriterThread {
                sender,
                thread,
                is_ending,
                waiting,
                left_out: 0,
                has_ended: false,
            }),
        })
    }
}

impl WriterThread {
    fn add(&mut self, records: &Arc<[SampleRecord]>) {
        let before = self.waiting.fetch_add(records.len(), Ordering::Relaxed);
        if before + records.len() > MAX_QUEUED_SAMPLES {
            self.waiting.fetch_sub(records.len(), Ordering::Relaxed);
            self.left_out += records.len();
        } else if self.sender.send(Arc::clone(records)).is_err() {
            self.has_ended = true;
        }
    }

    /// Writes the remaining samples on this thread, because the other thread has the lowest priority. No load is left
    /// that writing could delay.
    fn finish(self) -> ListenerReport {
        self.is_ending.store(true, Ordering::Relaxed);
        drop(self.sender);
        let mut finished = match self.thread.join() {
            Ok((mut writer, left)) => {
                left.iter().for_each(|batch| writer.write(&batch));
                writer.finish()
            }
            Err(_) => ListenerReport {
                errors: vec!["the thread of the outputs panicked".to_owned()],
                ..ListenerReport::default()
            },
        };
        if self.has_ended {
            let error = "an output ended early; it lacks later samples".to_owned();
            finished.errors.push(error);
        }
        if self.left_out > 0 {
            finished.errors.push(format!(
                "the outputs lack {} samples, because the run measured faster than they could be written; the summary has \
                 all of them. Use fewer outputs, a faster disk or receiver, or a lower rate",
                self.left_out
            ));
        }
        finished
    }
}

impl Listener for Outputs {
    fn event(&mut self, event: Event<'_>) {
        if let (Event::Samples(records), Some(writing)) = (event, &mut self.writing) {
            writing.add(records);
        }
    }

    /// Writes the remaining samples.
    fn finish(&mut self) -> ListenerReport {
        let writing = self.writing.take();
        writing.map_or_else(ListenerReport::default, WriterThread::finish)
    }
}

/// Writes to the outputs. After an output fails, it is skipped; the others continue.
struct Writer {
    outputs: Vec<Box<dyn Output>>,
    errors: Vec<String>,
}

impl Writer {
    fn write(&mut self, batch: &[SampleRecord]) {
        let errors = &mut self.errors;
        self.outputs.retain_mut(|output| {
            keep(output.batch(batch), "; later samples are not in it", errors)
        });
    }

    fn finish(mut self) -> ListenerReport {
        let mut messages = Vec::new();
        for output in &mut self.outputs {
            if keep(output.finish(), "", &mut self.errors) {
                messages.extend(output.remark());
            }
        }
        ListenerReport {
            errors: self.errors,
            messages,
            ..ListenerReport::default()
        }
    }
}

/// Whether the output still works. Records an error together with its consequence.
fn keep(result: Result<(), OutputError>, consequence: &str, errors: &mut Vec<String>) -> bool {
    match result {
        Ok(()) => true,
        // A reader that closed the pipe (`| head`) does not want the rest.
        Err(error) if error.source.kind() == ErrorKind::BrokenPipe => false,
        Err(error) => {
            errors.push(format!("{error}{consequence}"));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

    use plimsoll_samples::{SampleTags, builtin};

    use super::*;

    /// Writes nothing before `go`.
    struct Slow {
        go: Receiver<()>,
        written: Arc<AtomicUsize>,
        /// The thread that must call `finish`.
        finishes: ThreadId,
    }

    impl Output for Slow {
        fn batch(&mut self, records: &[SampleRecord]) -> Result<(), OutputError> {
            let _ = self.go.recv();
            self.written.fetch_add(records.len(), Ordering::Relaxed);
            Ok(())
        }

        fn finish(&mut self) -> Result<(), OutputError> {
            assert_eq!(std::thread::current().id(), self.finishes);
            Ok(())
        }
    }

    #[test]
    fn a_slow_output_neither_blocks_the_run_nor_fills_the_memory() -> Result<(), String> {
        let (go, wait) = channel();
        let written = Arc::new(AtomicUsize::new(0));
        let slow = Slow {
            go: wait,
            written: Arc::clone(&written),
            finishes: std::thread::current().id(),
        };
        let mut outputs = Outputs::start(vec![Box::new(slow)])?;
        let sample = SampleRecord {
            metric: builtin::ITERATIONS,
            value: 1.0,
            at: plimsoll_clock::now(),
            started: None,
            scheduled: None,
            tags: Arc::new(SampleTags::default()),
            metadata: None,
        };
        let batch: Arc<[SampleRecord]> = vec![sample; MAX_QUEUED_SAMPLES / 4].into();
        for _ in 0..7 {
            outputs.event(Event::Samples(&batch));
        }
        drop(go);
        let finished = outputs.finish();
        assert_eq!(written.load(Ordering::Relaxed), 4 * batch.len());
        let lacking = format!("lack {} samples", 3 * batch.len());
        assert!(
            finished.errors[0].contains(&lacking),
            "{:?}",
            finished.errors
        );
        Ok(())
    }
}
