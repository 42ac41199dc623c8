//! Lists the agents that are connected to a server.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::access::Access;
use crate::bus::{Bus, Delivery};
use crate::messages::{COMMANDS_TO_ALL, Command, REPORTS_OF_ALL, encode};
use crate::peer::Found;

/// How long agents may take to respond.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A connected agent.
#[derive(Serialize)]
struct AgentStatus {
    name: String,
    version: String,
    region: Option<String>,
    /// The run in which it takes part.
    run: Option<String>,
}

/// Lists the agents that respond within a second, sorted by name, as text or JSON.
///
/// # Errors
/// If the server cannot be reached.
pub fn status(server: &Access, is_json: bool) -> Result<String, String> {
    let agents = agents(server)?;
    if is_json {
        return Ok(format!("{}\n", json!({ "agents": agents })));
    }
    let mut text = format!("{} agents\n", agents.len());
    for agent in agents {
        let region = agent.region.as_deref().unwrap_or("-");
        let state = agent.run.as_deref().map_or("free".to_owned(), |run| {
            format!("in run {}", run.get(..8).unwrap_or(run))
        });
        text.push_str(&format!(
            "{}\t{region}\t{}\t{state}\n",
            agent.name, agent.version
        ));
    }
    Ok(text)
}

fn agents(server: &Access) -> Result<Vec<AgentStatus>, String> {
    let (send, inputs) = channel();
    let bus = Bus::connect(server, vec![REPORTS_OF_ALL.to_owned()], move |delivery| {
        // If this fails, the caller no longer waits.
        let _ = send.send(delivery);
    })
    .map_err(|error| format!("could not connect to the NATS server: {error}"))?;
    bus.send(COMMANDS_TO_ALL, encode(&Command::Find));
    let started = plimsoll_clock::now();
    let mut found = BTreeMap::new();
    loop {
        let left = RESPONSE_TIMEOUT.saturating_sub(plimsoll_clock::now().since(started));
        match inputs.recv_timeout(left) {
            Ok(Delivery::Message { subject, bytes }) => {
                if let Some(agent) = Found::of(&subject, &bytes) {
                    let status = AgentStatus {
                        name: agent.name,
                        version: agent.version,
                        region: agent.region,
                        run: agent.run,
                    };
                    found.insert((status.name.clone(), agent.id), status);
                }
            }
            Ok(Delivery::Unsent(error)) => return Err(error),
            Err(_) => return Ok(found.into_values().collect()),
        }
    }
}
