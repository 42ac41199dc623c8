//! Real-time priority for the thread of a relay, where the kernel permits it.
//!
//! A real network does not compete with its endpoints for a processor, but a relay on the same
//! machine does: when it has something to deliver, it may have to wait until the client or the
//! server has used up its time slice. With real-time priority the relay runs as soon as something
//! is due.
//!
//! A thread with that priority can keep all other programs off its processor. A relay sleeps most
//! of the time, but a flood keeps it busy. During a flood it gives up the priority
//! ([`Priority::guard`]), so it never blocks a processor. The kernel's own limit
//! (`sched_rt_runtime_us`) is not enough: it leaves only 5 % to other programs, and it can be off.
#![allow(unsafe_code)] // The standard library cannot set a scheduling policy.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use serde_json::{Value, json};

/// Interval between the checks of [`Priority::guard`]. A burst of several thousand new connections
/// is shorter, and nobody notices a machine that does not respond for this long.
const INTERVAL: Duration = Duration::from_millis(500);
/// The priority is dropped after an interval in which the thread used more than this share of a processor.
const BUSY: f64 = 0.8;
/// The priority is raised again after an interval in which the thread used less than this share.
const CALM: f64 = 0.4;

/// The priority of the thread that called [`Priority::raise`].
#[derive(Debug)]
pub struct Priority {
    source: Source,
    is_raised: Cell<bool>,
    times_given_up: Cell<u64>,
}

#[derive(Debug)]
enum Source {
    /// Set by [`Priority::raise`], so [`Priority::guard`] may drop the priority.
    Own,
    /// The relay was started with real-time priority, for example by `chrt`. The guard leaves it
    /// unchanged, because it was the user's decision.
    Inherited,
    Refused(io::Error),
}

impl Priority {
    /// Raises the priority of this thread, but not of threads or processes that it starts.
    pub fn raise() -> Priority {
        let source = match policy::is_real_time() {
            Ok(true) => Source::Inherited,
            _ => match policy::set_real_time(true) {
                Ok(()) => Source::Own,
                Err(error) => Source::Refused(error),
            },
        };
        Priority {
            is_raised: Cell::new(!matches!(source, Source::Refused(_))),
            source,
            times_given_up: Cell::new(0),
        }
    }

    /// Whether the thread has real-time priority now.
    pub fn is_raised(&self) -> bool {
        self.is_raised.get()
    }

    /// A sentence that describes what the priority means for the relay, and how to permit it if the
    /// system refused it.
    pub fn describe(&self) -> String {
        match &self.source {
            Source::Own => "the relay has real-time priority, so other programs do not delay it".to_owned(),
            Source::Inherited => {
                "the relay keeps the real-time priority that it was started with, so other programs do not delay it"
                    .to_owned()
            }
            Source::Refused(error) => format!(
                "the relay has no real-time priority ({error}), so other programs on its processor can delay it: see \
                 late_us in its report. To permit it, run as root, or allow it with: {PERMIT}"
            ),
        }
    }

    /// Drops the priority while the relay would keep other programs off its processor. Runs on the
    /// relay's thread until the future is dropped.
    pub async fn guard(&self) {
        if !matches!(self.source, Source::Own) {
            return std::future::pending().await;
        }
        let mut used = policy::processor_time();
        let mut since = plimsoll_clock::now();
        loop {
            plimsoll_engine::timer::sleep(INTERVAL).await;
            let (used_now, now) = (policy::processor_time(), plimsoll_clock::now());
            let share = (used_now.saturating_sub(used)).as_secs_f64()
                / now.since(since).as_secs_f64().max(f64::EPSILON);
            (used, since) = (used_now, now);
            let is_raised = deserves_priority(self.is_raised.get(), share);
            if is_raised != self.is_raised.get() && policy::set_real_time(is_raised).is_ok() {
                self.is_raised.set(is_raised);
                if !is_raised {
                    self.times_given_up.set(self.times_given_up.get() + 1);
                }
            }
        }
    }

    /// The entry in the relay's report.
    pub fn report(&self) -> Value {
        json!({
            "granted": !matches!(self.source, Source::Refused(_)),
            "times_given_up": self.times_given_up.get(),
        })
    }
}

const PERMIT: &str = "ulimit -r 1 (with rtprio in /etc/security/limits.conf), \
                      sudo setcap cap_sys_nice+ep \"$(command -v plimsoll)\", or docker run --cap-add SYS_NICE";

/// Whether a thread that used `share` of a processor should have real-time priority in the next interval.
fn deserves_priority(is_raised: bool, share: f64) -> bool {
    share < if is_raised { BUSY } else { CALM }
}

#[cfg(target_os = "linux")]
mod policy {
    use std::io;
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    /// The lowest real-time priority: above all ordinary programs, and below every other real-time
    /// program.
    const LOWEST: libc::c_int = 1;

    /// Gives this thread real-time or ordinary priority. Uses the system call directly, because musl
    /// has no working function.
    pub fn set_real_time(on: bool) -> io::Result<()> {
        let (policy, priority) = if on {
            (libc::SCHED_FIFO, LOWEST)
        } else {
            (libc::SCHED_OTHER, 0)
        };
        // The kernel's struct sched_param is one int.
        let parameters: libc::c_int = priority;
        // SAFETY: the kernel reads one int from the pointer, which is valid during the call. 0 is the calling thread.
        let result = unsafe {
            libc::syscall(
                libc::SYS_sched_setscheduler,
                0,
                policy | libc::SCHED_RESET_ON_FORK,
                &raw const parameters,
            )
        };
        if result == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Whether this thread has a real-time policy.
    pub fn is_real_time() -> io::Result<bool> {
        // SAFETY: the call takes no pointer. 0 is the calling thread.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        if policy == -1 {
            return Err(io::Error::last_os_error());
        }
        let policy = policy & !i64::from(libc::SCHED_RESET_ON_FORK) as libc::c_long;
        Ok([libc::SCHED_FIFO, libc::SCHED_RR].contains(&(policy as libc::c_int)))
    }

    /// The processor time that this thread has used.
    pub fn processor_time() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    }
}

#[cfg(not(target_os = "linux"))]
mod policy {
    use std::io;
    use std::time::Duration;

    pub fn set_real_time(_on: bool) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub fn is_real_time() -> io::Result<bool> {
        Ok(false)
    }

    pub fn processor_time() -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_priority_is_dropped_when_busy_and_restored_when_calm() {
        assert!(deserves_priority(true, 0.0));
        assert!(deserves_priority(true, 0.79));
        assert!(!deserves_priority(true, 0.81));
        // Between the two bounds the priority stays unchanged, so it does not toggle in each interval.
        assert!(!deserves_priority(false, 0.6));
        assert!(deserves_priority(false, 0.39));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_busy_thread_drops_the_priority_until_it_is_idle() {
        let priority = Priority::raise();
        assert_eq!(policy::is_real_time().ok(), Some(priority.is_raised()));
        if !priority.is_raised() {
            assert!(
                priority.describe().contains("setcap"),
                "{}",
                priority.describe()
            );
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let ended = tokio::task::LocalSet::new().block_on(
            &runtime,
            plimsoll_engine::timer::run_with_timers(async {
                let flood = async {
                    while priority.is_raised() {
                        let end = plimsoll_clock::now() + Duration::from_millis(1);
                        while plimsoll_clock::now() < end {}
                        tokio::task::yield_now().await;
                    }
                    assert_eq!(policy::is_real_time().ok(), Some(false));
                    while !priority.is_raised() {
                        plimsoll_engine::timer::sleep(Duration::from_millis(20)).await;
                    }
                };
                tokio::select! {
                    () = priority.guard() => {}
                    () = flood => {}
                }
            }),
        );
        ended.expect("a timer");
        assert_eq!(policy::is_real_time().ok(), Some(true));
        assert_eq!(priority.report()["times_given_up"], 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_that_the_relay_starts_have_ordinary_priority() {
        let _priority = Priority::raise();
        let started = std::thread::spawn(policy::is_real_time).join();
        assert_eq!(started.expect("the thread").ok(), Some(false));
    }
}
