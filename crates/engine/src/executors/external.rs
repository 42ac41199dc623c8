//! A number of users that an external controller sets during the run.

use std::collections::VecDeque;
use std::time::Duration;

use super::ramping::{Member, assign_users, set_users};
use super::{Share, UserTasks};
use crate::timer::sleep_until;
use crate::{InitError, UserFactory};

/// Interval at which the number of users is read.
const READ_INTERVAL: Duration = Duration::from_millis(50);

pub(super) async fn run<F: UserFactory>(share: &Share<F>) -> Result<(), InitError> {
    let tasks = UserTasks::default();
    let members = assign_users(share, &tasks).await?;
    let _ = share.stop.race(follow(share, &members)).await;
    for member in &members {
        member.gate.finish();
    }
    tasks.finish(share.hard_end(), &share.stop).await
}

/// Opens and closes the gates of users as requested until the scenario ends. A user that is not
/// needed any more completes its iteration first.
async fn follow<F: UserFactory>(share: &Share<F>, members: &[Member]) {
    let (run, state) = (&share.seats.worker.run, &share.scenario.state);
    let end = share.regular_end();
    let mut interruptions = VecDeque::new();
    loop {
        let now = plimsoll_clock::now();
        if now >= end {
            return;
        }
        let users = if run.is_paused() {
            0
        } else {
            state.wanted_users()
        };
        set_users(members, users, now, Duration::ZERO, &mut interruptions);
        interruptions.clear();
        sleep_until((now + READ_INTERVAL).min(end)).await;
    }
}
