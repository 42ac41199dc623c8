//! Reads the output of `plimsoll find --json`.

use plimsoll_results::lab::{LimitSearch, LimitTrial};
use serde_json::Value;

/// A search and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedSearch {
    /// The search as written to the result.
    pub search: LimitSearch,
    /// `valid`, `suspect` or `invalid`.
    pub verdict: &'static str,
    /// Pairs of a cause and an explanation.
    pub reasons: Vec<(String, String)>,
}

/// The search result in printed output; `None` if there is none.
pub fn read(printed: &str) -> Option<JudgedSearch> {
    let json: Value = serde_json::from_str(printed).ok()?;
    let schema = json["schema"].as_str()?;
    if !schema.starts_with("plimsoll/find-result/") {
        return None;
    }
    let objectives: Vec<&str> = json["objectives"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let (figure, limit) = first(&objectives)?;
    let trials: Vec<&Value> = json["trials"].as_array()?.iter().collect();
    let metric = match trials.first().and_then(|trial| trial["metric"].as_str()) {
        Some("iteration_duration") => "iteration time",
        _ => "response time",
    };
    let search = LimitSearch {
        objective: objectives.join(" and "),
        figure: format!("{figure} of {metric}"),
        limit,
        unit: "ms".to_owned(),
        trials: trials
            .iter()
            .map(|trial| read_trial(trial, &figure))
            .collect(),
        kept: json["kept"].as_f64(),
        broken: json["broken"].as_f64(),
        confirmed: json["confirmed"].as_bool().unwrap_or(false),
    };
    let (verdict, reasons) = judge(
        &search,
        &trials,
        json["answer"].as_str().unwrap_or_default(),
        json["drift"].is_object(),
    );
    Some(JudgedSearch {
        search,
        verdict,
        reasons,
    })
}

/// The figure of the first objective, and its limit in milliseconds.
fn first(objectives: &[&str]) -> Option<(String, f64)> {
    let (name, bound) = objectives.first()?.split_once('<')?;
    let bound = plimsoll_units::duration::parse(bound.trim_start_matches('=').trim()).ok()?;
    let figure = match name.trim() {
        "med" | "median" | "p(50)" => "p50",
        "avg" => "mean",
        "p99.9" => "p999",
        other => other,
    };
    Some((figure.to_owned(), bound.as_secs_f64() * 1000.0))
}

fn read_trial(trial: &Value, figure: &str) -> LimitTrial {
    LimitTrial {
        rate: trial["rate"].as_f64().unwrap_or(0.0),
        value: trial["response_time_ms"][figure].as_f64(),
        kept: trial["kept"].as_bool().unwrap_or(false),
        soak: trial["soak"].as_bool().unwrap_or(false),
    }
}

/// Judges a search. It is valid if it is confirmed, because `find` confirms only what valid trials
/// showed. If the generator was the limit or the service drifted, the result of the search contains
/// a reason.
fn judge(
    search: &LimitSearch,
    trials: &[&Value],
    answer: &str,
    drifted: bool,
) -> (&'static str, Vec<(String, String)>) {
    let mut reasons: Vec<(String, String)> = Vec::new();
    let mut verdicts = vec!["valid"];
    if search.kept.is_none() && search.broken.is_none() {
        verdicts.push("invalid");
        reasons.push(("client".to_owned(), answer.to_owned()));
    } else if !search.confirmed {
        verdicts.push("suspect");
        let cause = if drifted { "server" } else { "client" };
        reasons.push((cause.to_owned(), answer.to_owned()));
    }
    for trial in trials {
        let decides = trial["kept"] == false && trial["rate"].as_f64() == search.broken;
        let verdict = trial["verdict"].as_str().unwrap_or("valid");
        if !decides || verdict == "valid" {
            continue;
        }
        // The search repeated such a rate until it could decide, so a doubt remains.
        verdicts.push("suspect");
        for reason in trial["reasons"].as_array().into_iter().flatten() {
            let text = reason.as_str().unwrap_or_default();
            let (cause, text) = text.split_once(": ").unwrap_or(("client", text));
            let reason = (
                cause.to_owned(),
                format!(
                    "at {} per second, which did not meet the objective: {text}",
                    trial["rate"]
                ),
            );
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    (worst(verdicts.into_iter()), reasons)
}

/// Combines several searches of one cell: the rate that met the objective in all of them, and the
/// rate that met it in none.
pub fn together(searches: &[LimitSearch]) -> Option<LimitSearch> {
    let (first, rest) = searches.split_first()?;
    let mut all = first.clone();
    for search in rest {
        all.kept = all.kept.zip(search.kept).map(|(one, other)| one.min(other));
        all.broken = all
            .broken
            .zip(search.broken)
            .map(|(one, other)| one.max(other));
        all.confirmed &= search.confirmed;
        all.trials.extend(search.trials.iter().cloned());
    }
    Some(all)
}

/// The worst of the given verdicts.
pub fn worst<'a>(verdicts: impl Iterator<Item = &'a str>) -> &'static str {
    let mut worst = "valid";
    for verdict in verdicts {
        worst = match (worst, verdict) {
            (_, "invalid") | ("invalid", _) => "invalid",
            ("valid", "valid" | "") => "valid",
            _ => "suspect",
        };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(kept: &str, confirmed: bool, verdict: &str) -> String {
        format!(
            r#"{{"schema": "plimsoll/find-result/1", "objectives": ["p95<50ms"], "kept": {kept},
            "broken": 110, "confirmed": {confirmed}, "answer": "The limit is 100/s.", "trials": [
            {{"rate": 100, "soak": false, "kept": true, "metric": "http_req_response_time",
              "response_time_ms": {{"p95": 31.5}}, "verdict": "suspect", "reasons": ["client: slow"]}},
            {{"rate": 110, "soak": false, "kept": false, "metric": "http_req_response_time",
              "response_time_ms": {{"p95": null}}, "verdict": "{verdict}", "reasons": ["client: slow"]}}]}}"#
        )
    }

    #[test]
    fn a_search_is_read_with_its_trials() {
        let found = read(&printed("100", true, "valid")).unwrap();
        let search = &found.search;
        assert_eq!((search.kept, search.broken), (Some(100.0), Some(110.0)));
        assert_eq!(
            (search.objective.as_str(), search.limit),
            ("p95<50ms", 50.0)
        );
        assert_eq!(search.figure, "p95 of response time");
        assert_eq!(search.trials[0].value, Some(31.5));
        assert_eq!(search.trials[1].value, None);
        assert_eq!((found.verdict, found.reasons.len()), ("valid", 0));
        assert_eq!(read("{\"requests\": 3}"), None);
        assert_eq!(read("The limit is 100/s"), None);
    }

    #[test]
    fn doubt_about_a_missed_rate_casts_doubt_on_the_limit() {
        let found = read(&printed("100", true, "suspect")).unwrap();
        assert_eq!((found.verdict, found.reasons.len()), ("suspect", 1));
        let found = read(&printed("100", false, "valid")).unwrap();
        assert_eq!(found.verdict, "suspect");
        assert_eq!(found.reasons[0].1, "The limit is 100/s.");
        let nothing =
            printed("null", false, "invalid").replace("\"broken\": 110", "\"broken\": null");
        assert_eq!(read(&nothing).unwrap().verdict, "invalid");
    }

    #[test]
    fn a_drift_is_blamed_on_the_service_and_a_lower_bound_on_the_generator() {
        let drifted = printed("100", false, "valid").replace(
            "\"confirmed\"",
            r#""drift": {"low": 100, "high": 400, "slower": true}, "confirmed""#,
        );
        let found = read(&drifted).unwrap();
        assert_eq!(
            (found.verdict, found.reasons[0].0.as_str()),
            ("suspect", "server")
        );
        let bound = printed("100", false, "valid").replace("\"broken\": 110", "\"broken\": null");
        let found = read(&bound).unwrap();
        assert_eq!(
            (found.verdict, found.reasons[0].0.as_str()),
            ("suspect", "client")
        );
        assert_eq!(
            (found.search.kept, found.search.broken),
            (Some(100.0), None)
        );
    }

    #[test]
    fn several_searches_combine_to_the_common_interval() {
        let of = |kept, broken| LimitSearch {
            kept,
            broken,
            confirmed: true,
            ..LimitSearch::default()
        };
        let all = together(&[of(Some(90.0), Some(100.0)), of(Some(95.0), Some(120.0))]).unwrap();
        assert_eq!((all.kept, all.broken), (Some(90.0), Some(120.0)));
        let all = together(&[of(Some(90.0), None), of(None, Some(1.0))]).unwrap();
        assert_eq!((all.kept, all.broken), (None, None));
        assert_eq!(together(&[]), None);
    }

    #[test]
    fn the_worst_verdict_counts() {
        assert_eq!(worst(["valid", "valid"].into_iter()), "valid");
        assert_eq!(worst(["valid", "suspect"].into_iter()), "suspect");
        assert_eq!(worst(["invalid", "suspect"].into_iter()), "invalid");
    }
}
