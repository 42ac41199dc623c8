//! An attack: a list of targets, requested in rotation, and the result of every hit.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

use plimsoll_engine::AbortReason;
use plimsoll_machine::{
    LimitedReader, is_file_set, open_limited, read_file, read_in_set, read_stream,
};
use plimsoll_plan::Scenario;
use plimsoll_results::hash;
use plimsoll_scriptless::{Aim, AttackSettings, AttackUsers, Defaults, Format, List, Stream};

use crate::event::{Event, Listeners};
use crate::metrics_page;
use crate::results_file::{Destination, ResultsFile};

/// Hits on a list of targets.
pub struct Attack {
    pub aim: Aim,
    /// The name of the list in messages.
    pub list_name: String,
    pub settings: AttackSettings,
    pub http: plimsoll_http::Settings,
    pub scenario: Scenario,
    /// The destination of the results of hits.
    pub results: Destination,
    /// The address at which Prometheus fetches the metrics, if that is requested.
    pub metrics_address: Option<String>,
}

/// Errors in a list of targets that is read during the attack.
pub(crate) struct TargetErrors {
    name: String,
    stream: Option<Arc<Stream>>,
}

impl TargetErrors {
    /// Whether the run ended because all targets of the list were requested. This is not a failure.
    pub fn is_at_end(&self) -> bool {
        let ended = self.stream.as_ref().and_then(|stream| stream.ended());
        matches!(ended, Some(None))
    }

    /// The error in the list that ended the run, if any.
    pub fn error(&self, aborted: Option<&AbortReason>) -> Option<String> {
        match self.stream.as_ref().and_then(|stream| stream.ended()) {
            Some(Some(error)) => Some(format!("{}: {error}", self.name)),
            Some(None) => None,
            None => match aborted {
                Some(AbortReason::Failed(what)) => Some(what.clone()),
                _ => None,
            },
        }
    }
}

impl Attack {
    /// The users and their scenario. Starts the threads that write results and serve metrics.
    pub(crate) fn users(
        self,
        listeners: &mut Listeners<'_>,
    ) -> Result<(AttackUsers, Scenario, TargetErrors), String> {
        let errors = TargetErrors {
            name: self.list_name,
            stream: match &self.aim {
                Aim::Stream(stream) => Some(Arc::clone(stream)),
                Aim::Cycle(_) => None,
            },
        };
        let figures = match self.metrics_address {
            None => None,
            Some(address) => {
                let page = metrics_page::serve(&address)?;
                if let Some(own) = page.address {
                    listeners.notify(Event::Message(&format!(
                        "metrics for Prometheus are on http://{own}/metrics"
                    )));
                }
                Some(page.figures)
            }
        };
        let outlet = match (self.results, figures) {
            (Destination::Nowhere, None) => None,
            (destination, figures) => {
                let (outlet, inlet) = plimsoll_scriptless::outlet();
                let results = ResultsFile::write(destination, inlet, figures)?;
                listeners.add(Box::new(results));
                Some(outlet)
            }
        };
        let users = AttackUsers::new(self.aim, self.settings, Arc::new(self.http), outlet);
        Ok((users, self.scenario, errors))
    }
}

/// A target list that has not been read yet.
pub struct TargetList {
    /// A file, or `stdin`.
    pub name: String,
    pub format: Format,
    pub defaults: Defaults,
    /// Read the list once, during the attack, instead of reading all of it first.
    pub is_lazy: bool,
}

impl TargetList {
    /// Opens the list, and reads it unless it is lazy.
    ///
    /// # Errors
    /// If it cannot be read, or is not a list of targets.
    pub fn open(self) -> Result<Aim, String> {
        let name = self.name;
        let cannot_read =
            |error: std::io::Error| format!("-targets={name}: cannot read it: {error}");
        let input: Box<dyn Read + Send> = match (name.as_str(), self.is_lazy) {
            _ if is_file_set() && self.is_lazy => {
                return Err(
                    "-lazy does not work with a fleet, whose agents need the whole list".to_owned(),
                );
            }
            (path, false) if is_file_set() => {
                let bytes = read_in_set(path.as_ref(), || match path {
                    "stdin" | "-" => read_stream(std::io::stdin()),
                    path => read_file(path.as_ref()),
                });
                Box::new(Cursor::new(bytes.map_err(cannot_read)?))
            }
            // A lazy list is never completely in memory, so it may be endless.
            ("stdin" | "-", true) => Box::new(std::io::stdin()),
            (path, true) => Box::new(std::fs::File::open(path).map_err(cannot_read)?),
            ("stdin" | "-", false) => Box::new(LimitedReader::new(std::io::stdin())),
            (path, false) => Box::new(open_limited(path.as_ref()).map_err(cannot_read)?),
        };
        let input: Box<dyn BufRead + Send> = Box::new(BufReader::new(input));
        let list = List::new(
            input,
            self.format,
            self.defaults,
            Box::new(|path| read_file(path.as_ref())),
        );
        if self.is_lazy {
            return Ok(Aim::Stream(Arc::new(Stream::read(list)?)));
        }
        match list.all() {
            Ok(targets) => Ok(Aim::Cycle(targets.into())),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }

    /// A hash that distinguishes lists of targets by their requests, including bodies and headers
    /// from other files. `None` for a list that is read once from stdin during the attack, or that
    /// cannot be read twice.
    pub fn content_hash(aim: &Aim, name: &str) -> Option<String> {
        /// Methods, headers and values contain no line breaks, so different lists result in different hashed bytes.
        const SEPARATOR: &[u8] = b"\n";
        match aim {
            Aim::Cycle(targets) => Some(hash::hash(targets.iter().flat_map(|target| {
                let headers = target.headers.iter();
                let headers = headers.flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
                [target.method.as_bytes(), target.url.as_bytes()]
                    .into_iter()
                    .chain(headers)
                    .chain([SEPARATOR, &*target.body])
            }))),
            Aim::Stream(_) => {
                let is_file = std::fs::metadata(name).is_ok_and(|file| file.is_file());
                let file = is_file.then(|| std::fs::File::open(name).ok())??;
                hash::of_reader(file).ok()
            }
        }
    }
}
