//! Opens connections before a run starts.

use tokio::task::JoinSet;

/// How many connections a worker opens concurrently. Server backlogs are often 128.
const AT_ONCE: usize = 32;

/// Runs all futures of `opening`, a limited number at a time.
pub(crate) async fn all(opening: impl Iterator<Item = impl Future<Output = ()> + 'static>) {
    let mut running = JoinSet::new();
    for one in opening {
        if running.len() >= AT_ONCE {
            running.join_next().await;
        }
        running.spawn_local(one);
    }
    while running.join_next().await.is_some() {}
}
