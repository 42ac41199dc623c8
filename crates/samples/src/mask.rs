//! Masks the secrets that a script has read in all text that leaves the program.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::builtin;
use crate::metric_id::MetricId;
use crate::record::SampleTags;

/// Replaces a secret, as in k6's log.
pub const REDACTED: &str = "***SECRET_REDACTED***";

/// The same in the name of a metric, where databases do not accept asterisks.
const REDACTED_IN_NAME: &str = "SECRET_REDACTED";

/// The secrets that a script has read. Scripts may use them, but no log, sample or file may contain them.
#[derive(Default)]
pub struct Mask {
    /// The secrets, longest first, because one secret may contain another.
    secrets: RwLock<Vec<String>>,
    /// The number of secrets.
    count: AtomicUsize,
}

impl Mask {
    /// Masks this secret from now on.
    pub fn hide(&self, secret: &str) {
        let mut secrets = self.secrets.write().unwrap_or_else(PoisonError::into_inner);
        if secret.is_empty() || secrets.iter().any(|known| known == secret) {
            return;
        }
        secrets.push(secret.to_owned());
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        self.count.store(secrets.len(), Ordering::Release);
    }

    /// All secrets, for a mask on another machine.
    pub fn secrets(&self) -> Vec<String> {
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        secrets.clone()
    }

    /// Masks the secrets in `text`.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let mut masked = Cow::Borrowed(text);
        for secret in secrets.iter() {
            if masked.contains(secret) {
                masked = Cow::Owned(masked.replace(secret, REDACTED));
            }
        }
        masked
    }

    /// The name of a metric or sub-metric without secrets. The names of the built-in metrics stay, even
    /// if a secret is a part of one: the summary finds them by name.
    pub fn apply_to_metric<'t>(&self, metric: MetricId, name: &'t str) -> Cow<'t, str> {
        let (base, selector) = name.split_at(name.find('{').unwrap_or(name.len()));
        let shown = match self.apply(base) {
            Cow::Owned(masked) if !builtin::is_builtin(metric) => {
                Cow::Owned(masked.replace(REDACTED, REDACTED_IN_NAME))
            }
            _ => Cow::Borrowed(base),
        };
        match (shown, self.apply(selector)) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(name),
            (base, selector) => Cow::Owned(format!("{base}{selector}")),
        }
    }

    /// Whether there are no secrets. Takes no lock.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}

/// Maximum number of cached strings. A script may put a number into the name of each request.
const CACHE_LIMIT: usize = 1_024;

/// Masks the strings of one recorder. Each distinct string is searched only once, so that recording takes no lock.
#[derive(Debug, Default)]
pub(crate) struct Masking {
    /// `None` if the run has no secrets.
    mask: Option<Arc<Mask>>,
    cache: RefCell<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    /// The number of secrets when the strings were searched.
    secrets: usize,
    /// The replacements of strings that contain secrets.
    texts: FxHashMap<Box<str>, Option<Box<str>>>,
}

impl Masking {
    pub fn new(mask: Option<Arc<Mask>>) -> Masking {
        Masking {
            mask,
            cache: RefCell::default(),
        }
    }

    /// Masks the secrets in `text`.
    #[inline]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.mask {
            Some(mask) => self.search(mask, text),
            None => Cow::Borrowed(text),
        }
    }

    /// Masks the secrets in `tags`.
    pub fn tags(&self, tags: SampleTags) -> SampleTags {
        let is_secret = |text: &str| matches!(self.apply(text), Cow::Owned(_));
        let has_secrets = self.mask.as_ref().is_some_and(|mask| !mask.is_empty())
            && tags
                .iter()
                .any(|(key, value)| is_secret(key) || is_secret(value));
        if !has_secrets {
            return tags;
        }
        let masked = tags.iter();
        masked
            .map(|(key, value)| (self.apply(key), self.apply(value)))
            .collect()
    }

    fn search<'t>(&self, mask: &Mask, text: &'t str) -> Cow<'t, str> {
        let count = mask.count.load(Ordering::Acquire);
        if count == 0 {
            return Cow::Borrowed(text);
        }
        let cache = &mut *self.cache.borrow_mut();
        if cache.secrets != count || cache.texts.len() >= CACHE_LIMIT {
            cache.texts.clear();
            cache.secrets = count;
        }
        if let Some(known) = cache.texts.get(text) {
            return match known {
                Some(masked) => Cow::Owned(masked.to_string()),
                None => Cow::Borrowed(text),
            };
        }
        let masked = mask.apply(text);
        let kept = match &masked {
            Cow::Owned(masked) => Some(masked.as_str().into()),
            Cow::Borrowed(_) => None,
        };
        cache.texts.insert(text.into(), kept);
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_the_longest_first() {
        let mask = Mask::default();
        assert!(mask.is_empty());
        for secret in ["cool", "", "cool one", "cool"] {
            mask.hide(secret);
        }
        assert_eq!(mask.count.load(Ordering::Relaxed), 2);
        assert_eq!(
            mask.apply("a cool one, cooler"),
            format!("a {REDACTED}, {REDACTED}er")
        );
        assert!(matches!(mask.apply("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn a_cached_string_is_searched_again_after_another_secret_was_read() {
        let mask = Arc::new(Mask::default());
        let masking = Masking::new(Some(Arc::clone(&mask)));
        assert_eq!(masking.apply("one two"), "one two");
        mask.hide("one");
        assert_eq!(masking.apply("one two"), format!("{REDACTED} two"));
        assert_eq!(masking.apply("one two"), format!("{REDACTED} two"));
        mask.hide("two");
        assert_eq!(masking.apply("one two"), format!("{REDACTED} {REDACTED}"));
        for number in 0..2 * CACHE_LIMIT {
            masking.apply(&number.to_string());
        }
        assert!(masking.cache.borrow().texts.len() <= CACHE_LIMIT);
    }
}
