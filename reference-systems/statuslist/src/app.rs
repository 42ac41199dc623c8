//! The shared state, and the work of each request, independent of HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use serde::Deserialize;
use uuid::Uuid;

use crate::pools::{Pools, Tokens};
use crate::problem::Problem;
use crate::published::{Listed, Page, Published};
use crate::ready::{Ready, Reference};
use crate::store::{Facts, Store};
use crate::token::Form;

/// Maximum number of lists whose properties are cached.
const MAX_REMEMBERED: usize = 65_536;

/// Maximum lists in an aggregation.
const MAX_LISTED: u32 = 10_000;

pub struct App {
    pub store: Arc<Store>,
    pub published: Published,
    pub pools: BTreeMap<String, Arc<Ready>>,
    /// The server's URL, for lists whose pool names no issuer.
    base: String,
    /// Maximum bytes of a body.
    pub max_body: u64,
    facts: RwLock<HashMap<Uuid, Arc<Facts>>>,
}

/// A status to set.
#[derive(Debug, Clone, Deserialize)]
pub struct Update {
    pub uri: String,
    pub index: u64,
    pub value: u64,
}

impl App {
    pub fn new(
        store: Arc<Store>,
        published: Published,
        pools: Pools,
        base: String,
        max_body: u64,
    ) -> App {
        let pools = pools
            .0
            .into_iter()
            .map(|(name, pool)| {
                let base = pool.issuer.clone().unwrap_or_else(|| base.clone());
                (name, Arc::new(Ready::new(pool, base)))
            })
            .collect();
        App {
            store,
            published,
            pools,
            base,
            max_body,
            facts: RwLock::default(),
        }
    }

    fn pool(&self, name: &str) -> Result<&Arc<Ready>, Problem> {
        self.pools
            .get(name)
            .ok_or_else(|| Problem::Missing("there is no such pool".to_owned()))
    }

    /// Issues `amount` indices of a pool; `amount` is unparsed text.
    pub async fn references(
        &self,
        pool: &str,
        key: Option<&[u8]>,
        amount: Option<&str>,
    ) -> Result<Vec<Reference>, Problem> {
        let ready = self.pool(pool)?;
        if !key.is_some_and(|key| ready.pool.key.is(key)) {
            return Err(Problem::Unauthorized);
        }
        let most = ready.pool.prefetch.capacity as usize;
        let amount = amount
            .unwrap_or("1")
            .parse::<usize>()
            .ok()
            .filter(|amount| (1..=most).contains(amount))
            .ok_or_else(|| Problem::Wrong(format!("amount is a whole number from 1 to {most}")))?;
        ready.take(amount).await
    }

    /// Sets a status.
    pub async fn update(&self, key: Option<&[u8]>, update: &Update) -> Result<(), Problem> {
        let unknown = || Problem::Wrong("uri: there is no such list".to_owned());
        let key = key.ok_or(Problem::Unauthorized)?;
        // Only the last segment counts, because a server behind a proxy has several names.
        let name = update.uri.rsplit('/').next().unwrap_or_default();
        let Some(list) = list_id(name) else {
            // Without a valid key, a client learns nothing, not even which lists exist.
            let known = self.pools.values().any(|ready| ready.pool.key.is(key));
            return Err(if known {
                unknown()
            } else {
                Problem::Unauthorized
            });
        };
        let facts = self.facts(list).await?;
        let pool = facts.as_ref().and_then(|facts| self.pools.get(&facts.pool));
        let allowed = match pool {
            Some(ready) => ready.pool.key.is(key),
            None => self.pools.values().any(|ready| ready.pool.key.is(key)),
        };
        if !allowed {
            return Err(Problem::Unauthorized);
        }
        let shape = facts.ok_or_else(unknown)?.shape;
        let index = u32::try_from(update.index)
            .ok()
            .filter(|index| *index < shape.size)
            .ok_or_else(|| {
                Problem::Wrong(format!(
                    "index: {} is beyond the list, whose last is {}",
                    update.index,
                    shape.size - 1
                ))
            })?;
        let largest = shape.width.largest();
        let value = u8::try_from(update.value)
            .ok()
            .filter(|value| *value <= largest)
            .ok_or_else(|| {
                Problem::Wrong(format!(
                    "value: {} does not fit; the largest is {largest}",
                    update.value
                ))
            })?;
        // Counts when it is dropped, even if the client disconnects.
        let _change = self.published.change(list);
        match self.store.set(list, shape, index, value).await? {
            true => Ok(()),
            false => Err(unknown()),
        }
    }

    /// A list in one format.
    pub async fn list(&self, name: &str, form: Form) -> Result<Page, Problem> {
        let missing = || Problem::Missing("there is no such list".to_owned());
        let list = list_id(name).ok_or_else(missing)?;
        if let Some(page) = self.published.page(list, form) {
            return page;
        }
        let facts = self.facts(list).await?.ok_or_else(missing)?;
        let pool = self.pools.get(&facts.pool);
        let base = pool.map_or(&self.base, |ready| &ready.base);
        let listed = Listed {
            shape: facts.shape,
            uri: format!("{base}/{list}"),
            aggregation: format!("{base}/aggregation/{}", facts.pool),
            tokens: pool.map_or(Tokens::default(), |ready| ready.pool.tokens),
        };
        self.published.read(list, &listed, form).await
    }

    /// The URIs of a pool's lists with issued indices.
    pub async fn aggregation(&self, pool: &str) -> Result<Vec<String>, Problem> {
        let ready = self.pool(pool)?;
        let lists = self.store.issued(pool, MAX_LISTED).await?;
        Ok(lists
            .into_iter()
            .map(|list| format!("{}/{list}", ready.base))
            .collect())
    }

    async fn facts(&self, list: Uuid) -> Result<Option<Arc<Facts>>, Problem> {
        let known = self
            .facts
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&list)
            .cloned();
        if known.is_some() {
            return Ok(known);
        }
        // Missing lists are not cached, because their names are unlimited.
        let Some(facts) = self.store.facts(list).await? else {
            return Ok(None);
        };
        let facts = Arc::new(facts);
        let mut all = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_REMEMBERED {
            all.clear();
        }
        all.insert(list, facts.clone());
        Ok(Some(facts))
    }
}

/// A list's name: a UUID with hyphens, exactly as issued.
fn list_id(name: &str) -> Option<Uuid> {
    (name.len() == 36)
        .then(|| Uuid::try_parse(name).ok())
        .flatten()
}
