//! `plimsoll status|stats|pause|resume|scale|stop`: control of a run in another process.

use plimsoll_live::{API_PORT, Client, ClientError, WebAddress};
use plimsoll_terminal::messages::{complain, put};
use serde_json::{Map, Value, json};

use crate::args::{ApiArgs, ScaleArgs};
use crate::exit::Exit;

/// Prints the state of the run.
pub fn status(at: &ApiArgs) -> Exit {
    show(at, |client| client.get("/v1/status"))
}

/// Prints the metrics of the run.
pub fn stats(at: &ApiArgs) -> Exit {
    show(at, |client| client.get("/v1/metrics"))
}

/// Pauses or resumes the run.
pub fn pause(at: &ApiArgs, is_paused: bool) -> Exit {
    show(at, |client| client.change(json!({ "paused": is_paused })))
}

/// Changes the number of users.
pub fn scale(args: &ScaleArgs) -> Exit {
    let mut attributes = Map::new();
    if let Some(users) = args.vus {
        attributes.insert("vus".to_owned(), users.into());
    }
    if let Some(most) = args.max {
        attributes.insert("vus-max".to_owned(), most.into());
    }
    show(&args.at, |client| client.change(attributes.into()))
}

/// Ends the run gracefully.
pub fn stop(at: &ApiArgs) -> Exit {
    show(at, |client| client.change(json!({ "stopped": true })))
}

fn show(at: &ApiArgs, call: impl FnOnce(&Client) -> Result<Value, ClientError>) -> Exit {
    let address = match WebAddress::parse_with(&at.address, API_PORT) {
        Ok(address) => address,
        Err(error) => {
            complain(&format!("--address {error}"));
            return Exit::INVALID_CONFIG;
        }
    };
    let client = Client::new(address, std::env::var("PLIMSOLL_WEB_TOKEN").ok());
    match call(&client) {
        Ok(data) => {
            let text = if at.json {
                format!("{data:#}\n")
            } else {
                text(&data)
            };
            put(text.as_bytes());
            Exit::SUCCESS
        }
        Err(error) => {
            complain(&error.to_string());
            Exit::GENERIC
        }
    }
}

/// The states of the API, by number.
const STATES: [&str; 10] = [
    "created",
    "creating users",
    "users created",
    "paused before the start",
    "started",
    "setup",
    "running",
    "teardown",
    "ended",
    "interrupted",
];

/// The attributes of a status, or one line for each metric.
fn text(data: &Value) -> String {
    if let Some(metrics) = data.as_array() {
        return metrics.iter().map(metric).collect();
    }
    let attributes = data["attributes"].as_object();
    let lines = attributes.into_iter().flatten().map(|(name, value)| {
        let state = value.as_u64().filter(|_| name == "status");
        let state = state.and_then(|number| STATES.get(usize::try_from(number).ok()?));
        match state {
            Some(state) => format!("{name}: {state}\n"),
            None => format!("{name}: {value}\n"),
        }
    });
    lines.collect()
}

fn metric(metric: &Value) -> String {
    let name = metric["id"].as_str().unwrap_or_default();
    let figures = metric["attributes"]["sample"].as_object();
    let figures: Vec<String> = figures
        .into_iter()
        .flatten()
        .map(|(name, value)| match value.as_f64() {
            Some(number) => format!("{name}={}", (number * 1e3).round() / 1e3),
            None => format!("{name}={value}"),
        })
        .collect();
    format!("{name}: {}\n", figures.join(" "))
}
