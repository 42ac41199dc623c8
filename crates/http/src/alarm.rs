use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use plimsoll_units::Moment;
use tokio::time::{Instant, Sleep};

/// Wakes a waiting task at a deadline, without creating a timer for each request.
///
/// Deadlines usually move forward: each request sets one a minute ahead and ends long before it. So
/// a single timer stays armed for an early deadline. If it fires too soon, it is reset to the
/// current deadline.
#[derive(Debug, Default)]
pub struct Alarm {
    timer: Option<Armed>,
}

#[derive(Debug)]
struct Armed {
    sleep: Pin<Box<Sleep>>,
    rings: Moment,
    wakes: Waker,
}

impl Alarm {
    /// Ready when `deadline` has passed. Otherwise the task is woken at the deadline, and possibly
    /// earlier.
    #[inline]
    pub fn poll(&mut self, cx: &mut Context<'_>, deadline: Moment) -> Poll<()> {
        if let Some(armed) = &self.timer
            && armed.rings <= deadline
            && !armed.sleep.is_elapsed()
            && armed.wakes.will_wake(cx.waker())
        {
            return Poll::Pending;
        }
        self.rearm(cx, deadline)
    }

    #[cold]
    fn rearm(&mut self, cx: &mut Context<'_>, deadline: Moment) -> Poll<()> {
        loop {
            let now = plimsoll_clock::now();
            if now >= deadline {
                return Poll::Ready(());
            }
            // A span that is too long for the timer is shortened. The timer then fires early, and the alarm
            // rearms it.
            let left = deadline.since(now).min(Duration::from_secs(86_400));
            let at = Instant::now() + left;
            let armed = self.timer.get_or_insert_with(|| Armed {
                sleep: Box::pin(tokio::time::sleep_until(at)),
                rings: deadline,
                wakes: cx.waker().clone(),
            });
            armed.sleep.as_mut().reset(at);
            armed.rings = deadline;
            armed.wakes.clone_from(cx.waker());
            if armed.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(test);
    }

    #[test]
    fn fires_at_the_deadline_and_not_before() {
        run(async {
            let mut alarm = Alarm::default();
            let start = plimsoll_clock::now();
            let deadline = start + Duration::from_millis(5);
            poll_fn(|cx| alarm.poll(cx, deadline)).await;
            assert!(plimsoll_clock::now() >= deadline);
        });
    }

    #[test]
    fn follows_deadlines_that_move_in_either_direction() {
        run(async {
            let mut alarm = Alarm::default();
            let start = plimsoll_clock::now();
            let far = start + Duration::from_secs(3600);
            let early = poll_fn(|cx| Poll::Ready(alarm.poll(cx, far))).await;
            assert!(early.is_pending());
            let near = start + Duration::from_millis(2);
            poll_fn(|cx| alarm.poll(cx, near)).await;
            assert!(plimsoll_clock::now() >= near);
            // The timer is armed for a time in the past: the alarm must rearm itself and not fire.
            let later = plimsoll_clock::now() + Duration::from_millis(4);
            poll_fn(|cx| alarm.poll(cx, later)).await;
            assert!(plimsoll_clock::now() >= later);
        });
    }
}
