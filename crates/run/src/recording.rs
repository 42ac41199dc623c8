//! Writes the record of a run during the run (`--record`): one line per second, and a last line.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use plimsoll_engine::{Event as EngineEvent, UserMemory};
use plimsoll_output::wall_clock;
use plimsoll_plan::Plan;
use plimsoll_results::environment::Environment;
use plimsoll_results::objective::Objective;
use plimsoll_results::record::{self, End, Header, Mark, Record, SCHEMA, Second, Writer};
use plimsoll_results::{hash, objectives, secrets};
use plimsoll_samples::{Registry, Watch};

use crate::Phase;
use crate::event::{Event, Listener, ListenerReport};
use crate::place::Place;
use crate::record_figures::{end, user_memory};
use crate::record_seconds::Seconds;
use crate::request::{Model, RecordRequest};

/// The contents of a record's header.
pub struct Contents<'a> {
    /// The command's name.
    pub kind: &'static str,
    /// The contents of files that determine the run, by name.
    pub files: Vec<(String, &'a [u8])>,
}

/// A record that is being written.
pub struct Recording {
    writer: Option<Writer<File>>,
    /// The first error, with the name of the file.
    error: Option<String>,
    place: Place,
    /// Whether to read the record at the end.
    is_read: bool,
    record: Option<Box<Record>>,
    objectives: Vec<Objective>,
    seconds: Seconds,
    cpu: Duration,
    /// Known once the workers have ended.
    marks: Vec<Mark>,
    /// The message that the run was stored.
    message: Option<String>,
    memory: Option<UserMemory>,
}

impl Recording {
    /// Begins the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(
        request: RecordRequest,
        contents: Contents<'_>,
        plan: &Plan,
        registry: &Arc<Registry>,
        watch: &Arc<Watch>,
    ) -> Result<Recording, String> {
        let place = request.place.clone();
        let objectives = request.objectives.clone();
        let failed = |error: std::io::Error| {
            format!(
                "--record {}: cannot write it: {error}; name a file in a directory that you can write to",
                place.name()
            )
        };
        let is_read = request.is_read;
        let header = header(request, &contents, plan);
        let file = place.create(is_read).map_err(failed)?;
        // A locked file belongs to a run in progress. If the file system does not support locks, no file counts as the
        // remains of a killed run.
        let _ = file.lock();
        let writer = Writer::begin(file, &header).map_err(failed)?;
        Ok(Recording {
            writer: Some(writer),
            error: None,
            place,
            is_read,
            record: None,
            objectives,
            seconds: Seconds::new(registry, watch),
            cpu: plimsoll_machine::cpu_time(),
            marks: Vec::new(),
            message: None,
            memory: None,
        })
    }

    /// Sets how long iterations may start. `None` if an amount of work decides.
    pub fn set_load(&mut self, load: Option<Duration>) {
        self.seconds.set_load(load);
    }

    /// Records the number of users at the end of a second. Call this at the end of each second.
    fn second_ended(&mut self, users: u32) {
        let cpu = plimsoll_machine::cpu_time();
        let used = cpu.saturating_sub(std::mem::replace(&mut self.cpu, cpu));
        self.seconds.second_ended(users, used);
    }

    /// Writes the seconds that are complete after `elapsed` of the run.
    fn write_due(&mut self, elapsed: Duration) {
        let lines = self.seconds.due(elapsed);
        self.write(&lines);
    }

    /// Writes the remaining seconds and the end.
    fn end(&mut self, elapsed: Duration, end: &End) {
        let cpu = plimsoll_machine::cpu_time().saturating_sub(self.cpu);
        let lines = self.seconds.rest(elapsed, cpu);
        self.write(&lines);
        match self.writer.take().map(|writer| writer.end(end)) {
            Some(Ok(file)) if self.is_read => self.read(file),
            Some(Err(error)) => self.fail(&error),
            _ => {}
        }
        if self.error.is_none() {
            match self.place.keep() {
                Ok(message) => self.message = message,
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Reads the record back.
    fn read(&mut self, mut file: File) {
        let record = file
            .rewind()
            .map_err(record::ReadError::from)
            .and_then(|()| record::read(BufReader::new(file)));
        match record {
            Ok(record) => self.record = Some(Box::new(record)),
            Err(error) => {
                self.error = Some(format!(
                    "cannot read the record in {}: {error}; there is no report",
                    self.place.name()
                ));
            }
        }
    }

    fn write(&mut self, lines: &[Second]) {
        for line in lines {
            if let Some(writer) = &mut self.writer
                && let Err(error) = writer.second(line)
            {
                self.fail(&error);
            }
        }
    }

    /// Handles a full disk: the run continues, and the error is reported at its end.
    fn fail(&mut self, error: &std::io::Error) {
        self.writer = None;
        self.error = Some(format!(
            "--record {}: cannot write it: {error}; later seconds are missing",
            self.place.name()
        ));
    }
}

impl Listener for Recording {
    /// Seconds are written shortly after they end.
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Window(window) => {
                for (second, part) in window.window.seconds() {
                    self.seconds.add(second, part);
                }
                self.seconds.add_in_flight(window.in_flight, window.started);
            }
            Event::Second(progress) => self.second_ended(progress.state().users_active()),
            Event::Progress(progress) if progress.phase() == Phase::Running => {
                self.write_due(progress.elapsed());
            }
            Event::Engine(EngineEvent::Memory(memory)) => {
                *self.memory.get_or_insert_default() += *memory;
            }
            Event::Done(progress) => self.marks = crate::agent_marks(&progress.agents()),
            Event::Judged(judged) => {
                let mut end = end(judged.summary, judged.verdict, judged.aborted);
                let elapsed = judged.elapsed.as_secs_f64();
                // The load that other agents should have taken over was not moved.
                end.marks = std::mem::take(&mut self.marks);
                end.marks.retain(|mark| mark.at_seconds <= elapsed);
                objectives::judge(&self.objectives, &mut end);
                end.generator.user_memory = self.memory.map(|memory| user_memory(&memory));
                self.end(judged.elapsed, &end);
            }
            _ => {}
        }
    }

    fn finish(&mut self) -> ListenerReport {
        ListenerReport {
            errors: self.error.take().into_iter().collect(),
            messages: self.message.take().into_iter().collect(),
            record: self.record.take(),
        }
    }
}

fn header(request: RecordRequest, contents: &Contents<'_>, plan: &Plan) -> Header {
    let mut configuration = request.configuration;
    secrets::in_json(&mut configuration);
    let text = configuration.to_string();
    let files = contents
        .files
        .iter()
        .flat_map(|(name, content)| [name.as_bytes(), *content]);
    Header {
        schema: SCHEMA.to_owned(),
        plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
        kind: contents.kind.to_owned(),
        title: secrets::in_text(&request.title),
        command: secrets::in_arguments(request.command),
        started: wall_clock::rfc3339(SystemTime::now(), 0),
        model: Model::of(plan).name().to_owned(),
        load: load(plan),
        warm_up_seconds: request.warm_up.as_secs_f64(),
        configuration_hash: hash::hash(
            [contents.kind.as_bytes(), text.as_bytes()]
                .into_iter()
                .chain(files),
        ),
        configuration,
        environment: Environment::here(),
    }
}

/// Describes the load of each scenario, with its name if there are several.
fn load(plan: &Plan) -> Vec<String> {
    let scenarios = plan.scenarios.iter();
    scenarios
        .map(|scenario| match plan.scenarios.len() {
            1 => scenario.description(),
            _ => format!("{}: {}", scenario.name, scenario.description()),
        })
        .collect()
}
