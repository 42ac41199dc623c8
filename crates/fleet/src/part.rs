//! Executes an agent's part of a run, on a separate thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use plimsoll_engine::timer::set_threads_per_processor;
use plimsoll_plan::{Division, Options, Plan, Segment, SegmentSequence};
use plimsoll_run::settings::IoMode;
use plimsoll_run::{
    Load, OutputRequest, PreparedScript, Request, Run, Script, ScriptLog, ScriptRequest,
    SourceKind, TlsFiles, Workers, prepare, with_files,
};

use crate::assignment::{Assignment, plan_hash};
use crate::limits::Limits;
use crate::load::{ARCHIVE, Resolve, unpack};
use crate::part_event::{Handle, Input, PartEvent};
use crate::uplink::Uplink;

/// An agent's part of a run, and the files and settings for it.
pub struct PartRun {
    pub assignment: Assignment,
    /// The packed files.
    pub package: Vec<u8>,
    pub resolve: Resolve,
    pub limits: Limits,
    /// Identifies the process.
    pub epoch: u64,
    /// The number of frames that the coordinator has.
    pub confirmed: Arc<AtomicU64>,
    pub events: Sender<Input>,
}

impl PartRun {
    /// Executes the part to its end.
    pub fn run(&self) {
        if let Err(text) = self.try_run() {
            self.send(PartEvent::Failed(text));
        }
        self.send(PartEvent::Finished);
    }

    fn send(&self, event: PartEvent) {
        // If this fails, the agent has exited, which happens only after this thread ends.
        let _ = self.events.send(Input::Part(event));
    }

    fn try_run(&self) -> Result<(), String> {
        let files = unpack(&self.package)?;
        // Files are read until the run has started.
        with_files(files, || {
            if self.assignment.command.is_empty() {
                let threads = self.assignment.threads;
                let threads = threads.unwrap_or_else(plimsoll_machine::processors);
                let (load, prepared) = self.script()?;
                self.limits.check(&prepared.plan)?;
                self.start(load, threads, Some(prepared))
            } else {
                let (load, threads) = self.command()?;
                self.start(load, threads, None)
            }
        })?
        .finish();
        Ok(())
    }

    fn start(
        &self,
        load: Load,
        threads: usize,
        prepared: Option<Arc<PreparedScript>>,
    ) -> Result<Run<'static>, String> {
        if self.assignment.shares_machine {
            let workers = threads.saturating_mul(self.assignment.agents as usize);
            set_threads_per_processor(workers, plimsoll_machine::processors());
        }
        let start = Arc::new(OnceLock::new());
        let uplink = Uplink::new(
            &self.assignment,
            self.epoch,
            Arc::clone(&start),
            Arc::clone(&self.confirmed),
            self.events.clone(),
        )?;
        let request = Request {
            load,
            threads: threads.max(1),
            outputs: OutputRequest::default(),
            record: None,
            warm_up: std::time::Duration::ZERO,
            until: None,
        };
        let workers = Workers::Part {
            shares_machine: self.assignment.shares_machine,
        };
        let run = Run::start_on(workers, request, vec![Box::new(uplink)])
            .map_err(|refusal| refusal.message)?;
        let control = run.control();
        control.set_teardown_waits(self.assignment.agent == 0);
        self.send(PartEvent::Running(Handle::new(control, prepared, start)));
        Ok(run)
    }

    fn script(&self) -> Result<(Load, Arc<PreparedScript>), String> {
        let assignment = &self.assignment;
        let is_loaded = Arc::new(AtomicBool::new(false));
        let log = script_log(self.events.clone(), Arc::clone(&is_loaded));
        let prepared = prepare(request(assignment)?, &log).map_err(|refusal| refusal.message)?;
        check(assignment, &prepared.plan)?;
        let prepared = Arc::new(prepared);
        // The coordinator has also loaded the script, and has printed these lines.
        is_loaded.store(true, Ordering::Relaxed);
        let load = Load::Script(Box::new(Script {
            prepared: Arc::clone(&prepared),
            thresholds: assignment.thresholds,
            breakdown: assignment.breakdown,
        }));
        Ok((load, prepared))
    }

    /// Prepares the part of a load without a script. Returns it with the number of its worker threads.
    fn command(&self) -> Result<(Load, usize), String> {
        let (segment, sequence) = segment(&self.assignment)?;
        let division = Division::of(segment, &sequence).map_err(|fault| fault.to_string())?;
        let resolved = (self.resolve)(&self.assignment.command)?;
        let own = resolved
            .threads
            .unwrap_or_else(plimsoll_machine::processors);
        // The agents of one machine share its processors.
        let threads = own.min(self.assignment.threads.unwrap_or(usize::MAX));
        let mut load = resolved.load;
        let threads = load.take_part(&division, threads)?;
        let scenario = load.scenario().ok_or("the command has no load")?;
        let plan = Plan::single(scenario.clone(), Vec::new());
        check(&self.assignment, &plan)?;
        self.limits.check(&plan)?;
        Ok((load, threads))
    }
}

fn check(assignment: &Assignment, plan: &Plan) -> Result<(), String> {
    if plan_hash(plan) == assignment.plan_hash {
        return Ok(());
    }
    Err("its part of the plan differs from the coordinator's".to_owned())
}

fn segment(assignment: &Assignment) -> Result<(Segment, SegmentSequence), String> {
    let segment = Segment::parse(&assignment.segment).map_err(|fault| fault.to_string())?;
    let sequence =
        SegmentSequence::parse(&assignment.sequence).map_err(|fault| fault.to_string())?;
    Ok((segment, sequence))
}

fn request(assignment: &Assignment) -> Result<ScriptRequest, String> {
    let is_first = assignment.agent == 0;
    let (segment, sequence) = segment(assignment)?;
    Ok(ScriptRequest {
        kind: SourceKind::Archive,
        flags: Options {
            execution_segment: Some(segment),
            execution_segment_sequence: Some(sequence),
            // The other agents wait for the result of the first agent's setup.
            paused: (!is_first).then_some(true),
            no_setup: (!is_first).then_some(true),
            no_teardown: (!is_first).then_some(true),
            ..Options::default()
        },
        is_offline: true,
        secret_sources: assignment.secret_sources.clone(),
        io: IoMode::parse(&assignment.io)?,
        tls: TlsFiles {
            insecure: assignment.insecure,
            ca: assignment.ca.clone(),
            cert: assignment.cert.clone(),
            key: assignment.key.clone(),
        },
        ..ScriptRequest::of(ARCHIVE)
    })
}

/// A log that sends the script's lines to the coordinator.
fn script_log(events: Sender<Input>, is_loaded: Arc<AtomicBool>) -> ScriptLog {
    Arc::new(move |level, text, fields| {
        if is_loaded.load(Ordering::Relaxed) {
            let fields = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let line = PartEvent::Line(level, text.to_owned(), fields.collect());
            let _ = events.send(Input::Part(line));
        }
    })
}
