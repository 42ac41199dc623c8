//! Timers with a finer resolution than a millisecond.
//!
//! The runtime's own timers are rounded up to whole milliseconds. That is fine for timeouts, but
//! far too coarse for pacing and for think times. Each worker has one kernel timer (timerfd) and a
//! heap of deadlines.
//!
//! A sleeping processor takes tens of microseconds to wake up. If the alarm were set to the
//! deadline itself, requests would start late by that much. So the alarm is set slightly early if
//! [`Wakefulness`] allows it, and the worker waits actively for the rest.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use plimsoll_units::Moment;

use crate::time_slice;

/// Number of this program's threads per processor, including those of other processes.
static THREADS_PER_PROCESSOR: AtomicU32 = AtomicU32::new(1);

/// Sets how many workers of this program, in all processes, share the processors. Together, the
/// processes then wait actively for no longer than one process would.
pub fn set_threads_per_processor(workers: usize, processors: usize) {
    let threads_per_processor = workers.div_ceil(processors.max(1)).max(1);
    THREADS_PER_PROCESSOR.store(
        u32::try_from(threads_per_processor).unwrap_or(u32::MAX),
        Ordering::Relaxed,
    );
}

thread_local! {
    static TIMERS: RefCell<Option<Rc<Timers>>> = const { RefCell::new(None) };
}

/// Resolves at `deadline`, or immediately if it has passed. Must be awaited on a worker's thread,
/// inside [`run_with_timers`].
pub fn sleep_until(deadline: Moment) -> Sleep {
    Sleep {
        deadline,
        key: None,
    }
}

/// Resolves after `span`.
pub fn sleep(span: Duration) -> Sleep {
    sleep_until(plimsoll_clock::now() + span)
}

/// A pending timer. Dropping it cancels it.
#[derive(Debug)]
pub struct Sleep {
    deadline: Moment,
    key: Option<Key>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    slot: u32,
    generation: u32,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if plimsoll_clock::now() >= self.deadline {
            return Poll::Ready(());
        }
        let deadline = self.deadline;
        with_timers(|timers| match self.key {
            Some(key) => timers.rewake(key, context.waker()),
            None => self.key = Some(timers.add(deadline, context.waker().clone())),
        });
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // The thread's timers may already be freed when a worker ends.
            let _ = TIMERS.try_with(|timers| {
                if let Ok(timers) = timers.try_borrow()
                    && let Some(timers) = timers.as_ref()
                {
                    timers.cancel(key);
                }
            });
        }
    }
}

/// Installs this thread's timers and runs `work`. Call it inside a `LocalSet`, because the timers'
/// own task runs on it.
///
/// # Errors
/// If the kernel refuses to create a timer.
pub async fn run_with_timers<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let timers = Rc::new(Timers::default());
    TIMERS.set(Some(Rc::clone(&timers)));
    let alarm = alarm::Alarm::new()?;
    let driver = tokio::task::spawn_local(drive(timers, alarm));
    time_slice::begin(Some(plimsoll_clock::now()));
    let value = work.await;
    time_slice::begin(None);
    driver.abort();
    TIMERS.set(None);
    Ok(value)
}

/// Sets the kernel's timer to the next deadline, and wakes tasks that are due.
async fn drive(timers: Rc<Timers>, alarm: alarm::Alarm) {
    poll_fn(|context| {
        *timers.driver.borrow_mut() = Some(context.waker().clone());
        Poll::Ready(())
    })
    .await;
    let mut wakefulness = Wakefulness::new(plimsoll_clock::now());
    loop {
        let now = plimsoll_clock::now();
        time_slice::begin(Some(now));
        let next = timers.fire_due(now);
        let waited = match next {
            Some(deadline) => {
                let asleep = alarm
                    .wait_until(wakefulness.alarm(deadline, plimsoll_clock::now()), &timers)
                    .await;
                let started = plimsoll_clock::now();
                let mut now = started;
                while now < deadline && !timers.nearer.get() && asleep.is_ok() {
                    // Let all other tasks run, and let the runtime poll sockets.
                    tokio::task::yield_now().await;
                    now = plimsoll_clock::now();
                }
                wakefulness.spend(now.since(started));
                asleep
            }
            None => {
                timers.changed().await;
                Ok(())
            }
        };
        if waited.is_err() {
            // The kernel created a timer but refused to set it, which our arguments cannot cause. A coarse wait
            // keeps users running.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Limits the share of time that a worker may wait actively. Active waiting keeps a few hundred
/// starts per second on time. At tens of thousands per second it would take processor time from the
/// load without a benefit, because a processor that wakes up so often does not sleep deeply.
struct Wakefulness {
    /// Time for active waiting that is available as of `counted`.
    credit: Duration,
    counted: Moment,
}

impl Wakefulness {
    /// How long before a deadline the alarm is set: the wake-up time of a virtual processor, measured
    /// at 30 to 35 µs, plus a margin.
    const EARLY: Duration = Duration::from_micros(45);
    /// Active waiting may use the reciprocal of this number of a processor's time.
    const SHARE: u32 = 25;
    /// Maximum time that can accumulate.
    const MAX_CREDIT: Duration = Duration::from_millis(1);

    fn new(now: Moment) -> Wakefulness {
        Wakefulness {
            credit: Self::MAX_CREDIT,
            counted: now,
        }
    }

    /// When to set the alarm for `deadline`.
    fn alarm(&mut self, deadline: Moment, now: Moment) -> Moment {
        let share = Self::SHARE.saturating_mul(THREADS_PER_PROCESSOR.load(Ordering::Relaxed));
        let earned = now.since(self.counted) / share;
        self.credit = (self.credit + earned).min(Self::MAX_CREDIT);
        self.counted = now;
        if self.credit < Self::EARLY {
            return deadline;
        }
        Moment::from_nanos(
            deadline
                .as_nanos()
                .saturating_sub(Self::EARLY.as_nanos() as u64),
        )
    }

    fn spend(&mut self, span: Duration) {
        self.credit = self.credit.saturating_sub(span);
    }
}

fn with_timers(apply: impl FnOnce(&Timers)) {
    TIMERS.with_borrow(|timers| match timers {
        Some(timers) => apply(timers),
        // A programming error, not caused by anything from outside.
        None => debug_assert!(false, "a sleep outside run_with_timers"),
    });
}

#[derive(Default)]
struct Timers {
    heap: RefCell<BinaryHeap<Reverse<(Moment, Key)>>>,
    slots: RefCell<Slots>,
    /// A deadline earlier than the alarm was added after the alarm was set.
    nearer: Cell<bool>,
    /// Upper limit of cancelled entries in the heap.
    cancelled: Cell<usize>,
    driver: RefCell<Option<Waker>>,
}

#[derive(Default)]
struct Slots {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Entry {
    generation: u32,
    waker: Option<Waker>,
}

impl Timers {
    fn add(&self, deadline: Moment, waker: Waker) -> Key {
        let key = self.slots.borrow_mut().insert(waker);
        let mut heap = self.heap.borrow_mut();
        let nearest = heap
            .peek()
            .is_none_or(|Reverse((first, _))| deadline < *first);
        heap.push(Reverse((deadline, key)));
        if nearest {
            self.nearer.set(true);
            if let Some(driver) = self.driver.borrow().as_ref() {
                driver.wake_by_ref();
            }
        }
        key
    }

    fn rewake(&self, key: Key, waker: &Waker) {
        let mut slots = self.slots.borrow_mut();
        if let Some(entry) = slots.entry(key)
            && let Some(old) = entry.waker.as_mut()
        {
            old.clone_from(waker);
        }
    }

    /// A cancelled timer's entry stays in the heap until its deadline. Its generation shows that no
    /// task waits for it any more.
    fn cancel(&self, key: Key) {
        if self.slots.borrow_mut().remove(key).is_none() {
            return;
        }
        let mut heap = self.heap.borrow_mut();
        self.cancelled.set(self.cancelled.get() + 1);
        // Long timers that are repeatedly set and cancelled must not accumulate until their
        // deadlines.
        if self.cancelled.get() > 64 && self.cancelled.get() * 2 > heap.len() {
            let mut slots = self.slots.borrow_mut();
            heap.retain(|Reverse((_, key))| slots.entry(*key).is_some());
            self.cancelled.set(0);
        }
    }

    /// Wakes every due timer, and returns the next deadline.
    fn fire_due(&self, now: Moment) -> Option<Moment> {
        self.nearer.set(false);
        loop {
            let key = {
                let mut heap = self.heap.borrow_mut();
                let Reverse((deadline, key)) = *heap.peek()?;
                if deadline > now {
                    return Some(deadline);
                }
                heap.pop();
                key
            };
            let waker = self.slots.borrow_mut().remove(key);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn changed(&self) -> impl Future<Output = ()> + '_ {
        poll_fn(|_| match self.nearer.get() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
    }
}

impl Slots {
    fn insert(&mut self, waker: Waker) -> Key {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            (self.entries.len() - 1) as u32
        });
        let entry = &mut self.entries[slot as usize];
        entry.waker = Some(waker);
        Key {
            slot,
            generation: entry.generation,
        }
    }

    fn entry(&mut self, key: Key) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(key.slot as usize)?;
        (entry.generation == key.generation).then_some(entry)
    }

    fn remove(&mut self, key: Key) -> Option<Waker> {
        let entry = self.entry(key)?;
        entry.generation = entry.generation.wrapping_add(1);
        let waker = entry.waker.take();
        self.free.push(key.slot);
        waker
    }
}

/// The kernel's timer: precise to the nanosecond, and readable through the worker's own event loop.
#[cfg(target_os = "linux")]
mod alarm {
    use super::Timers;
    use plimsoll_units::Moment;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::future::poll_fn;
    use std::os::fd::OwnedFd;
    use std::task::{Poll, ready};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    #[derive(Debug)]
    pub struct Alarm {
        timer: AsyncFd<OwnedFd>,
    }

    impl Alarm {
        pub fn new() -> std::io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            // This function is deprecated because a type could return a different descriptor than the one it
            // owns. The standard library's own type does not.
            #[allow(deprecated)]
            let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
            Ok(Alarm { timer })
        }

        /// Waits until the deadline, or until an earlier one has been added.
        pub async fn wait_until(&self, deadline: Moment, timers: &Timers) -> std::io::Result<()> {
            self.set(deadline)?;
            poll_fn(|context| {
                while !timers.nearer.get() {
                    let mut ready = ready!(self.timer.poll_read_ready(context))?;
                    ready.clear_ready();
                    // If an earlier wait ended because a nearer deadline was added, the runtime may still report
                    // that wait's alarm. Mistaking it for this alarm would mean waiting actively for all of the
                    // remaining time.
                    if plimsoll_clock::now() >= deadline {
                        break;
                    }
                    self.set(deadline)?;
                }
                Poll::Ready(Ok(()))
            })
            .await
        }

        fn set(&self, deadline: Moment) -> std::io::Result<()> {
            // Zero would disarm the timer.
            let span = deadline
                .since(plimsoll_clock::now())
                .max(std::time::Duration::from_nanos(1));
            let value = Timespec {
                tv_sec: span.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: span.subsec_nanos().into(),
            };
            let once = Itimerspec {
                it_interval: Timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                },
                it_value: value,
            };
            // Setting the timer also clears its expiration count, so it is never read.
            timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &once)?;
            Ok(())
        }
    }
}

/// Other systems use the runtime's millisecond timers.
#[cfg(not(target_os = "linux"))]
mod alarm {
    use super::Timers;
    use plimsoll_units::Moment;
    use std::future::Future;
    use std::future::poll_fn;
    use std::task::Poll;

    pub struct Alarm;

    impl Alarm {
        pub fn new() -> std::io::Result<Self> {
            Ok(Alarm)
        }

        pub async fn wait_until(&self, deadline: Moment, timers: &Timers) -> std::io::Result<()> {
            let mut sleep =
                std::pin::pin!(tokio::time::sleep(deadline.since(plimsoll_clock::now())));
            poll_fn(|context| match timers.nearer.get() {
                true => Poll::Ready(()),
                false => sleep.as_mut().poll(context),
            })
            .await;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_worker<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tokio::task::LocalSet::new()
            .block_on(&runtime, run_with_timers(work))
            .unwrap()
    }

    #[test]
    fn wakes_in_the_order_of_deadlines_and_never_early() {
        on_worker(async {
            let start = plimsoll_clock::now();
            let order = Rc::new(RefCell::new(Vec::new()));
            let tasks: Vec<_> = [5u64, 1, 3]
                .into_iter()
                .map(|ms| {
                    let order = Rc::clone(&order);
                    tokio::task::spawn_local(async move {
                        let deadline = start + Duration::from_millis(ms);
                        sleep_until(deadline).await;
                        assert!(plimsoll_clock::now() >= deadline);
                        order.borrow_mut().push(ms);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*order.borrow(), [1, 3, 5]);
        });
    }

    /// The worker would wait actively for a whole second, and a relay with real-time priority would
    /// block everything else on its processor.
    #[test]
    fn an_alarm_of_an_earlier_wait_does_not_end_a_later_one() {
        on_worker(async {
            let timers = Timers::default();
            let alarm = alarm::Alarm::new().unwrap();
            let soon = plimsoll_clock::now() + Duration::from_millis(1);
            {
                let mut wait = std::pin::pin!(alarm.wait_until(soon, &timers));
                let polled = poll_fn(|context| Poll::Ready(wait.as_mut().poll(context))).await;
                assert!(polled.is_pending());
                // The runtime learns that the alarm went off, but nothing waits for it.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let later = plimsoll_clock::now() + Duration::from_millis(50);
            alarm.wait_until(later, &timers).await.unwrap();
            assert!(plimsoll_clock::now() >= later);
        });
    }

    #[test]
    fn a_dropped_sleep_is_cancelled_and_its_slot_used_again() {
        on_worker(async {
            for _ in 0..100 {
                let mut cancelled = std::pin::pin!(sleep(Duration::from_secs(3600)));
                let polled = poll_fn(|context| Poll::Ready(cancelled.as_mut().poll(context))).await;
                assert!(polled.is_pending());
            }
            sleep(Duration::from_micros(100)).await;
            with_timers(|timers| {
                assert!(timers.slots.borrow().entries.len() <= 100);
                assert_eq!(
                    timers
                        .slots
                        .borrow()
                        .entries
                        .iter()
                        .filter(|e| e.waker.is_some())
                        .count(),
                    0
                );
            });
        });
    }

    #[test]
    fn a_thousand_cancelled_long_timers_leave_little_behind() {
        on_worker(async {
            for _ in 0..1000 {
                let mut cancelled = Box::pin(sleep(Duration::from_secs(3600)));
                let polled = poll_fn(|context| Poll::Ready(cancelled.as_mut().poll(context))).await;
                assert!(polled.is_pending());
            }
            with_timers(|timers| assert!(timers.heap.borrow().len() < 200));
        });
    }

    #[test]
    fn active_waiting_is_limited_to_a_small_share_of_the_time() {
        let mut now = Moment::ZERO;
        let mut wakefulness = Wakefulness::new(now);
        let mut awake = Duration::ZERO;
        // 20,000 deadlines per second for one second, each met if the alarm allows it.
        for _ in 0..20_000 {
            let deadline = now + Duration::from_micros(50);
            let alarm = wakefulness.alarm(deadline, now);
            wakefulness.spend(deadline.since(alarm));
            awake += deadline.since(alarm);
            now = deadline;
        }
        assert!(awake <= Duration::from_millis(42), "{awake:?}");
        // At a hundred deadlines per second, the worker waits actively for each of them.
        now = now + Duration::from_secs(1);
        for _ in 0..100 {
            let deadline = now + Duration::from_millis(10);
            let alarm = wakefulness.alarm(deadline, now);
            assert_eq!(deadline.since(alarm), Wakefulness::EARLY);
            wakefulness.spend(Wakefulness::EARLY);
            now = deadline;
        }
    }

    #[test]
    fn a_nearer_deadline_overtakes_a_set_alarm() {
        on_worker(async {
            let far = tokio::task::spawn_local(sleep(Duration::from_secs(3600)));
            tokio::task::yield_now().await;
            let start = plimsoll_clock::now();
            sleep(Duration::from_millis(2)).await;
            assert!(plimsoll_clock::now().since(start) < Duration::from_secs(60));
            far.abort();
        });
    }
}
