//! Open models: iterations start on schedule, whether or not earlier ones have ended. Iterations
//! for which no user is free count as dropped and never start later.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use plimsoll_pace::{Pacer, Takeover};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Share, UserTasks};
use crate::seat::{ActiveUser, Entry};
use crate::timer::sleep_until;
use crate::{InitError, Notice, UserFactory};

/// Interval at which a worker checks for iterations to take over.
const TAKEOVER_INTERVAL: Duration = Duration::from_millis(100);
/// Iterations of another process that have been due for longer than this are dropped. Starting all
/// of them together would cause a burst that no schedule contains.
const MAX_TAKEOVER_DELAY: Duration = Duration::from_secs(1);

/// How long after the scenario's end its schedule may still start iterations, if it is late. Further ones are dropped.
const MAX_OVERRUN: Duration = Duration::from_secs(1);

/// An iteration for which a worker had no free user, and which it offers to another worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handover {
    number: u64,
    entry: Entry,
}

/// One worker's channels for passing iterations to other workers.
pub(crate) struct Handovers {
    me: usize,
    to: Vec<UnboundedSender<Handover>>,
    from: RefCell<Option<UnboundedReceiver<Handover>>>,
    /// The number of idle users of each worker, as known to the others.
    idle: Arc<Vec<AtomicU32>>,
}

impl Handovers {
    /// The channels of `workers` workers.
    pub fn for_workers(workers: usize) -> Vec<Handovers> {
        let idle: Arc<Vec<AtomicU32>> = Arc::new((0..workers).map(|_| AtomicU32::new(0)).collect());
        let (to, from): (Vec<_>, Vec<_>) = (0..workers).map(|_| unbounded_channel()).unzip();
        from.into_iter()
            .enumerate()
            .map(|(me, from)| Handovers {
                me,
                to: to.clone(),
                from: RefCell::new(Some(from)),
                idle: Arc::clone(&idle),
            })
            .collect()
    }

    fn set_idle(&self, count: usize) {
        self.idle[self.me].store(count as u32, Ordering::Relaxed);
    }

    /// Offers the iteration to another worker that seems to have a free user.
    fn offer(&self, handover: Handover) -> bool {
        let others = (0..self.to.len()).filter(|worker| *worker != self.me);
        others
            .filter(|worker| {
                // Decrement the count immediately, so a burst does not go entirely to one worker with a single
                // idle user.
                self.idle[*worker]
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                    .is_ok()
            })
            .any(|worker| self.to[worker].send(handover).is_ok())
    }
}

/// Waits for the next iteration of a user.
#[derive(Default)]
struct Mailbox {
    job: Cell<Option<Handover>>,
    closed: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Mailbox {
    fn post(&self, job: Handover) {
        self.job.set(Some(job));
        self.wake();
    }

    fn close(&self) {
        self.closed.set(true);
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = self.waiting.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }

    async fn next(&self) -> Option<Handover> {
        poll_fn(|context| {
            if let Some(job) = self.job.take() {
                return Poll::Ready(Some(job));
            }
            if self.closed.get() {
                return Poll::Ready(None);
            }
            // A user has a single task while it belongs to this scenario, so the waker stays valid.
            let mut waiting = self.waiting.borrow_mut();
            if waiting.is_none() {
                *waiting = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

/// The users of the share: which of them are free, and how to create more.
struct Pool<F: UserFactory> {
    share: Rc<Share<F>>,
    tasks: UserTasks,
    mailboxes: RefCell<Vec<Rc<Mailbox>>>,
    /// The idle users, longest idle first, so all users are used equally.
    idle: RefCell<VecDeque<usize>>,
    /// Iterations that other workers pass to this one.
    passed: RefCell<Option<UnboundedReceiver<Handover>>>,
    dropped: Cell<bool>,
}

pub(super) async fn run<F: UserFactory>(share: &Rc<Share<F>>) -> Result<(), InitError> {
    let pool = Rc::new(Pool {
        share: Rc::clone(share),
        tasks: UserTasks::default(),
        mailboxes: RefCell::default(),
        idle: RefCell::default(),
        passed: RefCell::new(share.handovers.from.borrow_mut().take()),
        dropped: Cell::new(false),
    });
    for (_, slot) in &share.users {
        let user = share.take(*slot).await?;
        let place = pool.start_user(user);
        pool.idle.borrow_mut().push_back(place);
    }
    pool.publish_idle();
    let helping = tokio::task::spawn_local(Rc::clone(&pool).take_handovers());
    let paced = share.stop.race(pool.follow_schedule()).await;
    let _ = share.stop.race(sleep_until(share.regular_end())).await;
    helping.abort();
    pool.refuse_handovers();
    pool.mailboxes
        .borrow()
        .iter()
        .for_each(|mailbox| mailbox.close());
    pool.tasks.finish(share.hard_end(), &share.stop).await?;
    paced.unwrap_or(Ok(()))
}

impl<F: UserFactory> Pool<F> {
    /// Starts this worker's part of the scheduled iterations when they are due: those of this process,
    /// and those that it takes over from others.
    async fn follow_schedule(self: &Rc<Self>) -> Result<(), InitError> {
        let (share, state) = (&self.share, &self.share.scenario.state);
        let Some(pacer) = plimsoll_pace::of_scenario(&state.scenario) else {
            // This module is only used for executors that follow a schedule.
            return Ok(());
        };
        let end = share.regular_end();
        let entry = |part: &Takeover, n: u64| {
            let place = part.place(n)?;
            let scheduled = share.start + pacer.start_of(place)?;
            (scheduled <= end).then_some(Entry { place, scheduled })
        };
        let line = |part: Takeover| {
            let mut numbers = owned(&share.users, share.planned, share.leads());
            let mut next = move |part: &Takeover| {
                let n = numbers.next()?;
                let entry = entry(part, n)?;
                // An iteration of another process keeps its number in that process.
                let number = part.number(n)?;
                Some(Handover { number, entry })
            };
            let first = next(&part);
            (part, first, next)
        };
        let mut lines = vec![line(Takeover::all(state.scenario.stripe.clone()))];
        let mut late = 0_u32;
        loop {
            while let Some(part) = state.takeover(lines.len() - 1) {
                lines.push(line(part));
            }
            let due = lines.iter().enumerate().filter_map(|(at, (_, next, _))| {
                let next = (*next)?;
                Some((next.entry.scheduled, at, next))
            });
            let due = due.min_by_key(|(scheduled, at, _)| (*scheduled, *at));
            let now = plimsoll_clock::now();
            let Some((scheduled, at, job)) = due else {
                if !state.may_take_over() || now >= end {
                    return Ok(());
                }
                sleep_until((now + TAKEOVER_INTERVAL).min(end)).await;
                continue;
            };
            if scheduled > now {
                if state.may_take_over() && scheduled > now + TAKEOVER_INTERVAL {
                    sleep_until(now + TAKEOVER_INTERVAL).await;
                    continue;
                }
                sleep_until(scheduled).await;
                late = 0;
            } else {
                // Even if the schedule is late, the users that it has started must get to run.
                late += 1;
                if late.is_multiple_of(16) {
                    tokio::task::yield_now().await;
                }
            }
            let (part, next, following) = &mut lines[at];
            *next = following(part);
            if end + MAX_OVERRUN < now {
                self.drop_one(job);
                continue;
            }
            if at > 0 && scheduled + MAX_TAKEOVER_DELAY < now {
                self.drop_one(job);
            } else {
                self.begin(job).await?;
            }
        }
    }

    async fn begin(self: &Rc<Self>, job: Handover) -> Result<(), InitError> {
        let state = &self.share.scenario.state;
        if self.give_to_idle(job) {
            return Ok(());
        }
        if state.take_unplanned() {
            let user = self
                .share
                .seats
                .take_unplanned(&self.share.scenario)
                .await?;
            let place = self.start_user(user);
            self.mailboxes.borrow()[place].post(job);
            return Ok(());
        }
        if !self.share.handovers.offer(job) {
            self.drop_one(job);
        }
        Ok(())
    }

    fn give_to_idle(&self, job: Handover) -> bool {
        let Some(place) = self.idle.borrow_mut().pop_front() else {
            return false;
        };
        self.publish_idle();
        self.mailboxes.borrow()[place].post(job);
        true
    }

    async fn take_handovers(self: Rc<Self>) {
        while let Some(job) = poll_fn(|context| self.poll_passed(context)).await {
            if !self.give_to_idle(job) {
                self.drop_one(job);
            }
        }
    }

    fn poll_passed(&self, context: &mut Context<'_>) -> Poll<Option<Handover>> {
        let mut passed = self.passed.borrow_mut();
        passed
            .as_mut()
            .map_or(Poll::Ready(None), |passed| passed.poll_recv(context))
    }

    /// Stops accepting iterations from other workers. Those already passed on are too late.
    fn refuse_handovers(&self) {
        let Some(mut passed) = self.passed.borrow_mut().take() else {
            return;
        };
        passed.close();
        while let Ok(job) = passed.try_recv() {
            // Iterations that did not start because of an abort do not count as dropped.
            if !self.share.stop.is_stopped() {
                self.drop_one(job);
            }
        }
    }

    fn drop_one(&self, job: Handover) {
        let state = &self.share.scenario.state;
        state.iterations_dropped(1);
        let tags = &self.share.scenario.tags;
        let recorder = &self.share.seats.worker.recorder;
        recorder.dropped(1, tags, job.entry.scheduled, plimsoll_clock::now());
        if !self.dropped.replace(true) && state.first_drop() {
            (self.share.notify)(Notice::InsufficientUsers {
                scenario: state.scenario.name.clone(),
                executor: state.scenario.executor.kind().name(),
                users: state.scenario.max_users(),
            });
        }
    }

    /// Starts a user's task and returns the user's index.
    fn start_user(self: &Rc<Self>, user: ActiveUser<F>) -> usize {
        let mailbox = Rc::new(Mailbox::default());
        let place = {
            let mut mailboxes = self.mailboxes.borrow_mut();
            mailboxes.push(Rc::clone(&mailbox));
            mailboxes.len() - 1
        };
        user.stop.set_deadline(self.share.hard_end());
        let pool = Rc::downgrade(self);
        let state = Arc::clone(&self.share.scenario.state);
        self.tasks
            .spawn(user, async move |mut user: ActiveUser<F>| {
                while let Some(job) = mailbox.next().await {
                    user.set_counted(true);
                    // The schedule numbers the iterations; this only counts those that start.
                    let _ = state.begin_iteration();
                    let go_on = user.run_iteration(job.number, Some(job.entry)).await;
                    user.set_counted(false);
                    let Some(pool) = pool.upgrade() else { break };
                    if !go_on {
                        break;
                    }
                    pool.idle.borrow_mut().push_back(place);
                    pool.publish_idle();
                }
            });
        place
    }

    fn publish_idle(&self) {
        self.share.handovers.set_idle(self.idle.borrow().len());
    }
}

/// The numbers of the iterations that belong to a worker. Iteration n belongs to planned user n mod
/// `planned`, whichever worker that user is on, so workers receive iterations in proportion to
/// their users. Without planned users, all iterations belong to the worker that `leads`.
fn owned(users: &[(u32, u32)], planned: u32, leads: bool) -> impl Iterator<Item = u64> {
    let (indices, round): (Vec<u64>, u64) = match planned {
        0 => (leads.then_some(0).into_iter().collect(), 1),
        _ => (
            users.iter().map(|(index, _)| u64::from(*index)).collect(),
            u64::from(planned),
        ),
    };
    let rounds = if indices.is_empty() {
        0
    } else {
        u64::MAX / round
    };
    (0..rounds).flat_map(move |turn| indices.clone().into_iter().map(move |i| turn * round + i))
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Moment;

    use super::*;

    #[test]
    fn iterations_are_distributed_in_proportion_to_users() {
        let first: Vec<_> = owned(&[(0, 0), (2, 2)], 3, true).take(4).collect();
        let second: Vec<_> = owned(&[(1, 1)], 3, false).take(2).collect();
        assert_eq!(first, [0, 2, 3, 5]);
        assert_eq!(second, [1, 4]);
    }

    #[test]
    fn without_planned_users_the_leading_worker_gets_all_iterations() {
        assert_eq!(owned(&[], 0, true).take(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(owned(&[], 0, false).count(), 0);
        assert_eq!(owned(&[], 5, false).count(), 0);
    }

    #[test]
    fn a_handover_goes_to_a_worker_that_has_an_idle_user() {
        let ends = Handovers::for_workers(2);
        let job = Handover {
            number: 1,
            entry: Entry {
                place: 1,
                scheduled: Moment::ZERO,
            },
        };
        assert!(!ends[0].offer(job), "nobody is idle");
        ends[1].set_idle(1);
        assert!(ends[0].offer(job));
        assert!(!ends[0].offer(job), "that one user is taken");
        assert_eq!(
            ends[1]
                .from
                .borrow_mut()
                .as_mut()
                .unwrap()
                .try_recv()
                .unwrap()
                .number,
            1
        );
    }
}
