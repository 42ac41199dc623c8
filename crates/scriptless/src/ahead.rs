//! Opens connections before a run starts.

use tokio::task::JoinSet;

/// Connections that one worker opens at the same time: server backlogs are often 128.
const AT_ONCE: usize = 32;

/// Runs all of `opening`, a bounded number at the same time.
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
