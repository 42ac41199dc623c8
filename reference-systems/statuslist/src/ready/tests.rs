use std::collections::HashSet;

use super::*;
use crate::pools::{Pools, Precreation, Prefetch};
use crate::store::{Address, Durability};
use plimsoll_serving::secret::ApiKey;

fn pool(size: u32, threshold: u32, capacity: u32, on_underflow: Underflow) -> Pool {
    let key = ApiKey::new("k").unwrap();
    let mut pool = Pools::load(None, Some(&key)).unwrap().0["tests"].clone();
    pool.shape.size = size;
    pool.prefetch = Prefetch {
        threshold,
        capacity,
        on_underflow,
    };
    pool.precreation = Precreation {
        lists: 2,
        ..Precreation::default()
    };
    pool
}

struct Bench {
    store: Arc<Store>,
    ready: Arc<Ready>,
    _directory: tempfile::TempDir,
}

async fn bench(pool: Pool) -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let address = Address::Sqlite(directory.path().join("lists.db"));
    let store = Store::open(&address, 1, Durability::Always).await.unwrap();
    Bench {
        store: Arc::new(store),
        ready: Arc::new(Ready::new(pool, "http://here".to_owned())),
        _directory: directory,
    }
}

#[tokio::test]
async fn indices_are_taken_from_each_list_in_turn_and_never_twice() {
    let bench = bench(pool(10, 5, 25, Underflow::Delay)).await;
    tokio::spawn(bench.ready.clone().keep(bench.store.clone()));
    let mut seen = HashSet::new();
    for amount in [1, 25, 3, 7, 24] {
        let taken = bench.ready.take(amount).await.unwrap();
        assert_eq!(taken.len(), amount);
        for reference in taken {
            assert!(reference.index < 10);
            assert!(seen.insert((reference.uri, reference.index)));
        }
    }
}

#[tokio::test]
async fn waiting_requests_are_served_in_order() {
    let bench = bench(pool(100, 1, 10, Underflow::Delay)).await;
    let takers: Vec<_> = (0..50)
        .map(|_| {
            let ready = bench.ready.clone();
            tokio::spawn(async move { ready.take(9).await.unwrap() })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(bench.ready.counts(), (0, 50));
    tokio::spawn(bench.ready.clone().keep(bench.store.clone()));
    let mut seen = HashSet::new();
    for taker in takers {
        for reference in taker.await.unwrap() {
            assert!(seen.insert((reference.uri, reference.index)));
        }
    }
    assert_eq!(seen.len(), 450);
    assert_eq!(bench.ready.counts().1, 0);
}

#[tokio::test]
async fn underflow_fails_where_it_should() {
    let bench = bench(pool(100, 1, 10, Underflow::Fail)).await;
    assert_eq!(bench.ready.take(1).await, Err(Problem::Underflow));
    let mut orders = Orders::default();
    bench.ready.fill(&bench.store, &mut orders).await.unwrap();
    assert_eq!(bench.ready.take(8).await.unwrap().len(), 8);
    // Two are left, which is not below the threshold, but fewer than requested.
    assert_eq!(bench.ready.take(3).await, Err(Problem::Underflow));
    bench.ready.fill(&bench.store, &mut orders).await.unwrap();
    assert_eq!(bench.ready.take(10).await.unwrap().len(), 10);
    assert_eq!(bench.ready.take(1).await, Err(Problem::Underflow));
}

#[tokio::test]
async fn indices_of_a_cancelled_request_are_given_to_the_next() {
    let bench = bench(pool(100, 1, 10, Underflow::Delay)).await;
    let gone = tokio::spawn({
        let ready = bench.ready.clone();
        async move { ready.take(4).await }
    });
    tokio::task::yield_now().await;
    gone.abort();
    let _ = gone.await;
    let mut orders = Orders::default();
    bench.ready.fill(&bench.store, &mut orders).await.unwrap();
    // Ten are available, none was lost, and nothing waits.
    assert_eq!(bench.ready.counts().1, 0);
    assert!(bench.ready.take(10).await.is_ok());
}

#[tokio::test]
async fn a_restart_continues_after_the_reserved_positions() {
    let bench = bench(pool(100, 1, 30, Underflow::Fail)).await;
    let mut orders = Orders::default();
    bench.ready.fill(&bench.store, &mut orders).await.unwrap();
    let before = bench.ready.take(30).await.unwrap();
    let again = Ready::new(bench.ready.pool.clone(), "http://here".to_owned());
    again
        .fill(&bench.store, &mut Orders::default())
        .await
        .unwrap();
    let after = again.take(30).await.unwrap();
    assert_eq!(before[0].uri, after[0].uri);
    assert!(after.iter().all(|reference| !before.contains(reference)));
}

#[tokio::test]
async fn lists_are_created_in_advance() {
    let bench = bench(pool(10, 1, 10, Underflow::Fail)).await;
    let untouched = async || {
        let pool = &bench.ready.pool;
        bench.store.untouched(&pool.name, pool.shape).await.unwrap()
    };
    bench.ready.precreate_now(&bench.store).await.unwrap();
    assert_eq!(untouched().await, 2);
    bench.ready.precreate_now(&bench.store).await.unwrap();
    assert_eq!(untouched().await, 2);
    let mut orders = Orders::default();
    bench.ready.fill(&bench.store, &mut orders).await.unwrap();
    assert_eq!(untouched().await, 1);
    bench.ready.precreate_now(&bench.store).await.unwrap();
    assert_eq!(untouched().await, 2);
}
