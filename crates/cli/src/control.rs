//! `plimsoll status|stats|pause|resume|scale|stop`: control of a run in another process.

use plimsoll_live::{API_PORT, Client, ClientError, WebAddress, status_text};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::complain;
use serde_json::{Map, Value, json};

use crate::args::{ApiArgs, ScaleArgs};

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
    let text = call(&client).map(|data| match at.json {
        true => format!("{data:#}\n"),
        false => status_text(&data),
    });
    Exit::of_text(text.map_err(|error| error.to_string()))
}
