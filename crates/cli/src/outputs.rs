//! Outputs of every sample, on a thread of their own.

use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use plimsoll_output::output::{Output, OutputError};
use plimsoll_samples::SampleRecord;

/// How many batches may wait. The main thread waits for the disk when there
/// are more; workers do not, but their windows then pile up a little, which is
/// better than losing what was measured.
const WAITING: usize = 16;

/// The way to the thread that writes, and the thread, which ends with the
/// errors it met.
type Writing = (SyncSender<Vec<SampleRecord>>, JoinHandle<Vec<String>>);

/// The outputs that were asked for, if any.
#[derive(Default)]
pub struct Outputs {
    thread: Option<Writing>,
    lost: Vec<String>,
}

impl Outputs {
    /// Starts the thread, unless there is nothing to write to.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(outputs: Vec<Box<dyn Output>>) -> Result<Outputs, String> {
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

    /// Hands samples over.
    pub fn send(&mut self, records: Vec<SampleRecord>) {
        if let Some((sender, _)) = &self.thread
            && sender.send(records).is_err()
            && self.lost.is_empty()
        {
            self.lost
                .push("an output ended early; later samples are not in it".to_owned());
        }
    }

    /// Writes what remains, and tells what went wrong.
    pub fn finish(mut self) -> Vec<String> {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            match thread.join() {
                Ok(errors) => self.lost.extend(errors),
                Err(_) => self
                    .lost
                    .push("an output's thread ended by a panic".to_owned()),
            }
        }
        self.lost
    }
}

/// An output that failed is left out from then on; the others go on.
fn write(mut outputs: Vec<Box<dyn Output>>, records: &Receiver<Vec<SampleRecord>>) -> Vec<String> {
    let mut errors = Vec::new();
    let mut keep = |result: Result<(), OutputError>| match result {
        Ok(()) => true,
        // A reader that went away (`| head`) has seen enough.
        Err(error) if error.source.kind() == ErrorKind::BrokenPipe => false,
        Err(error) => {
            errors.push(format!("{error}; later samples are not in it"));
            false
        }
    };
    while let Ok(batch) = records.recv() {
        outputs.retain_mut(|output| keep(output.batch(&batch)));
    }
    for output in &mut outputs {
        keep(output.finish());
    }
    errors
}
