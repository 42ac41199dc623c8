//! Cache of published lists.
//!
//! A published list is never older than the last status that this server acknowledged: each change
//! is counted before it is acknowledged, and lists that were read before the count are not published
//! after it. Changes that another server acknowledged on the same store are visible after at most
//! `refresh`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{Digest, SHA256, digest};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::pools::{Shape, Tokens};
use crate::problem::Problem;
use crate::signer::Signer;
use crate::store::{Failure, Store};
use crate::token::{Claims, Form};

/// Maximum cached lists.
const MAX_CACHED: usize = 2048;

/// From this number of bytes on, a separate thread compresses and signs.
const MANY: usize = 256 * 1024;

/// Counters of changes, shared by lists to bound their number. A list is also read again when
/// another one with the same counter changed, which is rare and harmless.
const COUNTERS: usize = 4096;

/// The properties of a list by its name, and how its pool signs.
#[derive(Debug, Clone)]
pub struct Listed {
    pub shape: Shape,
    pub uri: String,
    pub aggregation: String,
    pub tokens: Tokens,
}

/// All cached lists.
pub struct Published {
    store: Arc<Store>,
    signer: Signer,
    refresh: Duration,
    kept: RwLock<HashMap<Uuid, Arc<Kept>>>,
    changes: Box<[AtomicU64]>,
}

/// The cache of one list.
struct Kept {
    current: RwLock<Option<Arc<Current>>>,
    /// Held by the task that reads the list again; contains the last error and its time.
    reading: Mutex<Option<(Instant, Problem)>>,
}

/// The last version read.
struct Current {
    /// The number of changes before it was read.
    changes: u64,
    read: Instant,
    /// When to sign its tokens again.
    renew: Instant,
    statuses: Digest,
    made: Arc<Made>,
}

/// A list's tokens, each signed on first use.
struct Made {
    claims: Claims,
    forms: [OnceLock<Page>; 3],
}

/// A response body and its tag.
#[derive(Debug, Clone)]
pub struct Page {
    pub body: Bytes,
    pub tag: HeaderValue,
}

/// Counts a change when it is dropped, whatever its outcome: an update whose response was lost may
/// have succeeded.
pub struct Change<'a>(&'a AtomicU64);

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Published {
    pub fn new(store: Arc<Store>, signer: Signer, refresh: Duration) -> Published {
        Published {
            store,
            signer,
            refresh,
            kept: RwLock::default(),
            changes: (0..COUNTERS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Number of cached lists.
    pub fn kept(&self) -> usize {
        self.kept
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    fn counter(&self, list: Uuid) -> &AtomicU64 {
        static NEVER: AtomicU64 = AtomicU64::new(0);
        // The index is below COUNTERS, so it always exists.
        let place = list.as_u128() % COUNTERS as u128;
        self.changes.get(place as usize).unwrap_or(&NEVER)
    }

    /// Drop it after changing the list and before acknowledging.
    pub fn change(&self, list: Uuid) -> Change<'_> {
        Change(self.counter(list))
    }

    /// The list in one format, if the cache is valid.
    pub fn page(&self, list: Uuid, form: Form) -> Option<Result<Page, Problem>> {
        let kept = self.find(list)?;
        let current = kept.current();
        let current = current.as_ref()?;
        self.is_good(current, list)
            .then(|| current.made.page(form, &self.signer))
    }

    /// The list in one format, read again unless the cache is valid.
    pub async fn read(&self, list: Uuid, listed: &Listed, form: Form) -> Result<Page, Problem> {
        let requested_at = Instant::now();
        let kept = self.find_or_keep(list);
        let mut reading = kept.reading.lock().await;
        // Another task may have read it, or failed to, while this one waited.
        if let Some(current) = kept.current()
            && self.is_good(&current, list)
        {
            return current.made.page(form, &self.signer);
        }
        if let Some((when, problem)) = reading.as_ref()
            && *when >= requested_at
        {
            return Err(problem.clone());
        }
        let outcome = self.read_now(list, listed, kept.current()).await;
        let current = match outcome {
            Ok(current) => Arc::new(current),
            Err(problem) => {
                *reading = Some((Instant::now(), problem.clone()));
                return Err(problem);
            }
        };
        *kept.current.write().unwrap_or_else(PoisonError::into_inner) = Some(current.clone());
        drop(reading);
        current.made.page(form, &self.signer)
    }

    async fn read_now(
        &self,
        list: Uuid,
        listed: &Listed,
        last: Option<Arc<Current>>,
    ) -> Result<Current, Problem> {
        let changes = self.counter(list).load(Ordering::SeqCst);
        let read = Instant::now();
        let statuses = self
            .store
            .statuses(list)
            .await?
            .ok_or_else(|| Problem::Missing("there is no such list".to_owned()))?;
        let hash = digest(&SHA256, &statuses);
        if let Some(last) = last
            && last.statuses.as_ref() == hash.as_ref()
            && read < last.renew
        {
            return Ok(Current {
                changes,
                read,
                renew: last.renew,
                statuses: hash,
                made: last.made.clone(),
            });
        }
        let (tokens, size) = (listed.tokens, statuses.len());
        let (uri, aggregation) = (listed.uri.clone(), listed.aggregation.clone());
        let width = listed.shape.width;
        let claim = move || Claims::new(uri, aggregation, tokens, width, &statuses);
        let claims = if size < MANY {
            claim()
        } else {
            tokio::task::spawn_blocking(claim)
                .await
                .map_err(|error| error.to_string())
                .and_then(|claims| claims)
        };
        Ok(Current {
            changes,
            read,
            // Well before they expire, so that no client gets a token that expires soon.
            renew: read + tokens.lifetime / 2,
            statuses: hash,
            made: Arc::new(Made {
                claims: claims.map_err(Problem::Broken)?,
                forms: Default::default(),
            }),
        })
    }

    fn is_good(&self, current: &Current, list: Uuid) -> bool {
        let age = current.read.elapsed();
        age < self.refresh
            && current.read + age < current.renew
            && current.changes == self.counter(list).load(Ordering::SeqCst)
    }

    fn find(&self, list: Uuid) -> Option<Arc<Kept>> {
        self.kept
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&list)
            .cloned()
    }

    fn find_or_keep(&self, list: Uuid) -> Arc<Kept> {
        if let Some(kept) = self.find(list) {
            return kept;
        }
        let mut all = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_CACHED {
            // Remove lists that were not requested lately; if all were, remove all.
            all.retain(|_, kept| {
                kept.current()
                    .is_some_and(|current| current.read.elapsed() < self.refresh)
            });
            if all.len() >= MAX_CACHED {
                all.clear();
            }
        }
        all.entry(list)
            .or_insert_with(|| {
                Arc::new(Kept {
                    current: RwLock::default(),
                    reading: Mutex::default(),
                })
            })
            .clone()
    }
}

impl Kept {
    fn current(&self) -> Option<Arc<Current>> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Made {
    fn page(&self, form: Form, signer: &Signer) -> Result<Page, Problem> {
        let [jwt, cwt, json] = &self.forms;
        let cell = match form {
            Form::Jwt => jwt,
            Form::Cwt => cwt,
            Form::Json => json,
        };
        if let Some(page) = cell.get() {
            return Ok(page.clone());
        }
        let body = self.claims.render(form, signer).map_err(Problem::Broken)?;
        let mut tag = URL_SAFE_NO_PAD.encode(digest(&SHA256, &body));
        tag.truncate(27);
        let page = Page {
            body: body.into(),
            tag: HeaderValue::from_str(&format!("\"{tag}\""))
                .map_err(|error| Problem::Broken(error.to_string()))?,
        };
        // Two tasks may sign concurrently; both return the first result.
        Ok(cell.get_or_init(|| page).clone())
    }
}

impl From<&Failure> for Problem {
    fn from(failure: &Failure) -> Problem {
        Problem::Store(failure.clone())
    }
}
