//! The metrics of a run.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::builtin;
use crate::kind::{Contains, Kind};
use crate::metric_id::MetricId;

/// The properties of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name, as in scripts and thresholds.
    pub name: String,
    /// How its samples are aggregated.
    pub kind: Kind,
    /// The quantity that it measures.
    pub contains: Contains,
    /// Whether it is Plimsoll's addition to k6's metrics, and shown separately.
    pub extra: bool,
}

/// Why a metric was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// The name is invalid.
    Name(String),
    /// A metric with this name but another kind exists.
    Kind {
        name: String,
        is: Kind,
        requested: Kind,
    },
    /// A metric with this name and kind exists, but measures another quantity.
    Contains {
        name: String,
        is: Contains,
        requested: Contains,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // k6's wording, which scripts may match.
            RegisterError::Name(name) => write!(
                f,
                "Invalid metric name: '{name}'. Metric names must only include up to 128 ASCII \
                 letters, numbers, or underscores and start with a letter or an underscore."
            ),
            RegisterError::Kind {
                name,
                is,
                requested,
            } => write!(
                f,
                "metric '{name}' already exists but with type {is}, instead of {requested}"
            ),
            RegisterError::Contains {
                name,
                is,
                requested,
            } => write!(
                f,
                "metric '{name}' already exists but with a value type {is}, instead of {requested}"
            ),
        }
    }
}

impl std::error::Error for RegisterError {}

/// All metrics of a run: the built-in metrics, followed by a script's own metrics in the order of their declaration.
/// The registry uses a lock, so it is only for startup. Recording uses [`MetricId`] and never calls the registry.
#[derive(Debug)]
pub struct Registry {
    inner: Mutex<Inner>,
    len: AtomicUsize,
}

#[derive(Debug)]
struct Inner {
    metrics: Vec<Metric>,
    by_name: HashMap<String, MetricId>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Creates a registry with the built-in metrics.
    pub fn new() -> Self {
        let metrics: Vec<Metric> = builtin::TABLE
            .iter()
            .map(|builtin| Metric {
                name: builtin.name.to_owned(),
                kind: builtin.kind,
                contains: builtin.contains,
                extra: builtin.extra,
            })
            .collect();
        let by_name = metrics
            .iter()
            .zip(0..)
            // A script may use the names of our additional metrics.
            .filter(|(metric, _)| !metric.extra)
            .map(|(metric, id)| (metric.name.clone(), MetricId(id)))
            .collect();
        Registry {
            len: AtomicUsize::new(metrics.len()),
            inner: Mutex::new(Inner { metrics, by_name }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic cannot leave the table inconsistent.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares a metric. Declaring it again in the same way returns the same id.
    pub fn register(
        &self,
        name: &str,
        kind: Kind,
        contains: Contains,
    ) -> Result<MetricId, RegisterError> {
        if !is_metric_name(name) {
            return Err(RegisterError::Name(name.to_owned()));
        }
        let mut inner = self.lock();
        if let Some(&id) = inner.by_name.get(name) {
            let metric = &inner.metrics[id.index()];
            if metric.kind != kind {
                return Err(RegisterError::Kind {
                    name: name.to_owned(),
                    is: metric.kind,
                    requested: kind,
                });
            }
            if metric.contains != contains {
                return Err(RegisterError::Contains {
                    name: name.to_owned(),
                    is: metric.contains,
                    requested: contains,
                });
            }
            return Ok(id);
        }
        let id = MetricId(inner.metrics.len() as u32);
        inner.metrics.push(Metric {
            name: name.to_owned(),
            kind,
            contains,
            extra: false,
        });
        inner.by_name.insert(name.to_owned(), id);
        self.len.store(inner.metrics.len(), Ordering::Release);
        Ok(id)
    }

    /// The metric with that name. A script's metric takes precedence over our additional metrics.
    pub fn find(&self, name: &str) -> Option<MetricId> {
        let inner = self.lock();
        inner.by_name.get(name).copied().or_else(|| {
            let place = inner
                .metrics
                .iter()
                .position(|metric| metric.name == name)?;
            Some(MetricId(place as u32))
        })
    }

    /// The properties of a metric. `None` if the id belongs to another registry.
    pub fn get(&self, id: MetricId) -> Option<Metric> {
        self.lock().metrics.get(id.index()).cloned()
    }

    /// The number of metrics. Takes no lock.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Always false, because the built-in metrics always exist.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All metrics, in the order of their ids.
    pub fn metrics(&self) -> Vec<Metric> {
        self.lock().metrics.clone()
    }
}

/// Two to 129 ASCII letters, digits and underscores, the first of which is not a digit.
fn is_metric_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let starts = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    starts
        && (2..=129).contains(&name.len())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
