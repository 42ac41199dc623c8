//! Correlation by comparison: the journey was sent twice. Values that differ between the responses are those that the
//! server generates for each user.

use std::collections::HashMap;

use super::candidates::{Candidate, candidates};
use super::places;
use crate::captured::Captured;
use crate::javascript::variable;
use crate::journey::{Extract, Journey, Variable};

/// Replaces values that differ between the first two repetitions. Recorded values are found by value, and others by
/// name. Returns the number of values that were found.
pub fn by_captured(journey: &mut Journey, captured: &[Captured]) -> usize {
    let before = journey.extracts();
    for at in 0..journey.requests.len() {
        let of = |iteration| {
            let mut all = captured.iter();
            all.find(|it| it.request == at && it.iteration == iteration)
        };
        let (Some(first), Some(second)) = (of(0), of(1)) else {
            continue;
        };
        let second = by_place(candidates(&second.response));
        let changed = candidates(&first.response).into_iter().filter(|candidate| {
            let other = second.get(&candidate.code);
            other.is_some_and(|other| other.value != candidate.value)
        });
        let recorded = super::response(journey, at).map(|response| by_place(candidates(response)));
        let extracts = &journey.requests[at].extracts;
        let new: Vec<Candidate> = changed
            .filter(|candidate| {
                extracts
                    .iter()
                    .all(|extract| extract.code != candidate.code)
            })
            .collect();
        match recorded {
            Some(recorded) => {
                let values = new
                    .iter()
                    .filter_map(|candidate| recorded.get(&candidate.code));
                by_value(journey, at, values.cloned().collect());
            }
            None => by_name(journey, at, new),
        }
    }
    drop_unused_variables(journey);
    journey.extracts() - before
}

fn by_place(candidates: Vec<Candidate>) -> HashMap<String, Candidate> {
    let pairs = candidates
        .into_iter()
        .map(|candidate| (candidate.code.clone(), candidate));
    pairs.collect()
}

/// Recorded values that occur in later requests but in no earlier request.
fn by_value(journey: &mut Journey, at: usize, found: Vec<Candidate>) {
    let index = super::index(journey);
    let is_new = |value: &str| index.get(value).is_some_and(|(first, _)| *first > at);
    let found = found
        .into_iter()
        .filter(|candidate| is_new(&candidate.value));
    let found = found.collect();
    let mut used = super::names(journey);
    super::extract(journey, at, found, &mut used);
}

fn by_name(journey: &mut Journey, at: usize, found: Vec<Candidate>) {
    let mut used = super::names(journey);
    let created = created_by(journey, at);
    // The cookie jar sends cookies.
    let values = found.into_iter().filter(|candidate| !candidate.is_cookie);
    for candidate in values {
        let name = match candidate.name.rsplit('-').next() {
            Some("id") => format!("{created}id"),
            Some(last @ ("jwt" | "key" | "sid")) => last.to_owned(),
            _ => places::plain(&candidate.name),
        };
        if name.is_empty() || name == "id" {
            continue;
        }
        let mut names = used.clone();
        let variable = variable(&candidate.name, &mut names);
        let is_token = candidate.name.to_ascii_lowercase().ends_with("token");
        let is_meant = |known: &&Variable| {
            let own = places::plain(&known.name);
            // A description contains only the type of its authorization.
            own == name || own == "token" && known.value.is_empty() && is_token
        };
        let constants: Vec<String> = journey
            .variables
            .iter()
            .filter(is_meant)
            .map(|known| known.constant.clone())
            .collect();
        let mut is_used = false;
        for request in journey.requests.iter_mut().skip(at + 1) {
            is_used |= places::replace_by_name(request, &name, &variable);
            for constant in &constants {
                is_used |= places::replace_code(request, constant, &variable);
            }
        }
        if is_used {
            used = names;
            journey.requests[at].extracts.push(Extract {
                variable,
                code: candidate.code,
                place: candidate.place,
            });
        }
    }
}

/// The resource that a request to a collection creates, such as `pet` for `POST /pets`.
fn created_by(journey: &Journey, at: usize) -> String {
    let request = &journey.requests[at];
    let path = request.shown();
    let path = path.split_once(' ').map_or("", |(_, path)| path);
    let last = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    match (request.method.as_str(), places::plain(last)) {
        ("POST", name) => super::singular(&name),
        _ => String::new(),
    }
}

/// Constants that are unused because extracted values have replaced them everywhere.
fn drop_unused_variables(journey: &mut Journey) {
    let mut used = String::new();
    for request in &mut journey.requests {
        places::each_text(request, &mut |text| {
            for piece in &text.0 {
                if let crate::text::Piece::Code(code) = piece {
                    used.push_str(code);
                    used.push('\n');
                }
            }
        });
    }
    let is_used = |constant: &str| used.lines().any(|code| code.contains(constant));
    journey
        .variables
        .retain(|variable| is_used(&variable.constant));
}
