//! Ranks the compared values in words, as far as the figures allow.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, Figure, Outcome};

use super::verdict::{Answer, Group};
use crate::leads::axis_value;
use crate::matrix::CPU;
use crate::naming::{describe_value, join_list};
use crate::ratio::{Estimate, estimate};

/// The words of a ranking: `HTTP is faster than gRPC`, `HTTP is fastest, gRPC slowest`.
struct Wording {
    singular: &'static str,
    plural: &'static str,
    better: &'static str,
    best: &'static str,
    worst: &'static str,
    less_is_better: bool,
    /// Whether twice the figure is twice as fast.
    is_rate: bool,
}

/// Rates and latencies are both a matter of speed.
const SPEED: Wording = Wording {
    singular: "is",
    plural: "are",
    better: "faster",
    best: "fastest",
    worst: "slowest",
    less_is_better: false,
    is_rate: false,
};

fn wording(figure: &Figure) -> Wording {
    match figure.name.as_str() {
        CPU => Wording {
            singular: "uses",
            plural: "use",
            better: "less CPU time",
            best: "the least CPU time",
            worst: "the most",
            less_is_better: true,
            is_rate: false,
        },
        "limit" => Wording {
            singular: "sustains",
            plural: "sustain",
            better: "a higher rate",
            best: "the highest rate",
            worst: "the lowest",
            less_is_better: false,
            is_rate: false,
        },
        name if name.starts_with("latency_") || name == "makespan" => Wording {
            less_is_better: true,
            ..SPEED
        },
        name if name.ends_with("_per_second") || name == "throughput" => Wording {
            is_rate: true,
            ..SPEED
        },
        _ => Wording {
            better: "higher",
            best: "highest",
            worst: "lowest",
            ..SPEED
        },
    }
}

/// `near: HTTP is faster than gRPC; far: no clear difference`: the ranking of each group, those with the same one
/// together. `None` if a group has only one value.
pub(super) fn rank_groups(answer: &Answer) -> Option<String> {
    let wording = wording(answer.groups.first()?.0.first()?.1);
    let mut clauses: Vec<(Vec<String>, Clause)> = Vec::new();
    for group in &answer.groups {
        let clause = ranking_clause(answer, group, &wording)?;
        let name = answer.name(group);
        match clauses.iter_mut().find(|(_, known)| *known == clause) {
            Some((names, _)) => names.push(name),
            None => clauses.push((vec![name], clause)),
        }
    }
    // Groups with differences come first.
    clauses.sort_by_key(|(_, clause)| clause.is_tie);
    let first = clauses.first().map(|(_, clause)| clause.compared.clone());
    let texts = clauses.iter().enumerate().map(|(at, (names, clause))| {
        let names: Vec<String> = names
            .iter()
            .filter(|name| !name.is_empty())
            .cloned()
            .collect();
        // The values are named once, if none of them differ.
        let text = match at > 0 && first.as_ref() == Some(&clause.compared) {
            true => &clause.short,
            false => &clause.text,
        };
        match names.is_empty() {
            true => text.clone(),
            false => format!("{}: {text}", join_list(&names)),
        }
    });
    let text = texts.collect::<Vec<_>>().join("; ");
    let is_named = clauses
        .iter()
        .any(|(names, _)| names.iter().any(|name| !name.is_empty()));
    Some(match (&answer.question.topic, is_named) {
        (Some(topic), true) => format!("{topic}, {text}"),
        (Some(topic), false) => format!("{topic}: {text}"),
        (None, _) => text,
    })
}

/// The ranking of one group.
#[derive(PartialEq)]
struct Clause {
    text: String,
    /// The ranking without the names of the values, if no difference is certain.
    short: String,
    /// All values in the order of the lab, as one text.
    compared: String,
    /// Whether no difference is certain.
    is_tie: bool,
}

fn ranking_clause(answer: &Answer, group: &Group, wording: &Wording) -> Option<Clause> {
    if group.0.len() < 2 {
        return None;
    }
    let names = |cells: &[&(&Cell, &Figure)]| -> Option<Vec<String>> {
        let axis = answer.question.axis.as_deref()?;
        let values = cells.iter().map(|(cell, _)| axis_value(cell, axis));
        values
            .map(|value| Some(describe_value(answer.result, axis, value?)))
            .collect()
    };
    let all: Vec<&(&Cell, &Figure)> = group.0.iter().collect();
    let compared = join_list(&names(&all)?);
    let tiers = tiers(answer, group, wording);
    let subject = |tier: &[&(&Cell, &Figure)]| -> Option<String> {
        let text = join_list(&names(tier)?);
        Some(match tier.len() {
            1 => text,
            _ => format!("{text} (order uncertain)"),
        })
    };
    let verb = |tier: &[&(&Cell, &Figure)]| -> Option<&'static str> {
        Some(match names(tier)?.as_slice() {
            [one] if !is_plural(one) => wording.singular,
            _ => wording.plural,
        })
    };
    let (text, short) = match tiers.as_slice() {
        [] => return None,
        [_] => {
            let short = "no clear difference".to_owned();
            (format!("{short} between {compared}"), short)
        }
        [first, last] if group.0.len() == 2 => {
            let by = match (wording.is_rate, first.as_slice(), last.as_slice()) {
                (true, [one], [other]) => times_as_fast(&estimate(answer.result, **other, **one)),
                _ => format!("{} than", wording.better),
            };
            let text = format!(
                "{} {} {by} {}",
                subject(first)?,
                verb(first)?,
                subject(last)?
            );
            (text.clone(), text)
        }
        [first, last] => {
            let text = format!(
                "{} {} {}, {} {}",
                subject(first)?,
                verb(first)?,
                wording.best,
                subject(last)?,
                wording.worst
            );
            (text.clone(), text)
        }
        [first, others @ ..] => {
            let mut text = format!("{} {} {}", subject(first)?, verb(first)?, wording.best);
            for tier in others {
                text.push_str(&format!(", then {}", subject(tier)?));
            }
            (text.clone(), text)
        }
    };
    Some(Clause {
        text,
        short,
        compared,
        is_tie: tiers.len() == 1,
    })
}

/// The values from the best to the worst, in tiers. It is certain that every value of a tier differs from every value of
/// the next tier.
fn tiers<'a>(
    answer: &Answer<'a>,
    group: &'a Group<'a>,
    wording: &Wording,
) -> Vec<Vec<&'a (&'a Cell, &'a Figure)>> {
    let mut sorted: Vec<&(&Cell, &Figure)> = group.0.iter().collect();
    sorted.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    if !wording.less_is_better {
        sorted.reverse();
    }
    let place =
        |one: &&(&Cell, &Figure)| group.0.iter().position(|other| std::ptr::eq(other, *one));
    let mut tiers: Vec<Vec<&(&Cell, &Figure)>> = Vec::new();
    for (at, one) in sorted.iter().enumerate() {
        let (before, after) = sorted.split_at(at);
        let is_decided = before.iter().all(|better| {
            let mut rest = after.iter();
            rest.all(|worse| is_better(answer, better, worse, wording))
        });
        match tiers.last_mut() {
            Some(tier) if !is_decided => tier.push(one),
            _ => tiers.push(vec![one]),
        }
    }
    // Within a tier no order is certain, so use the order of the lab.
    for tier in &mut tiers {
        tier.sort_by_key(place);
    }
    tiers
}

/// Whether one value is better than another with certainty.
fn is_better(
    answer: &Answer,
    one: &(&Cell, &Figure),
    other: &(&Cell, &Figure),
    wording: &Wording,
) -> bool {
    // A search has no interval: its rates met the objective or missed it.
    if let (Some(one), Some(other)) = (&one.0.limit, &other.0.limit) {
        return matches!((one.kept, other.broken), (Some(kept), Some(broken)) if kept >= broken);
    }
    let found = estimate(answer.result, *one, *other);
    match wording.less_is_better {
        true => found.outcome == Outcome::Larger,
        false => found.outcome == Outcome::Smaller,
    }
}

/// `5.8 times as fast as`, or `faster than` for a small ratio.
fn times_as_fast(found: &Estimate) -> String {
    match found.ratio >= 1.5 {
        true => {
            let place = Place::of(found.ratio, found.interval).at_most(2);
            format!("{} times as fast as", place.print(found.ratio))
        }
        false => "faster than".to_owned(),
    }
}

/// Whether the name of a value is a plural: `random rows`, `100 users`, and not `PostgreSQL with queries`.
fn is_plural(name: &str) -> bool {
    let head = [" with ", " on ", " over ", " in "]
        .iter()
        .filter_map(|word| name.split_once(word))
        .map(|(head, _)| head)
        .min_by_key(|head| head.len())
        .unwrap_or(name);
    let last = head.rsplit(' ').next().unwrap_or_default();
    head.contains(' ')
        && last.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| last.ends_with(end))
        && last.chars().all(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::is_plural;

    #[test]
    fn plurals_are_recognized() {
        for (name, expected) in [
            ("random rows", true),
            ("100 users", true),
            ("new connections", true),
            ("one hot row", false),
            ("PostgreSQL with queries", false),
            ("gRPC on new connections", false),
            ("mutual TLS", false),
            ("postgres", false),
            ("Redis", false),
            ("", false),
        ] {
            assert_eq!(is_plural(name), expected, "{name}");
        }
    }
}
