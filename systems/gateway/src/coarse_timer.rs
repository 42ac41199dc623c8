//! A timer whose deadlines are only looked at, never waited for: whoever drives the
//! connection wakes it now and then. hyper sets one deadline for each request of
//! HTTP/1.1, and so this spares each request its way in and out of the event loop's
//! timers.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

#[derive(Debug, Clone, Copy)]
pub struct CoarseTimer;

struct Deadline(Instant);

impl Timer for CoarseTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline(deadline))
    }
}

impl Sleep for Deadline {}

impl Future for Deadline {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
