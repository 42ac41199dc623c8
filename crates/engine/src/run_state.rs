//! State of a run that all workers share, and the reasons why a run can end early.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use plimsoll_units::Moment;

use crate::UserId;

/// The reason why a run ended before its scenarios did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// The script called `exec.test.abort` with this message.
    ByScript(String),
    /// A threshold with `abortOnFail` was crossed.
    Threshold,
    /// The requested precision has been reached, so no more samples are needed.
    Precise,
    /// A user at the terminal, or another process, sent a signal.
    Signal,
    /// A client of the run's API requested it.
    ByApi,
    /// The script threw an exception where a run cannot continue: in its init code or in setup.
    ScriptException(String),
    /// The script threw an exception in the init code of this user.
    UserException(UserId, String),
    /// `setup` did not end within `setupTimeout`.
    SetupTimeout(String),
    /// `teardown` did not end within `teardownTimeout`.
    TeardownTimeout(String),
    /// Another failure that ends the run, for example a promise rejected in setup.
    Failed(String),
    /// The operating system refused a resource that the run needs.
    Machine(String),
}

/// The state that all workers share: counters, and the request to abort. Everything is atomic, and
/// no method blocks.
#[derive(Debug, Default)]
pub struct RunState {
    users_active: AtomicU32,
    users_initialized: AtomicU32,
    iterations_completed: AtomicU64,
    iterations_interrupted: AtomicU64,
    iterations_threw: AtomicU64,
    started: OnceLock<Moment>,
    ended: OnceLock<Moment>,
    abort: OnceLock<AbortReason>,
    /// `exec.test.fail` was called: the run continues, and fails at its end.
    marked_failed: AtomicBool,
    next_user: AtomicU32,
    paused: AtomicBool,
    /// When the scenarios start, if another process decides that.
    start_at: OnceLock<Moment>,
    teardown_waits: AtomicBool,
}

impl RunState {
    /// Creates the state of a run that has not started.
    pub fn new() -> Self {
        RunState::default()
    }

    /// Number of users that are currently assigned to a scenario.
    pub fn users_active(&self) -> u32 {
        self.users_active.load(Ordering::Relaxed)
    }

    /// Number of users whose init code has run.
    pub fn users_initialized(&self) -> u32 {
        self.users_initialized.load(Ordering::Relaxed)
    }

    /// Number of iterations that ended normally.
    pub fn iterations_completed(&self) -> u64 {
        self.iterations_completed.load(Ordering::Relaxed)
    }

    /// Number of iterations that were interrupted.
    pub fn iterations_interrupted(&self) -> u64 {
        self.iterations_interrupted.load(Ordering::Relaxed)
    }

    /// Number of iterations in which a script threw an exception. They also count as completed.
    pub fn iterations_threw(&self) -> u64 {
        self.iterations_threw.load(Ordering::Relaxed)
    }

    /// When the first scenario could start, after setup.
    pub fn started(&self) -> Option<Moment> {
        self.started.get().copied()
    }

    /// When the last scenario ended, before teardown.
    pub fn ended(&self) -> Option<Moment> {
        self.ended.get().copied()
    }

    /// Asks every worker to stop immediately. Only the first reason is stored.
    pub fn abort(&self, reason: AbortReason) {
        // A later reason is a consequence of the first.
        let _ = self.abort.set(reason);
    }

    /// Why the run was aborted, if it was.
    pub fn aborted(&self) -> Option<&AbortReason> {
        self.abort.get()
    }

    /// Marks the run as failed without ending it.
    pub fn mark_failed(&self) {
        self.marked_failed.store(true, Ordering::Relaxed);
    }

    /// Whether the run was marked as failed.
    pub fn marked_failed(&self) -> bool {
        self.marked_failed.load(Ordering::Relaxed)
    }

    /// Pauses or resumes the run. If the run has not started, a pause delays the start. Afterwards it
    /// affects only externally controlled scenarios: their running iterations end, and no further ones
    /// start.
    pub fn set_paused(&self, is_paused: bool) {
        self.paused.store(is_paused, Ordering::Relaxed);
    }

    /// Whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Sets when the scenarios start, for a run that waits for this call ([`Setting`](crate::Setting)).
    /// Only the first call has an effect.
    pub fn start_at(&self, at: Moment) {
        let _ = self.start_at.set(at);
    }

    pub(crate) fn start_moment(&self) -> Option<Moment> {
        self.start_at.get().copied()
    }

    /// Makes teardown wait, or lets it run.
    pub fn set_teardown_waits(&self, waits: bool) {
        self.teardown_waits.store(waits, Ordering::Relaxed);
    }

    pub(crate) fn teardown_waits(&self) -> bool {
        self.teardown_waits.load(Ordering::Relaxed)
    }

    pub(crate) fn set_users(&self, active: u32, ready: u32) {
        self.users_active.store(active, Ordering::Relaxed);
        self.users_initialized.store(ready, Ordering::Relaxed);
    }

    pub(crate) fn add_iterations(&self, completed: u64, interrupted: u64, threw: u64) {
        for (counter, more) in [
            (&self.iterations_completed, completed),
            (&self.iterations_interrupted, interrupted),
            (&self.iterations_threw, threw),
        ] {
            counter.fetch_add(more, Ordering::Relaxed);
        }
    }

    pub(crate) fn start(&self, at: Moment) {
        let _ = self.started.set(at);
    }

    pub(crate) fn end(&self, at: Moment) {
        let _ = self.ended.set(at);
    }

    pub(crate) fn user_initialized(&self) {
        self.users_initialized.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn user_activated(&self) {
        self.users_active.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn user_deactivated(&self) {
        self.users_active.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn iteration_completed(&self) {
        self.iterations_completed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn iteration_interrupted(&self) {
        self.iterations_interrupted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn iteration_threw(&self) {
        self.iterations_threw.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of the first user beyond the planned ones.
    pub(crate) fn number_unplanned_from(&self, first: u32) {
        self.next_user.store(first, Ordering::Relaxed);
    }

    pub(crate) fn next_unplanned_user(&self) -> u32 {
        self.next_user.fetch_add(1, Ordering::Relaxed)
    }
}
