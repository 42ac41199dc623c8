//! An agent: waits for runs, and runs its part of each.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_units::Moment;
use sha2::{Digest as _, Sha256};

use crate::access::{Access, PASSWORD};
use crate::assignment::{Assignment, MAX_PACKAGE_LENGTH};
use crate::bus::{Bus, Delivery};
use crate::limits::Limits;
use crate::load::Resolve;
use crate::messages::{
    AgentInfo, COMMANDS_TO_ALL, Command, Instructions, PIECE_LENGTH, Report, State, StoredFile,
    command_subject, decode_piece, encode, encode_piece, report_subject,
};
use crate::part::PartRun;
use crate::part_event::{Handle, Input, PartEvent};
use crate::random;
use crate::spool::{self, Spool};

/// How often the agent reports its state.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);
/// Frames that are not acknowledged after this time are sent again.
const RESEND_AFTER: Duration = Duration::from_secs(1);
/// Maximum number of frames to send again at a time.
const MAX_RESENT_FRAMES: usize = 16;
/// The part ends if no message has arrived from the coordinator for this time.
pub const COORDINATOR_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes in frames that wait for the coordinator.
const MAX_WAITING_BYTES: usize = 256 << 20;
/// Maximum number of lines of scripts to send per second.
const MAX_LINES_PER_SECOND: u32 = 100;

pub struct AgentSettings {
    pub server: Access,
    /// Its name for users.
    pub name: String,
    /// Its region, for `--fleet REGION=N`.
    pub region: Option<String>,
    pub limits: Limits,
    /// Whether it exits after one run.
    pub is_for_one_run: bool,
    /// The directory that stores results until the coordinator has them.
    pub spool: PathBuf,
    /// Resolves the arguments of a command.
    pub resolve: Resolve,
    /// Receives messages for the user, one sentence each.
    pub notify: Box<dyn Fn(&str)>,
}

/// Serves runs until the process exits. With `once`, returns after the first run.
///
/// # Errors
/// If the server cannot be reached.
pub fn serve(settings: AgentSettings) -> Result<(), String> {
    settings.limits.apply()?;
    let epoch = u64::from_be_bytes(random::bytes()?);
    let id = random::hex(&epoch.to_be_bytes());
    let (send, inputs) = channel();
    let deliver = send.clone();
    let subjects = vec![COMMANDS_TO_ALL.to_owned(), command_subject(&id)];
    let bus = Bus::connect(&settings.server, subjects, move |delivery| {
        let _ = deliver.send(Input::Bus(delivery));
    })
    .map_err(|error| {
        format!(
            "could not connect to the NATS server: {error}. Is it running, and is the password in {PASSWORD} or in the file correct?"
        )
    })?;
    (settings.notify)(&format!(
        "the agent {} waits for runs; press Ctrl-C to exit",
        settings.name
    ));
    let mut agent = Agent {
        subject: report_subject(&id),
        settings,
        epoch,
        bus,
        send,
        part: None,
        has_run: false,
    };
    agent.serve(&inputs);
    Ok(())
}

/// The name of this machine. If it is unknown, a name for this process.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.unwrap_or_default().trim().to_owned();
    if name.is_empty() {
        format!("agent-{}", std::process::id())
    } else {
        name
    }
}

struct Agent {
    settings: AgentSettings,
    epoch: u64,
    subject: String,
    bus: Bus,
    send: Sender<Input>,
    part: Option<ActivePart>,
    has_run: bool,
}

/// The part of a run that the agent executes.
struct ActivePart {
    assignment: Assignment,
    /// The packed files received so far.
    package: Vec<u8>,
    is_fetched: bool,
    handle: Option<Handle>,
    /// The latest instructions of the coordinator.
    want: Instructions,
    state: State,
    /// Frames that the coordinator has not confirmed.
    waiting: VecDeque<(u64, Vec<u8>)>,
    waiting_bytes: usize,
    /// The number of frames that it has confirmed.
    confirmed: Arc<AtomicU64>,
    /// All frames, on disk.
    spool: Option<Spool>,
    is_finished: bool,
    /// When the latest message from the coordinator arrived.
    heard: Moment,
    /// When its number of frames last increased.
    acknowledged: Moment,
    /// When the latest piece of the files was requested.
    requested: Moment,
    lines: u32,
    lines_since: Moment,
}

impl Agent {
    fn serve(&mut self, inputs: &Receiver<Input>) {
        let mut due = plimsoll_clock::now();
        loop {
            let wait = due.since(plimsoll_clock::now());
            match inputs.recv_timeout(wait) {
                Ok(Input::Bus(Delivery::Message { bytes, .. })) => self.take(&bytes),
                Ok(Input::Bus(Delivery::Unsent(text))) => self.fail(text),
                Ok(Input::Part(event)) => self.part_event(event),
                Ok(Input::Spool(text)) => (self.settings.notify)(&text),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = plimsoll_clock::now();
            if now >= due {
                due = now + REPORT_INTERVAL;
                self.tick(now);
            }
            if self.part.is_none() && self.has_run && self.settings.is_for_one_run {
                return;
            }
        }
    }

    fn report(&self, report: &Report) {
        self.bus.send(&self.subject, encode(report));
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some((offset, piece)) = decode_piece(bytes) {
            self.piece(offset, piece);
            return;
        }
        // A newer coordinator may send commands that this agent does not know.
        let Ok(command) = serde_json::from_slice(bytes) else {
            return;
        };
        match command {
            Command::Find => self.report(&Report::Here(AgentInfo {
                name: self.settings.name.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                region: self.settings.region.clone(),
                run: self.part.as_ref().map(|part| part.assignment.run.clone()),
                max_users: self.settings.limits.max_users,
            })),
            Command::Collect => self.report(&Report::Kept {
                files: self.stored_files(),
            }),
            Command::Read { file, offset } => self.send_piece(&file, offset),
            Command::Prepare(assignment) => self.prepare(*assignment),
            Command::Want(want) => self.want(want),
            Command::Ping { run, sent } => {
                let received = plimsoll_clock::now().as_nanos();
                if self.is_part_of(&run) {
                    self.report(&Report::Pong {
                        run,
                        sent,
                        received,
                        replied: plimsoll_clock::now().as_nanos(),
                    });
                }
            }
        }
    }

    /// The files of runs that have ended on this agent.
    fn stored_files(&self) -> Vec<StoredFile> {
        let files = spool::files(&self.settings.spool).into_iter();
        let ended = files.filter(|file| !self.is_part_of(&file.run));
        let stored_files = ended.filter_map(|file| {
            Some(StoredFile {
                length: std::fs::metadata(&file.path).ok()?.len(),
                run: file.run,
                agent: file.agent,
                epoch: file.epoch,
            })
        });
        stored_files.collect()
    }

    fn send_piece(&self, wanted: &StoredFile, offset: u64) {
        let files = spool::files(&self.settings.spool);
        let found = files.iter().find(|file| {
            (&file.run, file.agent, file.epoch) == (&wanted.run, wanted.agent, wanted.epoch)
        });
        let piece = found.map(|file| spool::piece(&file.path, offset, PIECE_LENGTH));
        if let Some(Ok(piece)) = piece {
            self.bus.send(&self.subject, encode_piece(offset, &piece));
        }
    }

    fn is_part_of(&self, run: &str) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.assignment.run == run)
    }

    fn prepare(&mut self, assignment: Assignment) {
        if self.part.is_some() {
            return;
        }
        (self.settings.notify)(&format!(
            "runs the part {} of a test as its agent {}",
            assignment.segment, assignment.agent
        ));
        let now = plimsoll_clock::now();
        self.has_run = true;
        let folder = &self.settings.spool;
        let spool = Spool::start(folder, &assignment, self.epoch, self.send.clone());
        let spool = match spool {
            Ok(spool) => Some(spool),
            Err(text) => {
                (self.settings.notify)(&format!(
                    "{text}; the results of this run could not be recovered"
                ));
                None
            }
        };
        let state = State {
            run: assignment.run.clone(),
            ..State::default()
        };
        self.part = Some(ActivePart {
            assignment,
            package: Vec::new(),
            is_fetched: false,
            handle: None,
            want: Instructions::default(),
            state,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            confirmed: Arc::default(),
            spool,
            is_finished: false,
            heard: now,
            acknowledged: now,
            requested: now,
            lines: 0,
            lines_since: now,
        });
        self.request_piece();
    }

    /// Requests the next piece of the files.
    fn request_piece(&mut self) {
        let Some(part) = &mut self.part else { return };
        part.requested = plimsoll_clock::now();
        let request = Report::Fetch {
            run: part.assignment.run.clone(),
            offset: part.package.len() as u64,
        };
        self.report(&request);
    }

    fn piece(&mut self, offset: u64, piece: &[u8]) {
        let Some(part) = &mut self.part else { return };
        if part.is_fetched || offset != part.package.len() as u64 {
            return;
        }
        let length = part.assignment.package_length;
        if length > MAX_PACKAGE_LENGTH {
            self.fail("the script and its files are too large for a fleet".to_owned());
            return;
        }
        part.package.extend_from_slice(piece);
        if (part.package.len() as u64) < length {
            self.request_piece();
            return;
        }
        part.is_fetched = true;
        let package = std::mem::take(&mut part.package);
        let assignment = part.assignment.clone();
        if random::hex(&Sha256::digest(&package)) != assignment.package_hash {
            self.fail("the files of the run were damaged in transit".to_owned());
            return;
        }
        let run = PartRun {
            assignment,
            package,
            resolve: self.settings.resolve,
            limits: self.settings.limits.clone(),
            epoch: self.epoch,
            confirmed: Arc::clone(&part.confirmed),
            events: self.send.clone(),
        };
        let started = std::thread::Builder::new()
            .name("fleet-part".to_owned())
            .spawn(move || run.run());
        if let Err(error) = started {
            self.fail(format!("could not start a thread: {error}"));
        }
    }

    /// Reports that the part cannot run or continue.
    fn fail(&mut self, text: String) {
        let Some(part) = &mut self.part else { return };
        match &part.handle {
            Some(handle) => handle.control.abort(AbortReason::Failed(text.clone())),
            None => part.is_finished = true,
        }
        part.state.failed.get_or_insert(text);
        self.report_state();
    }

    fn report_state(&self) {
        if let Some(part) = &self.part {
            self.report(&Report::State(Box::new(part.state.clone())));
        }
    }

    fn want(&mut self, want: Instructions) {
        let now = plimsoll_clock::now();
        let Some(part) = &mut self.part else { return };
        if part.assignment.run != want.run {
            return;
        }
        part.heard = now;
        part.confirmed.store(want.next, Ordering::Relaxed);
        while let Some((sequence, frame)) = part.waiting.front()
            && *sequence < want.next
        {
            part.waiting_bytes -= frame.len();
            part.waiting.pop_front();
            part.acknowledged = now;
        }
        part.want = want;
        part.follow();
        self.leave();
    }

    /// Leaves the run if it has ended here and the coordinator needs no more results.
    fn leave(&mut self) {
        let is_over = |part: &mut ActivePart| part.want.leave && part.is_finished;
        if let Some(part) = self.part.take_if(is_over)
            && let Some(spool) = part.spool
        {
            spool.delete();
        }
    }

    fn part_event(&mut self, event: PartEvent) {
        let Some(part) = self.part.as_mut().filter(|part| !part.is_finished) else {
            if let PartEvent::Running(handle) = event {
                // The coordinator gave up this agent while the script was being loaded.
                handle.control.set_teardown_waits(false);
                handle.control.stop();
            }
            return;
        };
        let run = part.assignment.run.clone();
        match event {
            PartEvent::Running(handle) => {
                part.handle = Some(handle);
                part.follow();
                return;
            }
            PartEvent::Frame(frame) => {
                let sequence = part.state.frames;
                part.state.frames += 1;
                if part.waiting.is_empty() {
                    part.acknowledged = plimsoll_clock::now();
                }
                part.waiting_bytes += frame.len();
                if let Some(spool) = &part.spool {
                    spool.add(&frame);
                }
                part.waiting.push_back((sequence, frame.clone()));
                self.bus.send(&self.subject, frame);
                if part.waiting_bytes > MAX_WAITING_BYTES {
                    self.fail("the coordinator does not receive the results".to_owned());
                }
                return;
            }
            PartEvent::Line(level, text, fields) => {
                let now = plimsoll_clock::now();
                if now.since(part.lines_since) >= Duration::from_secs(1) {
                    (part.lines, part.lines_since) = (0, now);
                }
                part.lines += 1;
                let text = match part.lines {
                    ..MAX_LINES_PER_SECOND => text,
                    MAX_LINES_PER_SECOND => format!(
                        "more than {MAX_LINES_PER_SECOND} lines in a second: the others are omitted"
                    ),
                    _ => return,
                };
                let line = Report::Line {
                    run,
                    level: level.as_str().to_lowercase(),
                    text,
                    fields: fields.into_iter().collect(),
                };
                self.report(&line);
                return;
            }
            PartEvent::InsufficientUsers { scenario, users } => {
                self.report(&Report::InsufficientUsers {
                    run,
                    scenario,
                    users,
                });
                return;
            }
            PartEvent::UsersReady => part.state.users_ready = true,
            PartEvent::Waiting => {
                part.state.waiting = true;
                if part.assignment.agent == 0 {
                    part.state.setup = part.handle.as_ref().map(Handle::setup_data);
                }
            }
            PartEvent::Started { late } => {
                part.state.late = Some(late);
                part.state.setup = None;
            }
            PartEvent::Done { elapsed } => part.state.done = Some(elapsed),
            PartEvent::Aborted(aborted) => part.state.aborted = Some(aborted),
            PartEvent::Failed(text) => part.state.failed = Some(text),
            PartEvent::Finished => {
                part.is_finished = true;
                part.state.ended = true;
                part.state.users = 0;
                part.handle = None;
            }
        }
        self.report_state();
        // The coordinator may have sent its last command before.
        self.leave();
    }

    fn tick(&mut self, now: Moment) {
        let Some(part) = &mut self.part else { return };
        if let Some(handle) = &part.handle {
            let reading = handle.control.read();
            part.state.users = reading.users;
            part.state.initialized = reading.users_ready;
        }
        if now.since(part.heard) > COORDINATOR_TIMEOUT {
            if part.is_finished {
                (self.settings.notify)("lost the coordinator before all results were delivered");
                self.part = None;
                return;
            }
            if let Some(handle) = &part.handle {
                let text = "no message from the coordinator for 10 s".to_owned();
                handle.control.abort(AbortReason::Failed(text));
            }
        }
        let is_slow = !part.waiting.is_empty() && now.since(part.acknowledged) > RESEND_AFTER;
        if is_slow {
            part.acknowledged = now;
            for (_, frame) in part.waiting.iter().take(MAX_RESENT_FRAMES) {
                self.bus.send(&self.subject, frame.clone());
            }
        }
        let is_waiting = !part.is_fetched && !part.is_finished;
        if is_waiting && now.since(part.requested) > RESEND_AFTER {
            self.request_piece();
        }
        self.report_state();
    }
}

impl ActivePart {
    /// Follows the latest instructions of the coordinator.
    fn follow(&mut self) {
        let Some(handle) = &self.handle else {
            if self.want.leave && !self.is_fetched {
                self.is_finished = true;
            }
            return;
        };
        if let Some(data) = self.want.setup.as_ref().filter(|_| !self.state.waiting) {
            handle.set_setup_data(data);
        }
        if let Some(start) = self.want.start {
            handle.start_at(Moment::from_nanos(start));
        }
        for part in self.want.takeovers.iter().skip(self.state.takeovers) {
            handle.take_over(part);
            self.state.takeovers += 1;
        }
        if self.want.teardown {
            handle.control.set_teardown_waits(false);
        }
        if self.want.stop || self.want.leave {
            handle.control.stop();
        }
    }
}
