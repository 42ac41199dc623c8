//! Correlation: later requests use values of responses, such as tokens and identifiers. The script extracts them from
//! its own responses, because recorded values have expired.

mod candidates;
mod captured;
mod places;

pub use captured::by_captured;

use std::collections::{BTreeSet, HashMap};

use crate::javascript::variable;
use crate::journey::{Extract, Journey, Response};
pub(crate) use candidates::json_path;
use candidates::{Candidate, candidates, in_text};

/// The first and the last request with a token.
type Index = HashMap<String, (usize, usize)>;

/// Maximum number of values of one response to find by the text before them.
const MAX_IN_TEXT: usize = 50;

/// Replaces values of recorded responses in later requests.
pub fn by_recording(journey: &mut Journey) {
    let mut used = names(journey);
    let mut index = index(journey);
    let mut extracts = journey.extracts();
    for at in 0..journey.requests.len() {
        let Some(response) = journey.requests[at].response.clone() else {
            continue;
        };
        // Each replaced value changes requests.
        if journey.extracts() > extracts {
            extracts = journey.extracts();
            index = self::index(journey);
        }
        let is_new = |value: &str| {
            index
                .get(value)
                .is_some_and(|(first, last)| *first > at && *last > at)
        };
        let mut found: Vec<Candidate> = candidates(&response)
            .into_iter()
            .filter(|candidate| candidate.is_plausible() && is_new(&candidate.value))
            .collect();
        let known = |found: &[Candidate], value: &str| {
            found
                .iter()
                .any(|candidate| candidate.value.contains(value))
        };
        let words = places::words(&response.body).chain(places::words(&response.url));
        let words: BTreeSet<&str> = words.filter(|word| candidates::is_random(word)).collect();
        let mut count = 0;
        for token in words.into_iter().flat_map(places::parts) {
            if count < MAX_IN_TEXT
                && candidates::is_random(token)
                && is_new(token)
                && !known(&found, token)
                && let Some(candidate) = in_text(&response, token)
            {
                found.push(candidate);
                count += 1;
            }
        }
        extract(journey, at, found, &mut used);
    }
}

/// Replaces the values in later requests, the longest value first. Values that no later request contains are left out.
fn extract(journey: &mut Journey, at: usize, mut found: Vec<Candidate>, used: &mut Vec<String>) {
    // A whole URL is less readable than the identifier in it. The sort is stable: of equal values, the first location
    // is used.
    found.sort_by_key(|candidate| (candidate.is_url, usize::MAX - candidate.value.len()));
    let mut done: Vec<String> = Vec::new();
    for candidate in found {
        if done.contains(&candidate.value) {
            continue;
        }
        let mut names = used.clone();
        let name = variable(&candidate.name, &mut names);
        let mut is_used = false;
        for request in journey.requests.iter_mut().skip(at + 1) {
            is_used |= places::replace(request, &candidate, &name);
        }
        if is_used {
            *used = names;
            done.push(candidate.value);
            journey.requests[at].extracts.push(Extract {
                variable: name,
                code: candidate.code,
                place: candidate.place,
            });
        }
    }
}

/// The singular of a plural: `order` for `orders`.
pub(crate) fn singular(name: &str) -> String {
    match name.strip_suffix("ies") {
        Some(stem) if !stem.is_empty() => format!("{stem}y"),
        _ if name.ends_with("ss") || name.ends_with("us") => name.to_owned(),
        _ => name.strip_suffix('s').unwrap_or(name).to_owned(),
    }
}

/// Names that the script already uses.
fn names(journey: &Journey) -> Vec<String> {
    let extracts = journey
        .requests
        .iter()
        .flat_map(|request| &request.extracts);
    let extracts = extracts.map(|extract| extract.variable.clone());
    let constants = journey
        .variables
        .iter()
        .map(|variable| variable.constant.clone());
    extracts.chain(constants).collect()
}

fn index(journey: &Journey) -> Index {
    let mut index = Index::new();
    for (at, request) in journey.requests.iter().enumerate() {
        places::tokens(request, &mut |token| match index.get_mut(token) {
            Some((_, last)) => *last = at,
            None => _ = index.insert(token.to_owned(), (at, at)),
        });
    }
    index
}

/// The response to the request at index `at`, if it is known.
fn response(journey: &Journey, at: usize) -> Option<&Response> {
    journey.requests.get(at)?.response.as_ref()
}
