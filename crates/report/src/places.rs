//! Explains the places of a lab, such as `near` and `far`, in one line before the questions.

use plimsoll_plots::number::tick;
use plimsoll_results::lab::{LabResult, LinkFigures};

use crate::document::Words;
use crate::naming::{capitalize, join_list};

/// `Near: client and system on one machine. Far: the same machine, with an emulated round trip of 7 ms.` `None` if no line is
/// emulated.
pub fn places_sentence(result: &LabResult) -> Option<Words> {
    let mut places: Vec<(&str, Vec<&LinkFigures>)> = Vec::new();
    for link in result.cells.iter().filter_map(|cell| cell.link.as_ref()) {
        match places.iter_mut().find(|(name, _)| *name == link.name) {
            Some((_, known)) => known.push(link),
            None => places.push((&link.name, vec![link])),
        }
    }
    let is_emulated = |link: &&LinkFigures| round_trip(link).is_some();
    // A network to another host has its own line among the facts.
    let is_local =
        |link: &&LinkFigures| is_emulated(link) || link.by == "loopback" || has_rate(link);
    let all: Vec<&LinkFigures> = places
        .iter()
        .flat_map(|(_, links)| links)
        .copied()
        .collect();
    if !all.iter().any(is_emulated) || !all.iter().all(is_local) {
        return None;
    }
    let mut words = Words::new();
    for (at, (name, links)) in places.iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        words = words
            .text(space)
            .strong(capitalize(name))
            .text(format!(": {}.", describe_links(links)));
    }
    Some(words)
}

/// The emulated round trip in milliseconds, if there is one.
fn round_trip(link: &LinkFigures) -> Option<f64> {
    link.declared_round_trip_ms.filter(|ms| *ms > 0.0)
}

fn has_rate(link: &LinkFigures) -> bool {
    link.declared_megabits_per_second.is_some()
}

/// The links of one place in words.
fn describe_links(links: &[&LinkFigures]) -> String {
    let rates = links
        .iter()
        .filter_map(|link| link.declared_megabits_per_second);
    let rate = rates
        .reduce(f64::max)
        .map(|rate| format!("at most {} Mbit/s", tick(rate)));
    let delayed = links.iter().find_map(|link| {
        let jitter = match link.declared_jitter_ms {
            Some(jitter) => format!(" ± {}", tick(jitter)),
            None => String::new(),
        };
        let round_trip = tick(round_trip(link)?);
        Some(format!("an emulated round trip of {round_trip}{jitter} ms"))
    });
    let all_have_rates = links.iter().all(|link| has_rate(link));
    match (delayed, rate) {
        (Some(delayed), rate) => {
            let with: Vec<String> = std::iter::once(delayed).chain(rate).collect();
            format!("the same machine, with {}", join_list(&with))
        }
        (None, Some(rate)) if all_have_rates => format!("client and system on one machine, {rate}"),
        (None, Some(rate)) => format!("client and system on one machine, for some loads {rate}"),
        (None, None) => "client and system on one machine".to_owned(),
    }
}
