//! The users of a worker: creates them, assigns them to scenarios and runs their iterations.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_units::Moment;

use crate::in_flight::InFlight;
use crate::time_slice;
use crate::timer::sleep_until;
use crate::{
    AbortReason, Ending, InitError, Iteration, ScenarioContext, Stop, UserFactory, UserId,
    UserMemory, VirtualUser, Worker,
};

/// A worker's users that are not assigned to a scenario, by their slot in the plan, and everything
/// needed to create more.
pub(crate) struct Seats<F: UserFactory> {
    pub worker: Worker,
    pub factory: Arc<F>,
    pub min_iteration: Duration,
    pub in_flight: Rc<InFlight>,
    idle: RefCell<HashMap<u32, Seat<F::User>>>,
    /// Unplanned users that a scenario has returned.
    spare: RefCell<Vec<Seat<F::User>>>,
    /// Stop signals of the running users. An abort fires them.
    pub at_work: RefCell<HashMap<UserId, Stop>>,
}

/// A step of a user outside its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserStep {
    Begin,
    Finish,
}

impl UserStep {
    async fn of<U: VirtualUser>(self, user: &mut U, stop: &Stop) -> Result<(), AbortReason> {
        match self {
            UserStep::Begin => user.begin(stop).await,
            UserStep::Finish => user.finish(stop).await,
        }
    }
}

/// One user with the engine's state for it.
struct Seat<U> {
    id: UserId,
    /// The slot in the plan; `None` for unplanned users.
    slot: Option<u32>,
    user: U,
    iterations: u64,
    stop: Stop,
}

impl<F: UserFactory> Seats<F> {
    pub fn new(worker: Worker, factory: Arc<F>, min_iteration: Duration) -> Self {
        Seats {
            worker,
            factory,
            min_iteration,
            in_flight: Rc::default(),
            idle: RefCell::default(),
            spare: RefCell::default(),
            at_work: RefCell::default(),
        }
    }

    /// Creates the user of a planned slot.
    pub async fn make_planned(&self, slot: u32) -> Result<(), InitError> {
        let seat = self.make(UserId(slot + 1), Some(slot)).await?;
        self.idle.borrow_mut().insert(slot, seat);
        Ok(())
    }

    /// Assigns a planned slot's user to a scenario. Creates another user if an earlier scenario still
    /// uses it, which the plan could not foresee.
    pub async fn take_planned(
        self: &Rc<Self>,
        slot: u32,
        scenario: &Rc<ScenarioContext>,
    ) -> Result<ActiveUser<F>, InitError> {
        let seat = self.idle.borrow_mut().remove(&slot);
        match seat {
            Some(seat) => Ok(self.activate(seat, scenario)),
            None => self.take_unplanned(scenario).await,
        }
    }

    /// Assigns a spare user to a scenario, or creates one.
    pub async fn take_unplanned(
        self: &Rc<Self>,
        scenario: &Rc<ScenarioContext>,
    ) -> Result<ActiveUser<F>, InitError> {
        let spare = self.spare.borrow_mut().pop();
        let seat = match spare {
            Some(seat) => seat,
            None => {
                let id = UserId(self.worker.run.next_unplanned_user());
                let mut seat = self.make(id, None).await?;
                if self.factory.has_user_steps() {
                    let (stop, id) = (seat.stop.clone(), seat.id);
                    self.at_work.borrow_mut().insert(id, stop.clone());
                    stop.adopt_task().await;
                    let init_result = seat.user.begin(&stop).await;
                    self.at_work.borrow_mut().remove(&id);
                    init_result.map_err(InitError)?;
                }
                seat
            }
        };
        Ok(self.activate(seat, scenario))
    }

    /// Runs the first or the last step of all existing users concurrently.
    ///
    /// # Errors
    /// The reason of the first user that requests to abort the run.
    pub async fn step_all(&self, step: UserStep) -> Result<(), AbortReason> {
        let planned: Vec<_> = self
            .idle
            .borrow_mut()
            .drain()
            .map(|(_, seat)| seat)
            .collect();
        let spare = self.spare.take();
        let tasks: Vec<_> = planned
            .into_iter()
            .chain(spare)
            .map(|mut seat| {
                seat.stop.reset();
                self.at_work.borrow_mut().insert(seat.id, seat.stop.clone());
                tokio::task::spawn_local(async move {
                    seat.stop.adopt_task().await;
                    let done = step.of(&mut seat.user, &seat.stop).await;
                    (seat, done)
                })
            })
            .collect();
        let mut outcome = Ok(());
        for task in tasks {
            let (seat, done) = match task.await {
                Ok(ended) => ended,
                Err(panicked) => {
                    let text =
                        format!("a user's task panicked ({panicked}); please report this bug");
                    outcome = Err(AbortReason::Machine(text));
                    continue;
                }
            };
            self.at_work.borrow_mut().remove(&seat.id);
            outcome = outcome.and(done);
            match seat.slot {
                Some(slot) => {
                    self.idle.borrow_mut().insert(slot, seat);
                }
                None => self.spare.borrow_mut().push(seat),
            }
        }
        outcome
    }

    /// The memory of the users that are not assigned to a scenario.
    pub fn memory(&self) -> Option<UserMemory> {
        let (idle, spare) = (self.idle.borrow(), self.spare.borrow());
        let seats = idle.values().chain(spare.iter());
        self.factory.memory(&mut seats.map(|seat| &seat.user))
    }

    /// Interrupts all running users.
    pub fn interrupt_all(&self) {
        for stop in self.at_work.borrow().values() {
            stop.trip();
        }
    }

    async fn make(&self, id: UserId, slot: Option<u32>) -> Result<Seat<F::User>, InitError> {
        let user = self.factory.create(id, &self.worker).await?;
        self.worker.run.user_initialized();
        Ok(Seat {
            id,
            slot,
            user,
            iterations: 0,
            stop: Stop::new(),
        })
    }

    fn activate(
        self: &Rc<Self>,
        mut seat: Seat<F::User>,
        scenario: &Rc<ScenarioContext>,
    ) -> ActiveUser<F> {
        seat.stop.reset();
        seat.user.activate(scenario);
        self.at_work.borrow_mut().insert(seat.id, seat.stop.clone());
        scenario.state.users_taken(1);
        ActiveUser {
            seats: Rc::clone(self),
            scenario: Rc::clone(scenario),
            stop: seat.stop.clone(),
            seat: Some(seat),
            in_scenario: 0,
            counted: false,
            ended: Cell::new(None),
        }
    }
}

/// An iteration in an open model's schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The iteration's number in the whole test.
    pub place: u64,
    pub scheduled: Moment,
}

/// A user that is assigned to a scenario. Dropping it returns the user.
pub(crate) struct ActiveUser<F: UserFactory> {
    seats: Rc<Seats<F>>,
    scenario: Rc<ScenarioContext>,
    pub stop: Stop,
    seat: Option<Seat<F::User>>,
    in_scenario: u64,
    counted: bool,
    /// When the last iteration ended; `None` if that is no longer the current time.
    ended: Cell<Option<Moment>>,
}

impl<F: UserFactory> ActiveUser<F> {
    /// Sets whether this user counts as active. A ramping scenario keeps its users while they are
    /// paused.
    pub fn set_counted(&mut self, counted: bool) {
        if counted == self.counted {
            return;
        }
        self.counted = counted;
        let (run, state) = (&self.seats.worker.run, &self.scenario.state);
        if counted {
            run.user_activated();
            state.user_activated();
        } else {
            run.user_deactivated();
            state.user_deactivated();
        }
    }

    /// Whether another iteration may start before `end`, with no stop signal set.
    pub async fn has_until(&self, end: Moment) -> bool {
        let mut now = self.ended_or_now();
        if time_slice::is_used_up(now) {
            let _ = self.stop.race(time_slice::next()).await;
            now = plimsoll_clock::now();
        }
        now < end && !self.stop.is_stopped()
    }

    /// The current time. Directly after an iteration, this is the end of that iteration, which saves
    /// reading the clock.
    fn ended_or_now(&self) -> Moment {
        self.ended.take().unwrap_or_else(plimsoll_clock::now)
    }

    pub fn is_run_aborted(&self) -> bool {
        self.seats.worker.run.aborted().is_some()
    }

    /// Lets the worker's other tasks run if users have computed for a long time without waiting.
    pub async fn give_way(&self) {
        if time_slice::is_used_up(self.ended_or_now()) {
            // The caller checks the stop signal.
            let _ = self.stop.race(time_slice::next()).await;
        }
    }

    /// Runs the scenario's iteration `number`. Returns false if the user has to stop.
    ///
    /// `entry` is its entry in the schedule of an open model.
    pub async fn run_iteration(&mut self, number: u64, entry: Option<Entry>) -> bool {
        let Some(seat) = self.seat.as_mut() else {
            return false;
        };
        let started = plimsoll_clock::now();
        let scheduled = entry.map(|entry| entry.scheduled);
        if let Some(Entry { place, scheduled }) = entry {
            self.seats.worker.recorder.send_lag(
                started.since(scheduled),
                &self.scenario.tags,
                started,
            );
            let state = &self.scenario.state;
            if let (Some(sent), Some(start)) = (state.sent(), state.started()) {
                sent.record(number, place, started.since(start));
            }
        }
        let iteration = Iteration {
            in_user: seat.iterations,
            in_scenario: self.in_scenario,
            in_instance: number,
            in_test: match entry {
                Some(entry) => entry.place,
                None => {
                    let stripe = &self.scenario.state.scenario.stripe;
                    stripe.place(number).unwrap_or(number)
                }
            },
            scheduled,
            started,
            stop: seat.stop.clone(),
        };
        seat.iterations += 1;
        self.in_scenario += 1;
        let run = &self.seats.worker.run;
        let in_flight = &self.seats.in_flight;
        in_flight.begin(started);
        let ending = seat.user.iterate(&iteration).await;
        let ended = plimsoll_clock::now();
        in_flight.end(ended);
        self.ended.set(Some(ended));
        match ending {
            Ending::Completed => self.scenario.state.iteration_completed(),
            Ending::Threw => {
                run.iteration_threw();
                self.scenario.state.iteration_completed();
            }
            Ending::Interrupted => {
                in_flight.interrupt(ended.since(started));
                run.iteration_interrupted();
                self.scenario.state.mark_interrupted();
                // The worker may not know yet that the run has been aborted. Another iteration would only delay
                // the end of the run: it would first free what this iteration allocated.
                return !self.stop.is_stopped() && run.aborted().is_none();
            }
            Ending::Abort(reason) => {
                run.iteration_interrupted();
                self.scenario.state.iteration_completed();
                run.abort(reason);
                return false;
            }
        }
        let least = self.seats.min_iteration;
        if !least.is_zero() && ended < started + least {
            let waited = self.stop.race(sleep_until(started + least)).await;
            self.ended.take();
            if waited.is_err() {
                // Its samples are recorded, but it did not complete.
                run.iteration_interrupted();
                return false;
            }
        }
        run.iteration_completed();
        !self.stop.is_stopped()
    }
}

impl<F: UserFactory> Drop for ActiveUser<F> {
    fn drop(&mut self) {
        self.set_counted(false);
        let Some(seat) = self.seat.take() else { return };
        self.seats.at_work.borrow_mut().remove(&seat.id);
        match seat.slot {
            Some(slot) => {
                self.seats.idle.borrow_mut().insert(slot, seat);
            }
            None => self.seats.spare.borrow_mut().push(seat),
        }
    }
}
