//! The events of an agent's part of a run, and the controls of the part.

use std::sync::{Arc, OnceLock};

use log::Level;
use plimsoll_run::{Control, PreparedScript};
use plimsoll_units::Moment;

use crate::bus::Delivery;
use crate::messages::{Aborted, SetupData, TakeoverPart};

/// An event of an agent.
pub enum Input {
    Bus(Delivery),
    Part(PartEvent),
    /// Results cannot be stored on disk.
    Spool(String),
}

pub enum PartEvent {
    /// The script was loaded, and users are being created.
    Running(Handle),
    UsersReady,
    /// Setup is complete, and the part waits for its start.
    Waiting,
    /// Scenarios have started, with this delay after the planned start in nanoseconds.
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
    /// The part cannot run.
    Failed(String),
    /// Its thread is about to end. This is always the last event.
    Finished,
}

/// Controls a running part.
pub struct Handle {
    pub control: Control,
    /// The script. `None` for a load without one.
    prepared: Option<Arc<PreparedScript>>,
    start: Arc<OnceLock<Moment>>,
}

impl Handle {
    /// `start` is set once the start is known.
    pub fn new(
        control: Control,
        prepared: Option<Arc<PreparedScript>>,
        start: Arc<OnceLock<Moment>>,
    ) -> Handle {
        Handle {
            control,
            prepared,
            start,
        }
    }

    /// Sets the start of the scenarios. Only the first call has an effect.
    pub fn start_at(&self, at: Moment) {
        if self.start.set(at).is_ok() {
            self.control.start_at(at);
        }
    }

    /// Takes over iterations of a lost agent.
    pub fn take_over(&self, part: &TakeoverPart) {
        // If one of these calls fails, the coordinator detects that iterations are missing.
        if let Ok(takeover) = part.takeover() {
            self.control.take_over(&part.scenario, takeover);
        }
    }

    /// Sets the result of `setup` on another agent, and lets the part wait for its start.
    pub fn set_setup_data(&self, data: &SetupData) {
        if let Some(prepared) = &self.prepared {
            data.apply_to(prepared);
        }
        // If this fails, it was already resumed.
        let _ = self.control.set_paused(false);
    }

    /// The result of `setup`.
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
    /// Passes the result to the users of a script. Outputs must not show the secrets in it.
    pub fn apply_to(&self, prepared: &PreparedScript) {
        if let Some(mask) = &prepared.mask {
            self.secrets.iter().for_each(|secret| mask.hide(secret));
        }
        prepared.program.set_setup_data(self.json.clone());
    }
}
