//! What happens in an agent's part of a run, and how the part is controlled.

use std::sync::{Arc, OnceLock};

use log::Level;
use plimsoll_run::{Control, Prepared};
use plimsoll_units::Moment;

use crate::bus::Delivery;
use crate::messages::{Aborted, SetupData, TakeoverPart};

/// What happens in an agent.
pub enum Input {
    Bus(Delivery),
    Part(PartEvent),
    /// Results cannot be kept on disk.
    Spool(String),
}

/// What happens in a part.
pub enum PartEvent {
    /// The script was loaded, and users are being created.
    Running(Handle),
    UsersReady,
    /// Setup is complete, and the part waits for its start.
    Waiting,
    /// Scenarios have started, this much later than planned. In nanoseconds.
    Started {
        late: u64,
    },
    /// Scenarios have ended after this time, in nanoseconds.
    Done {
        elapsed: u64,
    },
    Frame(Vec<u8>),
    Aborted(Aborted),
    Line(Level, String, Vec<(String, String)>),
    InsufficientUsers {
        scenario: String,
        users: u32,
    },
    /// It cannot run.
    Failed(String),
    /// Its thread is about to end. Always the last event.
    Finished,
}

/// Controls a running part.
pub struct Handle {
    pub control: Control,
    /// The script; `None` for a load without one.
    prepared: Option<Arc<Prepared>>,
    start: Arc<OnceLock<Moment>>,
}

impl Handle {
    /// `start` is set when the moment of the start is known.
    pub fn new(
        control: Control,
        prepared: Option<Arc<Prepared>>,
        start: Arc<OnceLock<Moment>>,
    ) -> Handle {
        Handle {
            control,
            prepared,
            start,
        }
    }

    /// Scenarios start at this moment. Only the first moment counts.
    pub fn start_at(&self, at: Moment) {
        if self.start.set(at).is_ok() {
            self.control.start_at(at);
        }
    }

    /// Takes over iterations of a lost agent.
    pub fn take_over(&self, part: &TakeoverPart) {
        // The coordinator finds the iterations missing if one of these fails.
        if let Ok(takeover) = part.takeover() {
            self.control.take_over(&part.scenario, takeover);
        }
    }

    /// Sets what `setup` returned on another agent, and lets the part wait for its start.
    pub fn set_setup_data(&self, data: &SetupData) {
        if let Some(prepared) = &self.prepared {
            data.put_into(prepared);
        }
        // It was resumed already if this fails.
        let _ = self.control.set_paused(false);
    }

    /// What `setup` returned.
    pub fn setup_data(&self) -> SetupData {
        let prepared = self.prepared.as_ref();
        let data = prepared.and_then(|prepared| prepared.program.setup_data());
        let mask = prepared.and_then(|prepared| prepared.mask.as_ref());
        SetupData {
            json: data.map(|json| json.to_string()),
            secrets: mask.map(|mask| mask.secrets()).unwrap_or_default(),
        }
    }
}

impl SetupData {
    /// Gives it to the users of a script, whose outputs must not show the secrets in it.
    pub fn put_into(&self, prepared: &Prepared) {
        if let Some(mask) = &prepared.mask {
            self.secrets.iter().for_each(|secret| mask.hide(secret));
        }
        prepared.program.set_setup_data(self.json.clone());
    }
}
