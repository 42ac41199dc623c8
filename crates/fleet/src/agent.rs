//! An agent: waits for runs, and runs its part of each.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_units::Moment;
use sha2::{Digest as _, Sha256};

use crate::assignment::{ARCHIVE, Assignment};
use crate::bus::{Bus, Delivery, Server};
use crate::messages::{
    Command, Here, Report, State, TO_ALL, Want, decode_piece, encode, from_agent, to_agent,
};
use crate::part_event::{Handle, Input, PartEvent};
use crate::{part, random};

/// How often the agent reports its state.
const TICK: Duration = Duration::from_millis(200);
/// Frames that are not acknowledged are sent again after this time.
const RESEND: Duration = Duration::from_secs(1);
/// The most frames that are sent again at a time.
const RESENT: usize = 16;
/// The part ends when nothing was heard from the coordinator for this time.
const ALONE: Duration = Duration::from_secs(10);
/// The most bytes of frames that wait for the coordinator.
const SPOOL: usize = 256 << 20;
/// The most lines of scripts that are sent in one second.
const LINES: u32 = 100;

/// The settings of an agent.
pub struct AgentSettings {
    pub server: Server,
    /// Its name, for people.
    pub name: String,
    /// It exits after one run.
    pub is_for_one_run: bool,
    /// Receives messages for the user, one sentence each.
    pub say: Box<dyn Fn(&str)>,
}

/// Serves runs until the process ends, or until the end of its only run.
///
/// # Errors
/// If the server cannot be reached.
pub fn serve(settings: AgentSettings) -> Result<(), String> {
    let epoch = u64::from_be_bytes(random::bytes()?);
    let id = random::hex(&epoch.to_be_bytes());
    let (send, inputs) = channel();
    let deliver = send.clone();
    let subjects = vec![TO_ALL.to_owned(), to_agent(&id)];
    let bus = Bus::connect(&settings.server, subjects, move |delivery| {
        let _ = deliver.send(Input::Bus(delivery));
    })?;
    (settings.say)(&format!(
        "the agent {} waits for runs; press Ctrl-C to exit",
        settings.name
    ));
    let mut agent = Agent {
        subject: from_agent(&id),
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

/// The name of this machine, or one of this process.
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
    part: Option<Active>,
    has_run: bool,
}

/// The part that the agent runs.
struct Active {
    assignment: Assignment,
    /// The archive so far.
    archive: Vec<u8>,
    is_fetched: bool,
    handle: Option<Handle>,
    /// The latest wishes of the coordinator.
    want: Want,
    state: State,
    spool: VecDeque<(u64, Vec<u8>)>,
    spooled: usize,
    is_finished: bool,
    /// When the coordinator was heard.
    heard: Moment,
    /// When it last had more frames than before.
    acknowledged: Moment,
    /// When the latest piece of the archive was requested.
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
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = plimsoll_clock::now();
            if now >= due {
                due = now + TICK;
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
            Command::Find if self.part.is_none() => self.report(&Report::Here(Here {
                name: self.settings.name.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })),
            Command::Find => {}
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

    fn is_part_of(&self, run: &str) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.assignment.run == run)
    }

    fn prepare(&mut self, assignment: Assignment) {
        if self.part.is_some() {
            return;
        }
        (self.settings.say)(&format!(
            "runs the part {} of a test as its agent {}",
            assignment.segment, assignment.agent
        ));
        let now = plimsoll_clock::now();
        self.has_run = true;
        let state = State {
            run: assignment.run.clone(),
            ..State::default()
        };
        self.part = Some(Active {
            assignment,
            archive: Vec::new(),
            is_fetched: false,
            handle: None,
            want: Want::default(),
            state,
            spool: VecDeque::new(),
            spooled: 0,
            is_finished: false,
            heard: now,
            acknowledged: now,
            requested: now,
            lines: 0,
            lines_since: now,
        });
        self.fetch();
    }

    /// Requests the next piece of the archive.
    fn fetch(&mut self) {
        let Some(part) = &mut self.part else { return };
        part.requested = plimsoll_clock::now();
        let request = Report::Fetch {
            run: part.assignment.run.clone(),
            offset: part.archive.len() as u64,
        };
        self.report(&request);
    }

    fn piece(&mut self, offset: u64, piece: &[u8]) {
        let Some(part) = &mut self.part else { return };
        if part.is_fetched || offset != part.archive.len() as u64 {
            return;
        }
        let length = part.assignment.archive_length;
        if length > ARCHIVE {
            self.fail("the archive of the script is too large".to_owned());
            return;
        }
        part.archive.extend_from_slice(piece);
        if (part.archive.len() as u64) < length {
            self.fetch();
            return;
        }
        part.is_fetched = true;
        let archive = std::mem::take(&mut part.archive);
        let assignment = part.assignment.clone();
        if random::hex(&Sha256::digest(&archive)) != assignment.archive_hash {
            self.fail("the archive of the script was changed on its way".to_owned());
            return;
        }
        let (epoch, send) = (self.epoch, self.send.clone());
        let started = std::thread::Builder::new()
            .name("fleet-part".to_owned())
            .spawn(move || part::run(&assignment, &archive, epoch, &send));
        if let Err(error) = started {
            self.fail(format!("could not start a thread: {error}"));
        }
    }

    /// The part cannot run, or continue.
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

    fn want(&mut self, want: Want) {
        let now = plimsoll_clock::now();
        let Some(part) = &mut self.part else { return };
        if part.assignment.run != want.run {
            return;
        }
        part.heard = now;
        while let Some((sequence, frame)) = part.spool.front()
            && *sequence < want.next
        {
            part.spooled -= frame.len();
            part.spool.pop_front();
            part.acknowledged = now;
        }
        let leaves = want.leave;
        part.want = want;
        part.follow();
        if leaves && part.is_finished {
            self.part = None;
        }
    }

    fn part_event(&mut self, event: PartEvent) {
        let Some(part) = self.part.as_mut().filter(|part| !part.is_finished) else {
            if let PartEvent::Running(handle) = event {
                // It was given up while the script was being loaded.
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
                if part.spool.is_empty() {
                    part.acknowledged = plimsoll_clock::now();
                }
                part.spooled += frame.len();
                part.spool.push_back((sequence, frame.clone()));
                self.bus.send(&self.subject, frame);
                if part.spooled > SPOOL {
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
                    ..LINES => text,
                    LINES => format!("more than {LINES} lines in a second: the rest is left out"),
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
    }

    fn tick(&mut self, now: Moment) {
        let Some(part) = &mut self.part else { return };
        if let Some(handle) = &part.handle {
            let reading = handle.control.read();
            part.state.users = reading.users;
            part.state.initialized = reading.users_ready;
        }
        if now.since(part.heard) > ALONE {
            if part.is_finished {
                (self.settings.say)("the coordinator is gone, and some results were not delivered");
                self.part = None;
                return;
            }
            if let Some(handle) = &part.handle {
                let text = "nothing was heard from the coordinator for 10 s".to_owned();
                handle.control.abort(AbortReason::Failed(text));
            }
        }
        let is_slow = !part.spool.is_empty() && now.since(part.acknowledged) > RESEND;
        if is_slow {
            part.acknowledged = now;
            for (_, frame) in part.spool.iter().take(RESENT) {
                self.bus.send(&self.subject, frame.clone());
            }
        }
        let is_waiting = !part.is_fetched && !part.is_finished;
        if is_waiting && now.since(part.requested) > RESEND {
            self.fetch();
        }
        self.report_state();
    }
}

impl Active {
    /// Does what the coordinator wants.
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
        if self.want.teardown {
            handle.control.set_teardown_waits(false);
        }
        if self.want.stop || self.want.leave {
            handle.control.stop();
        }
    }
}
