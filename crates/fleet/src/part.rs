//! Runs an agent's part of a run, on a thread of its own.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use plimsoll_output::output_csv::TimeFormat;
use plimsoll_plan::{Options, Segment, SegmentSequence};
use plimsoll_run::settings::IoMode;
use plimsoll_run::{
    Load, Request, Run, Script, ScriptLog, ScriptRequest, SourceKind, Workers, prepare,
};

use crate::assignment::{Assignment, plan_hash};
use crate::part_event::{Handle, Input, PartEvent};
use crate::uplink::Uplink;

/// Runs the part to its end. `epoch` identifies the process.
pub fn run(assignment: &Assignment, archive: &[u8], epoch: u64, events: &Sender<Input>) {
    let send = |event| {
        // The agent ends only after this thread.
        let _ = events.send(Input::Part(event));
    };
    if let Err(text) = try_run(assignment, archive, epoch, events) {
        send(PartEvent::Failed(text));
    }
    send(PartEvent::Finished);
}

fn try_run(
    assignment: &Assignment,
    archive: &[u8],
    epoch: u64,
    events: &Sender<Input>,
) -> Result<(), String> {
    let mut file = tempfile::Builder::new()
        .prefix("plimsoll-")
        .suffix(".tar")
        .tempfile()
        .map_err(|error| format!("cannot create a file for the script: {error}; set TMPDIR"))?;
    file.write_all(archive)
        .and_then(|()| file.flush())
        .map_err(|error| format!("cannot write {}: {error}", file.path().display()))?;
    let is_loaded = Arc::new(AtomicBool::new(false));
    let log = script_log(events.clone(), Arc::clone(&is_loaded));
    let request = request(assignment, &file.path().to_string_lossy())?;
    let prepared = prepare(request, &log).map_err(|refusal| refusal.message)?;
    if plan_hash(&prepared.plan) != assignment.plan_hash {
        return Err("its part of the plan differs from the coordinator's".to_owned());
    }
    let prepared = Arc::new(prepared);
    // The coordinator has loaded the script too, and has printed these lines.
    is_loaded.store(true, Ordering::Relaxed);
    let start = Arc::new(OnceLock::new());
    let uplink = Uplink::new(assignment, epoch, Arc::clone(&start), events.clone())?;
    let threads = assignment
        .threads
        .unwrap_or_else(plimsoll_machine::processors);
    let request = Request {
        load: Load::Script(Box::new(Script {
            prepared: Arc::clone(&prepared),
            thresholds: assignment.thresholds,
            breakdown: assignment.breakdown,
            outputs: Vec::new(),
            csv_time: TimeFormat::default(),
            stdout: || Box::new(std::io::sink()),
        })),
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
    run.finish();
    Ok(())
}

fn request(assignment: &Assignment, path: &str) -> Result<ScriptRequest, String> {
    let is_first = assignment.agent == 0;
    let segment = Segment::parse(&assignment.segment).map_err(|fault| fault.to_string())?;
    let sequence =
        SegmentSequence::parse(&assignment.sequence).map_err(|fault| fault.to_string())?;
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
        io: IoMode::parse(&assignment.io)?,
        ..ScriptRequest::of(path)
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
