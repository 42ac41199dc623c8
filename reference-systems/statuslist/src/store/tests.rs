//! Tests of the guarantees, for each store.

use std::collections::HashSet;
use std::sync::Arc;

use plimsoll_testground::{Append, Postgres, Redis};

use super::*;
use crate::status::Width;

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn list(number: u128, pool: &str, size: u32, width: Width) -> NewList {
    NewList {
        id: id(number),
        pool: pool.to_owned(),
        shape: Shape { size, width },
        seed: Seed([number as u8; 32]),
    }
}

async fn blocks_are_reserved_in_order_and_never_twice(store: &Arc<Store>) {
    let first = list(1, "order", 100, Width::One);
    let shape = first.shape;
    assert_eq!(store.reserve("order", shape, 10).await, Ok(None));
    store.create(&first).await.unwrap();
    store
        .create(&list(2, "order", 100, Width::One))
        .await
        .unwrap();
    // Neither another shape nor another pool is affected.
    store
        .create(&list(3, "order", 100, Width::Two))
        .await
        .unwrap();
    store
        .create(&list(4, "others", 100, Width::One))
        .await
        .unwrap();
    assert_eq!(store.untouched("order", shape).await, Ok(2));

    let block = store.reserve("order", shape, 60).await.unwrap().unwrap();
    assert_eq!((block.list, block.start, block.count), (id(1), 0, 60));
    assert_eq!(block.seed, first.seed);
    let block = store.reserve("order", shape, 60).await.unwrap().unwrap();
    assert_eq!((block.list, block.start, block.count), (id(1), 60, 40));
    assert_eq!(store.untouched("order", shape).await, Ok(1));
    let block = store.reserve("order", shape, 60).await.unwrap().unwrap();
    assert_eq!((block.list, block.start, block.count), (id(2), 0, 60));
    assert_eq!(store.untouched("order", shape).await, Ok(0));
    assert_eq!(store.issued("order", 10).await, Ok(vec![id(1), id(2)]));
    assert_eq!(store.issued("order", 1).await, Ok(vec![id(1)]));
}

async fn many_at_once_reserve_different_positions(store: &Arc<Store>) {
    for number in 10..15 {
        let list = list(number, "many", 200, Width::One);
        store.create(&list).await.unwrap();
    }
    let shape = Shape {
        size: 200,
        width: Width::One,
    };
    let tasks: Vec<_> = (0..40)
        .map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut taken = Vec::new();
                while let Some(block) = store.reserve("many", shape, 7 + task % 5).await.unwrap() {
                    let end = block.start + block.count;
                    taken.extend((block.start..end).map(|position| (block.list, position)));
                }
                taken
            })
        })
        .collect();
    let mut all = HashSet::new();
    for task in tasks {
        for position in task.await.unwrap() {
            assert!(all.insert(position), "{position:?} was reserved twice");
        }
    }
    assert_eq!(all.len(), 5 * 200);
}

async fn statuses_are_kept_apart(store: &Arc<Store>) {
    for (number, width) in (20..).zip([Width::One, Width::Two, Width::Four, Width::Eight]) {
        let list = list(number, "apart", 300, width);
        store.create(&list).await.unwrap();
        let value = move |index: u32| (index * 7 % 256) as u8 & width.largest();
        // All at once: neighbors share bytes and rows.
        let tasks: Vec<_> = (0..300)
            .map(|index| {
                let (store, shape) = (store.clone(), list.shape);
                tokio::spawn(async move {
                    let first = width.largest() - value(index);
                    assert_eq!(store.set(id(number), shape, index, first).await, Ok(true));
                    assert_eq!(
                        store.set(id(number), shape, index, value(index)).await,
                        Ok(true)
                    );
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let statuses = store.statuses(id(number)).await.unwrap().unwrap();
        assert_eq!(statuses.len(), width.bytes_for(300));
        for index in 0..300 {
            let place = width.place(index);
            let status = (statuses[place.byte as usize] & place.mask) >> place.shift;
            assert_eq!(status, value(index), "{width:?} {index}");
        }
    }
}

async fn a_list_exists_only_after_it_was_created(store: &Arc<Store>) {
    assert_eq!(store.facts(id(99)).await, Ok(None));
    assert_eq!(store.statuses(id(99)).await, Ok(None));
    let there = list(30, "facts", 300, Width::Four);
    store.create(&there).await.unwrap();
    let facts = Facts {
        pool: "facts".to_owned(),
        shape: there.shape,
    };
    assert_eq!(store.facts(id(30)).await, Ok(Some(facts)));
    let empty = vec![0; 150];
    assert_eq!(store.statuses(id(30)).await, Ok(Some(empty)));
    assert_eq!(store.issued("facts", 10).await, Ok(vec![]));
    assert_eq!(store.reachable().await, Ok(()));
}

async fn all(url: &str) {
    let address = Address::parse(url).unwrap();
    let open = async || Store::open(&address, 8, Durability::Always).await.unwrap();
    let store = Arc::new(open().await);
    a_list_exists_only_after_it_was_created(&store).await;
    blocks_are_reserved_in_order_and_never_twice(&store).await;
    many_at_once_reserve_different_positions(&store).await;
    statuses_are_kept_apart(&store).await;
    // A second instance on the same store finds the same state.
    let second = open().await;
    assert_eq!(second.issued("order", 10).await, Ok(vec![id(1), id(2)]));
}

#[tokio::test]
async fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lists.db");
    all(&format!("sqlite:{}", file.display())).await;
}

#[tokio::test]
async fn redis() {
    let server = Redis::start(Append::Always);
    all(&server.url()).await;
}

#[tokio::test]
async fn postgres() {
    let server = Postgres::start();
    all(&server.database()).await;
}

#[tokio::test]
async fn a_redis_that_would_forget_is_refused() {
    let refused = async |append, durability| {
        let server = Redis::start(append);
        let address = Address::parse(&server.url()).unwrap();
        Store::open(&address, 1, durability).await.err()
    };
    let error = refused(Append::Never, Durability::Always).await.unwrap();
    assert!(error.contains("appendonly is 'no'"), "{error}");
    let error = refused(Append::EverySecond, Durability::Always)
        .await
        .unwrap();
    assert!(error.contains("appendfsync is 'everysec'"), "{error}");
    assert!(error.contains("--redis-durability"), "{error}");
    assert_eq!(
        refused(Append::EverySecond, Durability::Everysec).await,
        None
    );
    assert_eq!(refused(Append::Never, Durability::None).await, None);
}

#[tokio::test]
async fn a_store_that_cannot_be_opened_is_named_without_its_password() {
    for (url, named) in [
        ("sqlite:/nowhere/at/all.db", "/nowhere/at/all.db"),
        ("redis://:secret@127.0.0.1:1/0", "127.0.0.1:1"),
        ("postgres://me:secret@127.0.0.1:1/db", "127.0.0.1:1"),
        ("postgres://me:secret@127.0.0.1:port/db", "port"),
    ] {
        let address = Address::parse(url).unwrap();
        let error = Store::open(&address, 1, Durability::Always)
            .await
            .err()
            .unwrap();
        assert!(error.contains(named), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn addresses_are_read_and_shown_without_passwords() {
    assert_eq!(
        Address::parse("sqlite:a/b.db"),
        Ok(Address::Sqlite("a/b.db".into()))
    );
    assert_eq!(
        Address::parse("sqlite:///a/b.db"),
        Ok(Address::Sqlite("/a/b.db".into()))
    );
    let shown = Address::parse("postgresql://me:secret@here/db").unwrap();
    assert_eq!(shown.to_string(), "postgresql://me@here/db");
    for wrong in ["mysql://me:secret@here", "sqlite:", "file.db"] {
        let error = Address::parse(wrong).unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }
}
