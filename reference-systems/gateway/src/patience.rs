//! A time limit for the next event. No timer is created until there is something to wait for, which
//! for small messages never happens.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

pub struct Patience {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub fn of(limit: Duration) -> Patience {
        Patience { limit, timer: None }
    }

    /// The polled value, or `None` if it has been pending for too long.
    pub fn limit<T>(&mut self, polled: Poll<T>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Poll::Ready(value) = polled {
            self.timer = None;
            return Poll::Ready(Some(value));
        }
        let limit = self.limit;
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        timer.as_mut().poll(context).map(|()| None)
    }
}
