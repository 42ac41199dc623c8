//! A number of users that follows a curve.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use plimsoll_plan::Executor;
use plimsoll_units::Moment;

use super::{Share, UserTasks};
use crate::seat::ActiveUser;
use crate::timer::sleep_until;
use crate::{InitError, ScenarioContext, Stop, UserFactory};

/// Whether one user may run. The scenario's task opens and closes it.
#[derive(Default)]
pub(super) struct Gate {
    open: Cell<bool>,
    /// The scenario has ended: the gate will not open again.
    over: Cell<bool>,
    /// Counts how often the gate was opened, so a pending interruption can detect that the user was
    /// reactivated in the meantime.
    openings: Cell<u64>,
    waiting: RefCell<Option<Waker>>,
}

impl Gate {
    fn open(&self) {
        self.openings.set(self.openings.get() + 1);
        self.open.set(true);
        self.wake();
    }

    pub(super) fn finish(&self) {
        self.open.set(false);
        self.over.set(true);
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = self.waiting.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Waits until the gate is open. Returns false if it will never open again.
    async fn opened(&self) -> bool {
        poll_fn(|context| {
            if self.open.get() {
                return Poll::Ready(true);
            }
            if self.over.get() {
                return Poll::Ready(false);
            }
            *self.waiting.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

pub(super) struct Member {
    index: u32,
    pub(super) gate: Rc<Gate>,
    stop: Stop,
}

/// A user that was ramped down. It is interrupted when its grace period is over.
pub(super) struct Interruption {
    due: Moment,
    member: usize,
    openings: u64,
}

impl Interruption {
    /// Interrupts the user when its grace period ends, unless it was reactivated.
    async fn serve(&self, members: &[Member]) {
        sleep_until(self.due).await;
        if let Some(member) = members.get(self.member)
            && member.gate.openings.get() == self.openings
            && !member.gate.open.get()
        {
            member.stop.trip();
        }
    }
}

pub(super) async fn run<F: UserFactory>(share: &Share<F>) -> Result<(), InitError> {
    let Executor::RampingUsers {
        start,
        stages,
        graceful_ramp_down,
    } = &share.scenario.state.scenario.executor
    else {
        return Ok(());
    };
    let curve = plimsoll_pace::UserCurve::new(*start, stages);
    let tasks = UserTasks::default();
    let members = assign_users(share, &tasks).await?;
    let mut interruptions = VecDeque::new();
    let followed = follow(
        share,
        &curve,
        &members,
        *graceful_ramp_down,
        &mut interruptions,
    );
    let _ = share.stop.race(followed).await;
    for member in &members {
        member.gate.finish();
    }
    // Users that were ramped down before the end get the grace period of the ramp-down, not the longer
    // one of the end.
    let mut interrupting = pin!(async {
        while let Some(interruption) = interruptions.pop_front() {
            interruption.serve(&members).await;
        }
        pending().await
    });
    let mut finishing = pin!(tasks.finish(share.hard_end(), &share.stop));
    poll_fn(|context| match finishing.as_mut().poll(context) {
        Poll::Ready(ended) => Poll::Ready(ended),
        Poll::Pending => interrupting.as_mut().poll(context),
    })
    .await
}

/// Assigns all users of the share, each behind a closed gate.
pub(super) async fn assign_users<F: UserFactory>(
    share: &Share<F>,
    tasks: &UserTasks,
) -> Result<Vec<Member>, InitError> {
    let mut members = Vec::with_capacity(share.users.len());
    for (index, slot) in &share.users {
        let user = share.take(*slot).await?;
        let gate = Rc::new(Gate::default());
        members.push(Member {
            index: *index,
            gate: Rc::clone(&gate),
            stop: user.stop.clone(),
        });
        let scenario = Rc::clone(&share.scenario);
        let hard_end = share.hard_end();
        tasks.spawn(user, async move |user| {
            work(user, &gate, &scenario, hard_end).await
        });
    }
    Ok(members)
}

/// Opens and closes the gates along the curve until the curve ends.
async fn follow<F: UserFactory>(
    share: &Share<F>,
    curve: &plimsoll_pace::UserCurve,
    members: &[Member],
    grace: Duration,
    interruptions: &mut VecDeque<Interruption>,
) {
    let mut at = Duration::ZERO;
    let ours = |users: u32| {
        let users = share.scenario.state.scenario.stripe.share(users.into());
        u32::try_from(users).unwrap_or(u32::MAX)
    };
    set_users(
        members,
        ours(curve.users_at(at)),
        share.start,
        grace,
        interruptions,
    );
    loop {
        let change = curve.next_change(at);
        let moment = change.map_or(share.regular_end(), |(offset, _)| share.start + offset);
        // Notices are in chronological order, because all have the same grace period.
        while let Some(interruption) = interruptions.front()
            && interruption.due <= moment
        {
            interruption.serve(members).await;
            interruptions.pop_front();
        }
        sleep_until(moment).await;
        let Some((offset, users)) = change else { break };
        at = offset;
        set_users(members, ours(users), moment, grace, interruptions);
    }
}

/// Opens the gates of the users below `users`, and closes the others. `members` is sorted by index,
/// so the gates that change are adjacent.
pub(super) fn set_users(
    members: &[Member],
    users: u32,
    now: Moment,
    grace: Duration,
    interruptions: &mut VecDeque<Interruption>,
) {
    let border = members.partition_point(|member| member.index < users);
    for member in members[..border].iter().rev() {
        if member.gate.open.get() {
            break;
        }
        member.gate.open();
    }
    for (place, member) in members.iter().enumerate().skip(border) {
        if !member.gate.open.get() {
            break;
        }
        member.gate.open.set(false);
        let openings = member.gate.openings.get();
        interruptions.push_back(Interruption {
            due: now + grace,
            member: place,
            openings,
        });
    }
}

async fn work<F: UserFactory>(
    mut user: ActiveUser<F>,
    gate: &Gate,
    scenario: &ScenarioContext,
    hard_end: Moment,
) {
    while gate.opened().await {
        user.stop.reset();
        user.stop.set_deadline(hard_end);
        user.set_counted(true);
        while gate.open.get() {
            let number = scenario.state.begin_iteration();
            if !user.run_iteration(number, None).await {
                // The user was interrupted: at the end of its grace period, unless it was reactivated just then,
                // or together with the whole run.
                break;
            }
            user.give_way().await;
        }
        user.set_counted(false);
        // The gate may still be open, because the scenario notices an abort slightly later.
        if user.is_run_aborted() {
            break;
        }
        if gate.open.get() && user.stop.is_stopped() && plimsoll_clock::now() >= hard_end {
            break;
        }
    }
}
