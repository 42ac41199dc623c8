use std::task::{Context, Waker};

/// Tasks that wait for capacity of a connection. Each task is woken once per registration.
#[derive(Debug, Default)]
pub(crate) struct WaitingTasks {
    wakers: Vec<Waker>,
    /// Number of times that all tasks were woken.
    round: u64,
}

/// The registration of one task. It prevents a frequently polled task from being listed several
/// times.
#[derive(Debug, Default)]
pub(crate) struct Registration(Option<(u64, Waker)>);

impl WaitingTasks {
    pub fn add(&mut self, registration: &mut Registration, cx: &Context<'_>) {
        if let Some((round, waker)) = &registration.0
            && *round == self.round
            && waker.will_wake(cx.waker())
        {
            return;
        }
        self.wakers.push(cx.waker().clone());
        registration.0 = Some((self.round, cx.waker().clone()));
    }

    pub fn wake(&mut self) {
        if self.wakers.is_empty() {
            return;
        }
        self.round += 1;
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }
}
