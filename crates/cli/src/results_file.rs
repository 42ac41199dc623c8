//! Writes an attack's results while it goes on.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_scriptless::Inlet;

use plimsoll_vegeta::{Exposition, Hit, Results};

use crate::talk::say;

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    Nowhere,
    Stdout,
    File(PathBuf),
}

/// The thread that writes.
pub struct ResultsFile(JoinHandle<(std::io::Result<()>, Duration)>);

impl ResultsFile {
    /// Starts to write what comes out of `inlet`, and to add it to `figures`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn write(
        destination: &Destination,
        inlet: Inlet,
        figures: Option<Arc<Mutex<Exposition>>>,
    ) -> Result<ResultsFile, String> {
        let output: Box<dyn Write + Send> = match destination {
            Destination::Nowhere => Box::new(std::io::sink()),
            Destination::File(path) => Box::new(File::create(path).map_err(|error| {
                format!("-output={}: cannot write it: {error}", path.display())
            })?),
            Destination::Stdout => {
                standard_output().map_err(|error| format!("cannot write results: {error}"))?
            }
        };
        std::thread::Builder::new()
            .name("results".to_owned())
            .spawn(move || {
                let written = write(output, &inlet, figures.as_deref());
                (written, inlet.waited())
            })
            .map(ResultsFile)
            .map_err(|error| {
                format!(
                    "could not start a thread for results: {}",
                    plimsoll_machine::shortage::explain(&error)
                )
            })
    }

    /// Waits until all is written. Gives what went wrong; a reader that went
    /// away (`| head`) is nothing wrong.
    pub fn finish(self, destination: &Destination) -> Option<String> {
        let place = match destination {
            Destination::File(path) => path.display().to_string(),
            _ => "standard output".to_owned(),
        };
        let Ok((written, waited)) = self.0.join() else {
            return Some("the results' thread ended by a panic; please report this".to_owned());
        };
        if waited > Duration::ZERO {
            say(&format!(
                "whoever reads the results was too slow: it held the load back for {}",
                plimsoll_units::duration::format(waited)
            ));
        }
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                say("whoever read the results went away; later ones are lost");
                None
            }
            Err(error) => Some(format!("cannot write results to {place}: {error}")),
            Ok(()) => None,
        }
    }
}

/// Standard output without the buffer that waits for the end of a line: batches
/// are large already.
#[cfg(unix)]
fn standard_output() -> std::io::Result<Box<dyn Write + Send>> {
    use std::os::fd::AsFd;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Box::new(File::from(output)))
}

#[cfg(not(unix))]
fn standard_output() -> std::io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(std::io::stdout()))
}

/// A writer that fails takes no more; the run goes on without it.
fn write(
    mut output: Box<dyn Write + Send>,
    inlet: &Inlet,
    figures: Option<&Mutex<Exposition>>,
) -> std::io::Result<()> {
    // A file of results can be told from an empty one.
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

/// Adds a batch, which is whole in itself, to the figures.
fn add(batch: &[u8], figures: &Mutex<Exposition>) {
    let (Ok(mut results), Ok(mut figures)) = (Results::open(batch), figures.lock()) else {
        return;
    };
    let mut hit = Hit::default();
    while let Ok(true) = results.next(&mut hit) {
        figures.add(&hit);
    }
}
