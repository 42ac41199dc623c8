//! Runs an agent's part of a run, on a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use plimsoll_output::output_csv::TimeFormat;
use plimsoll_plan::{Division, Options, Plan, Segment, SegmentSequence};
use plimsoll_run::settings::IoMode;
use plimsoll_run::{
    Load, Prepared, Request, Run, Script, ScriptLog, ScriptRequest, SourceKind, TlsFiles, Workers,
    prepare, with_files,
};

use crate::assignment::{Assignment, plan_hash};
use crate::limits::Limits;
use crate::load::{ARCHIVE, Resolve, unpack};
use crate::part_event::{Handle, Input, PartEvent};
use crate::uplink::Uplink;

/// Runs the part to its end. `epoch` identifies the process.
pub fn run(
    assignment: &Assignment,
    package: &[u8],
    resolve: Resolve,
    limits: &Limits,
    epoch: u64,
    events: &Sender<Input>,
) {
    let send = |event| {
        // The agent ends only after this thread.
        let _ = events.send(Input::Part(event));
    };
    if let Err(text) = try_run(assignment, package, resolve, limits, epoch, events) {
        send(PartEvent::Failed(text));
    }
    send(PartEvent::Finished);
}

fn try_run(
    assignment: &Assignment,
    package: &[u8],
    resolve: Resolve,
    limits: &Limits,
    epoch: u64,
    events: &Sender<Input>,
) -> Result<(), String> {
    let files = unpack(package)?;
    with_files(files, || {
        if assignment.command.is_empty() {
            let threads = assignment
                .threads
                .unwrap_or_else(plimsoll_machine::processors);
            let (load, prepared) = script(assignment, events)?;
            limits.check(&prepared.plan)?;
            start(assignment, load, threads, Some(prepared), epoch, events)
        } else {
            let (load, threads) = command(assignment, resolve, limits)?;
            start(assignment, load, threads, None, epoch, events)
        }
    })?
    .finish();
    Ok(())
}

/// Starts the part. Files are read until it has started.
fn start(
    assignment: &Assignment,
    load: Load,
    threads: usize,
    prepared: Option<Arc<Prepared>>,
    epoch: u64,
    events: &Sender<Input>,
) -> Result<Run<'static>, String> {
    let start = Arc::new(OnceLock::new());
    let uplink = Uplink::new(assignment, epoch, Arc::clone(&start), events.clone())?;
    let request = Request {
        load,
        threads: threads.max(1),
        record: None,
        until: None,
    };
    let workers = Workers::Part {
        shares_machine: assignment.shares_machine,
    };
    let run = Run::start_on(workers, request, vec![Box::new(uplink)])
        .map_err(|refusal| refusal.message)?;
    let control = run.control();
    control.set_teardown_waits(assignment.agent == 0);
    let handle = Handle::new(control, prepared, start);
    let _ = events.send(Input::Part(PartEvent::Running(handle)));
    Ok(run)
}

/// The part of a script.
fn script(
    assignment: &Assignment,
    events: &Sender<Input>,
) -> Result<(Load, Arc<Prepared>), String> {
    let is_loaded = Arc::new(AtomicBool::new(false));
    let log = script_log(events.clone(), Arc::clone(&is_loaded));
    let prepared = prepare(request(assignment)?, &log).map_err(|refusal| refusal.message)?;
    check(assignment, &prepared.plan)?;
    let prepared = Arc::new(prepared);
    // The coordinator has loaded the script too, and has printed these lines.
    is_loaded.store(true, Ordering::Relaxed);
    let load = Load::Script(Box::new(Script {
        prepared: Arc::clone(&prepared),
        thresholds: assignment.thresholds,
        breakdown: assignment.breakdown,
        outputs: Vec::new(),
        csv_time: TimeFormat::default(),
        stdout: || Box::new(std::io::sink()),
    }));
    Ok((load, prepared))
}

/// The part of a load without a script, and its worker threads.
fn command(
    assignment: &Assignment,
    resolve: Resolve,
    limits: &Limits,
) -> Result<(Load, usize), String> {
    let (segment, sequence) = segment(assignment)?;
    let division = Division::of(segment, &sequence).map_err(|fault| fault.to_string())?;
    let resolved = resolve(&assignment.command)?;
    let own = resolved
        .threads
        .unwrap_or_else(plimsoll_machine::processors);
    // Agents of one machine share its processors.
    let threads = own.min(assignment.threads.unwrap_or(usize::MAX));
    let mut load = resolved.load;
    let threads = load.take_part(&division, threads)?;
    let scenario = load.scenario().ok_or("the command has no load")?;
    let plan = Plan::single(scenario.clone(), Vec::new());
    check(assignment, &plan)?;
    limits.check(&plan)?;
    Ok((load, threads))
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
            // Other agents wait for the data of the first one's setup.
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

/// Sends the script's lines to the coordinator.
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
