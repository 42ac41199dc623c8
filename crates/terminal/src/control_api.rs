//! The REST API of a script's run: `--address`.

use std::sync::Arc;

use log::Level;
use plimsoll_live::{API_PORT, Api, SetupData, WebAddress};
use plimsoll_plan::{Executor, Plan};
use plimsoll_run::{PreparedScript, Refusal};
use serde_json::Value;

use crate::log::Log;
use crate::messages::print_stderr;

/// Serves the API if an address is given, or if the run needs it.
///
/// # Errors
/// If the address is invalid or in use.
pub fn open(given: Option<&str>, plan: &Plan, log: &Log) -> Result<Option<Api>, Refusal> {
    let is_paused = plan.options.paused == Some(true);
    let is_controlled = (plan.scenarios.iter())
        .any(|one| matches!(one.executor, Executor::ExternallyControlled { .. }));
    let given = given.filter(|text| !text.is_empty());
    if given.is_none() && !is_paused && !is_controlled {
        return Ok(None);
    }
    let address = WebAddress::parse_with(given.unwrap_or_default(), API_PORT)
        .map_err(|error| Refusal::config(format!("--address {error}")))?
        .with_token(std::env::var("PLIMSOLL_WEB_TOKEN").ok());
    let api = Api::open(&address, "--address");
    // As in k6: another run may use the default address, which the user did not request.
    if let (Err(message), None, false) = (&api, given, is_paused) {
        log.warn(message);
        return Ok(None);
    }
    let api = api.map_err(Refusal::api)?;
    if is_paused {
        log.line(
            Level::Info,
            "the run is paused; plimsoll resume starts it",
            &[("address", api.address().to_string().as_str())],
        );
    }
    // `print_message` would mask the token. Users of k6 do not expect this line for the default address.
    if given.is_some() || is_paused {
        print_stderr(&format!("control API: {}\n", api.url()));
    }
    Ok(Some(api))
}

/// The data that the `setup` of a script returned.
pub struct SetupOf(pub Arc<PreparedScript>);

impl SetupData for SetupOf {
    fn get(&self) -> Option<Value> {
        self.0.program.setup_data()
    }

    fn set(&self, json: Option<String>) {
        self.0.program.set_setup_data(json);
    }
}
