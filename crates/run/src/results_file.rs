//! Writes the results of an attack during the attack.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_scriptless::ResultReceiver;

use plimsoll_vegeta::{Exposition, Hit, Results};

use crate::event::{Event, Listener, ListenerReport};

/// The destination of the results.
pub enum Destination {
    Nowhere,
    File(PathBuf),
    /// An open stream, and its name in messages.
    Stream(&'static str, Box<dyn Write + Send>),
}

/// The thread that writes results.
pub(crate) struct ResultsFile {
    /// The name of the destination in messages.
    place: String,
    thread: Option<JoinHandle<(std::io::Result<()>, Duration)>>,
}

impl ResultsFile {
    /// Starts a thread that writes the batches from `inlet` and adds them to `figures`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn write(
        destination: Destination,
        inlet: ResultReceiver,
        figures: Option<Arc<Mutex<Exposition>>>,
    ) -> Result<ResultsFile, String> {
        let (place, output): (String, Box<dyn Write + Send>) = match destination {
            Destination::Nowhere => (String::new(), Box::new(std::io::sink())),
            Destination::File(path) => {
                let file = File::create(&path).map_err(|error| {
                    format!("-output={}: cannot write it: {error}", path.display())
                })?;
                (path.display().to_string(), Box::new(file))
            }
            Destination::Stream(name, stream) => (name.to_owned(), stream),
        };
        std::thread::Builder::new()
            .name("results".to_owned())
            .spawn(move || {
                let written = write(output, &inlet, figures.as_deref());
                (written, inlet.waited())
            })
            .map(|thread| ResultsFile {
                place,
                thread: Some(thread),
            })
            .map_err(|error| {
                format!(
                    "could not start a thread for results: {}",
                    plimsoll_machine::shortage::explain(&error)
                )
            })
    }
}

impl Listener for ResultsFile {
    fn event(&mut self, _: Event<'_>) {}

    /// Waits until everything is written. It is not an error if a reader closed the pipe (`| head`).
    fn finish(&mut self) -> ListenerReport {
        let mut finished = ListenerReport::default();
        let Some(thread) = self.thread.take() else {
            return finished;
        };
        let Ok((written, waited)) = thread.join() else {
            finished.errors.push(
                "the thread that writes the results panicked; please report this bug".to_owned(),
            );
            return finished;
        };
        if waited > Duration::ZERO {
            finished.messages.push(format!(
                "the reader of the results was too slow: it delayed the load by {}",
                plimsoll_units::duration::format(waited)
            ));
        }
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => finished
                .messages
                .push("the reader of the results disconnected; later ones are lost".to_owned()),
            Err(error) => finished
                .errors
                .push(format!("cannot write results to {}: {error}", self.place)),
            Ok(()) => {}
        }
        finished
    }
}

/// After an error, the writer gets no more data, and the run continues without it.
fn write(
    mut output: Box<dyn Write + Send>,
    inlet: &ResultReceiver,
    figures: Option<&Mutex<Exposition>>,
) -> std::io::Result<()> {
    // A results file without hits still has a header.
    output.write_all(&plimsoll_vegeta::batch::Batch::new(Vec::new()).take(Vec::new()))?;
    while let Some(batch) = inlet.next() {
        if let Some(figures) = figures {
            add(&batch, figures);
        }
        output.write_all(&batch)?;
        inlet.give_back(batch);
    }
    Ok(())
}

/// Adds a complete batch to the metrics.
fn add(batch: &[u8], figures: &Mutex<Exposition>) {
    let (Ok(mut results), Ok(mut figures)) = (Results::open(batch), figures.lock()) else {
        return;
    };
    let mut hit = Hit::default();
    while let Ok(true) = results.next(&mut hit) {
        figures.add(&hit);
    }
}
