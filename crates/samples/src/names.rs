//! Counts HTTP exchanges and other calls by the request's name and method.

mod wire;

use std::sync::Arc;

use plimsoll_stats::Histogram;
use rustc_hash::FxHashMap;

use crate::call::CallFacts;
use crate::exchange::{HttpFacts, Phases};
use crate::mask::Masking;
use crate::summary::{NamePart, NameParts, Values};

/// Maximum number of names with separate results. Requests with further names are counted together, so that a script
/// with ids in its URLs does not use more and more memory.
const NAME_LIMIT: usize = 200;

/// Exchanges by name and method.
#[derive(Debug, Default)]
pub(crate) struct NameTally {
    /// Most names occur with only one method.
    by_name: FxHashMap<Box<str>, Vec<(Box<str>, Part)>>,
    entries: usize,
    others: Part,
}

#[derive(Clone, Debug, Default)]
struct Part {
    requests: u64,
    failed: u64,
    /// Service time of exchanges that did not fail, in milliseconds.
    times: Histogram,
}

impl NameTally {
    #[inline]
    pub fn record(&mut self, facts: &HttpFacts, masking: &Masking) {
        let name = facts.tagged_url();
        let part = self.part(&masking.apply(&name), facts.method);
        part.record(facts.failed(), || service_time(&facts.phases));
    }

    pub fn record_call(&mut self, facts: &CallFacts, masking: &Masking) {
        let part = self.part(&masking.apply(facts.name), facts.method);
        let took = || facts.took.as_nanos() as f64 / 1e6;
        part.record(!facts.error.is_empty(), took);
    }

    fn part(&mut self, name: &str, method: &str) -> &mut Part {
        if !self.is_known(name, method) {
            if self.entries >= NAME_LIMIT {
                return &mut self.others;
            }
            self.entries += 1;
            let methods = self.by_name.entry(name.into()).or_default();
            methods.push((method.into(), Part::default()));
        }
        let methods = self.by_name.get_mut(name);
        let found = methods.and_then(|methods| {
            let mut methods = methods.iter_mut();
            methods.find(|(known, _)| **known == *method)
        });
        found.map_or(&mut self.others, |(_, part)| part)
    }

    fn is_known(&self, name: &str, method: &str) -> bool {
        let methods = self.by_name.get(name);
        methods.is_some_and(|methods| methods.iter().any(|(known, _)| **known == *method))
    }

    pub fn merge(&mut self, other: &NameTally) {
        for (name, methods) in &other.by_name {
            for (method, part) in methods.iter().filter(|(_, part)| part.requests > 0) {
                self.part(name, method).merge(part);
            }
        }
        self.others.merge(&other.others);
    }

    /// Resets the counts but keeps the entries.
    pub fn clear(&mut self) {
        let parts = self.by_name.values_mut().flatten();
        parts.for_each(|(_, part)| part.clear());
        self.others.clear();
    }

    /// The results of each name, most frequent first.
    pub fn parts(&self) -> NameParts {
        let mut listed: Vec<NamePart> = self
            .by_name
            .iter()
            .flat_map(|(name, methods)| {
                let methods = methods.iter().filter(|(_, part)| part.requests > 0);
                methods.map(move |(method, part)| part.figures(name, method))
            })
            .collect();
        listed.sort_by(|a, b| {
            let by_count = b.requests.cmp(&a.requests);
            by_count.then_with(|| (&a.name, &a.method).cmp(&(&b.name, &b.method)))
        });
        NameParts {
            listed,
            others: (self.others.requests > 0).then(|| self.others.figures("", "")),
        }
    }

    pub fn heap_bytes(&self) -> usize {
        let parts = self.by_name.values().flatten();
        parts
            .map(|(_, part)| part.times.heap_bytes())
            .sum::<usize>()
            + self.others.times.heap_bytes()
    }
}

impl Part {
    #[inline]
    fn record(&mut self, failed: bool, milliseconds: impl FnOnce() -> f64) {
        self.requests += 1;
        if failed {
            self.failed += 1;
        } else {
            self.times.record(milliseconds());
        }
    }

    fn merge(&mut self, other: &Part) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.times.merge(&other.times);
    }

    fn clear(&mut self) {
        (self.requests, self.failed) = (0, 0);
        self.times.clear();
    }

    fn figures(&self, name: &str, method: &str) -> NamePart {
        NamePart {
            name: name.to_owned(),
            method: method.to_owned(),
            requests: self.requests,
            failed: self.failed,
            times: Values::Trend(Arc::new(self.times.clone())),
        }
    }
}

/// The sum of sending, waiting and receiving: k6's `http_req_duration`.
fn service_time(phases: &Phases) -> f64 {
    (phases.sending + phases.waiting + phases.receiving).as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn request<'a>(name: &'a str, method: &'a str, status: u16, millis: u64) -> HttpFacts<'a> {
        HttpFacts {
            name: Some(name),
            method,
            status,
            phases: Phases {
                waiting: Duration::from_millis(millis),
                ..Phases::default()
            },
            ..HttpFacts::default()
        }
    }

    #[test]
    fn requests_are_counted_by_name_and_method() {
        let mut one = NameTally::default();
        one.record(&request("cart", "GET", 200, 3), &Masking::default());
        one.record(&request("cart", "POST", 200, 9), &Masking::default());
        let mut other = NameTally::default();
        other.record(&request("cart", "GET", 0, 500), &Masking::default());
        other.record(&request("pay", "POST", 200, 7), &Masking::default());
        one.merge(&other);
        let parts = one.parts();
        let of = |at: usize| &parts.listed[at];
        assert_eq!(
            (
                of(0).name.as_str(),
                of(0).method.as_str(),
                of(0).requests,
                of(0).failed
            ),
            ("cart", "GET", 2, 1)
        );
        // A failed request has no service time.
        assert_eq!(of(0).times.max(), Some(3.0));
        assert_eq!((of(1).name.as_str(), of(2).name.as_str()), ("cart", "pay"));
        assert!(parts.others.is_none());
        one.clear();
        assert!(one.parts().listed.is_empty());
        assert_eq!(one.entries, 3);
    }

    #[test]
    fn calls_are_listed_next_to_requests() {
        let mut tally = NameTally::default();
        tally.record(&request("cart", "GET", 200, 3), &Masking::default());
        let call = CallFacts {
            name: "shop.Cart/Add",
            method: "gRPC",
            took: Duration::from_millis(8),
            ..CallFacts::default()
        };
        tally.record_call(&call, &Masking::default());
        tally.record_call(
            &CallFacts {
                error: "Unavailable: gone",
                ..call
            },
            &Masking::default(),
        );
        let listed = tally.parts().listed;
        assert_eq!((listed[0].requests, listed[0].failed), (2, 1));
        assert_eq!(listed[0].name, "shop.Cart/Add");
        assert_eq!((listed[0].times.max(), listed.len()), (Some(8.0), 2));
    }

    #[test]
    fn names_above_the_limit_are_counted_together() {
        let mut tally = NameTally::default();
        for number in 0..NAME_LIMIT + 5 {
            tally.record(
                &request(&format!("item {number}"), "GET", 200, 1),
                &Masking::default(),
            );
        }
        let parts = tally.parts();
        assert_eq!(parts.listed.len(), NAME_LIMIT);
        assert_eq!(parts.others.map(|others| others.requests), Some(5));
    }

    #[test]
    fn a_request_without_a_name_is_listed_by_its_url_without_the_password() {
        let mut tally = NameTally::default();
        tally.record(
            &HttpFacts {
                url: "http://me:secret@host/a",
                method: "GET",
                status: 200,
                ..HttpFacts::default()
            },
            &Masking::default(),
        );
        assert_eq!(tally.parts().listed[0].name, "http://****:****@host/a");
    }
}
