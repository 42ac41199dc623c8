//! Closed models: each user starts its next iteration when its previous one has ended.

use std::rc::Rc;

use plimsoll_plan::Executor;

use super::{Share, UserTasks};
use crate::seat::ActiveUser;
use crate::{InitError, ScenarioState, UserFactory};

/// The number of iterations for the users of a scenario.
#[derive(Clone, Copy)]
enum Quota {
    /// As many as the duration allows.
    Time,
    /// This many in total, shared by all users.
    Shared(u64),
    /// This many for each user.
    Each(u64),
}

pub(super) async fn run<F: UserFactory>(share: &Share<F>) -> Result<(), InitError> {
    let quota = match &share.scenario.state.scenario.executor {
        Executor::SharedIterations { iterations, .. } => Quota::Shared(*iterations),
        Executor::PerUserIterations { iterations, .. } => Quota::Each(*iterations),
        _ => Quota::Time,
    };
    let tasks = UserTasks::default();
    for (_, slot) in &share.users {
        let user = share.take(*slot).await?;
        user.stop.set_deadline(share.hard_end());
        let state = Rc::clone(&share.scenario);
        let end = share.regular_end();
        tasks.spawn(user, async move |mut user: ActiveUser<F>| {
            user.set_counted(true);
            let mut done = 0;
            while user.has_until(end).await {
                let Some(number) = next(quota, done, &state.state) else {
                    break;
                };
                done += 1;
                if !user.run_iteration(number, None).await {
                    break;
                }
            }
        });
    }
    tasks.finish(share.hard_end(), &share.stop).await
}

fn next(quota: Quota, done: u64, state: &ScenarioState) -> Option<u64> {
    match quota {
        Quota::Time => Some(state.begin_iteration()),
        Quota::Shared(limit) => state.begin_iteration_below(limit),
        Quota::Each(limit) => (done < limit).then(|| state.begin_iteration()),
    }
}
