//! k6's REST API: reads the state, metrics and checks of a run, and controls the run.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_engine::Step;
use plimsoll_run::{Control, Event, Listener, Phase};
use serde_json::{Value, json};

use crate::api_documents as documents;
use crate::request::Request;
use crate::response::Response;
use crate::server::{self, RequestsInProgress};
use crate::snapshots::Snapshots;
use crate::web_address::WebAddress;

/// The API of a run, at its own address.
///
/// When it is dropped, it waits until requests in progress have their responses. So the request that stops a run gets
/// its response, although the process exits right after the run.
pub struct Api {
    shared: Arc<Shared>,
    in_progress: Arc<RequestsInProgress>,
    address: SocketAddr,
    url: String,
}

/// The result of `setup`, for the users and `teardown`.
pub trait SetupData: Send + Sync + 'static {
    /// The data. `None` if setup did not run or returned nothing.
    fn get(&self) -> Option<Value>;
    /// Replaces the data with this JSON, or removes it.
    fn set(&self, json: Option<String>);
}

struct Shared {
    run: OnceLock<(Control, Box<dyn SetupData>)>,
    phase: AtomicU8,
    snapshots: Snapshots,
}

/// The states of a run in k6's API, found by observing k6.
mod status {
    pub const CREATING_USERS: u8 = 2;
    pub const PAUSED_BEFORE_RUN: u8 = 4;
    pub const SETUP: u8 = 6;
    pub const RUNNING: u8 = 7;
    pub const TEARDOWN: u8 = 8;
    pub const ENDED: u8 = 9;
}

impl Api {
    /// Serves the API until the process exits. `flag` is the flag that requested it, for messages.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub fn open(address: &WebAddress, flag: &str) -> Result<Api, String> {
        let (listener, token) = address.listen(flag)?;
        let bound = listener
            .local_addr()
            .map_err(|error| format!("{flag}: {error}"))?;
        let query = token
            .as_ref()
            .map(|token| format!("?token={}", token.text()));
        let url = format!("http://{bound}/v1/status{}", query.unwrap_or_default());
        let shared = Arc::new(Shared {
            run: OnceLock::new(),
            phase: AtomicU8::new(status::CREATING_USERS),
            snapshots: Snapshots::default(),
        });
        let served = Arc::clone(&shared);
        let in_progress = server::start(
            "control",
            listener,
            token,
            Arc::new(move |request: &Request| served.respond(request)),
        )?;
        Ok(Api {
            shared,
            in_progress,
            address: bound,
            url,
        })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the run's status, with the token if it requires one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The listener that computes the figures of the run when a request needs them.
    pub fn listener(&self) -> Box<dyn Listener> {
        Box::new(Follower(Arc::clone(&self.shared)))
    }

    /// Sets the run to control. Requests wait for this. Only the first call has an effect.
    pub fn attach(&self, control: Control, setup_data: impl SetupData) {
        let _ = self.shared.run.set((control, Box::new(setup_data)));
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.in_progress.wait();
    }
}

/// Computes the figures of the run on the supervisor's thread when a request waits for them.
struct Follower(Arc<Shared>);

impl Listener for Follower {
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn event(&mut self, event: Event<'_>) {
        let shared = &self.0;
        let phase = match event {
            Event::Progress(progress) => match progress.phase() {
                Phase::Init => status::CREATING_USERS,
                Phase::SetUp => status::SETUP,
                Phase::Running => status::RUNNING,
                Phase::TearDown => status::TEARDOWN,
            },
            Event::Done(_) => status::ENDED,
            _ => return,
        };
        // Set the state first, because a request reads it after it has received figures.
        shared.phase.store(phase, Ordering::Relaxed);
        shared.snapshots.event(event);
    }
}

/// How long a request waits for the run to start.
const START_TIMEOUT: Duration = Duration::from_secs(5);
const BAD_REQUEST: &str = "400 Bad Request";
const FAILED: &str = "500 Internal Server Error";
const PATHS: &str = "use /v1/status, /v1/metrics, /v1/groups, /v1/setup or /v1/teardown";
const METHODS: &str =
    "use GET; PATCH for /v1/status; POST or PUT for /v1/setup; POST for /v1/teardown";

impl Shared {
    fn respond(&self, request: &Request) -> Response {
        let Some((control, setup_data)) = self.started() else {
            return error("503 Service Unavailable", "the run has not started yet");
        };
        let path = request.path.trim_end_matches('/');
        let mut parts = path.trim_start_matches('/').split('/');
        let (version, kind, id) = (parts.next(), parts.next(), parts.next());
        if version != Some("v1") || parts.next().is_some() {
            return error("404 Not Found", PATHS);
        }
        match (request.method.as_str(), kind, id) {
            ("GET", Some("status"), None) => self.status(control),
            ("PATCH", Some("status"), None) => match change(control, &request.body) {
                Ok(()) => self.status(control),
                Err(message) => error(BAD_REQUEST, &message),
            },
            ("GET", Some("setup"), None) => json(&documents::setup(setup_data.get())),
            ("PUT", Some("setup"), None) => match read_json(&request.body) {
                Ok(text) => {
                    setup_data.set(text);
                    json(&documents::setup(setup_data.get()))
                }
                Err(message) => error_response(BAD_REQUEST, "Error parsing request body", &message),
            },
            ("POST", Some("setup"), None) => match control.call(Step::SetUp) {
                Ok(()) => json(&documents::setup(setup_data.get())),
                Err(message) => error_response(FAILED, "Error executing setup", &message),
            },
            ("POST", Some("teardown"), None) => match control.call(Step::TearDown) {
                Ok(()) => Response::Full {
                    status: "200 OK",
                    kind: "application/json; charset=utf-8",
                    body: Vec::new(),
                },
                Err(message) => error_response(FAILED, "Error executing teardown", &message),
            },
            ("GET", Some(kind @ ("metrics" | "groups")), id) => {
                let Some(snapshot) = self.snapshots.take() else {
                    return error("503 Service Unavailable", "the run is busy; try again");
                };
                let found = match (kind, id) {
                    ("metrics", None) => Some(documents::metrics(&snapshot.summary)),
                    ("metrics", Some(id)) => documents::metric(&snapshot.summary, id),
                    (_, None) => Some(documents::groups(&snapshot.summary)),
                    (_, Some(id)) => documents::group(&snapshot.summary, id),
                };
                match found {
                    Some(found) => json(&found),
                    None => error(
                        "404 Not Found",
                        &format!(
                            "no {} has the id \"{}\"",
                            kind.trim_end_matches('s'),
                            id.unwrap_or_default()
                        ),
                    ),
                }
            }
            (_, Some("status" | "metrics" | "groups" | "setup" | "teardown"), _) => {
                error("405 Method Not Allowed", METHODS)
            }
            _ => error("404 Not Found", PATHS),
        }
    }

    /// The run. A request that arrives early waits for it.
    fn started(&self) -> Option<&(Control, Box<dyn SetupData>)> {
        let give_up = plimsoll_clock::now() + START_TIMEOUT;
        while self.run.get().is_none() && plimsoll_clock::now() < give_up {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.run.get()
    }

    fn status(&self, control: &Control) -> Response {
        let Some(snapshot) = self.snapshots.take() else {
            return error("503 Service Unavailable", "the run is busy; try again");
        };
        let reading = control.read();
        let phase = self.phase.load(Ordering::Relaxed);
        let status = match phase {
            status::SETUP if reading.is_paused => status::PAUSED_BEFORE_RUN,
            phase => phase,
        };
        json(&json!({ "data": {
            "type": "status",
            "id": "default",
            "attributes": {
                "status": status,
                "paused": reading.is_paused,
                "vus": reading.users,
                "vus-max": reading.users_ready,
                "stopped": reading.is_stopped,
                // Whether the run is between setup and teardown.
                "running": (status::SETUP..=status::TEARDOWN).contains(&status),
                "tainted": snapshot.is_tainted,
            },
        }}))
    }
}

/// Parses a body that must be one JSON value. `None` if it is empty.
fn read_json(body: &[u8]) -> Result<Option<String>, String> {
    if body.is_empty() {
        return Ok(None);
    }
    let not_json = |error: &dyn std::fmt::Display| format!("the body is not JSON: {error}");
    let text = std::str::from_utf8(body).map_err(|error| not_json(&error))?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| not_json(&error))?;
    Ok(Some(text.to_owned()))
}

/// Applies the changes in the body of a `PATCH`.
fn change(control: &Control, body: &[u8]) -> Result<(), String> {
    let body: Value =
        serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?;
    let attributes = body
        .pointer("/data/attributes")
        .and_then(Value::as_object)
        .ok_or("the body has no data.attributes")?;
    let users = |name: &str| match attributes.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .and_then(|users| u32::try_from(users).ok())
            .map(Some)
            .ok_or_else(|| format!("{name} is not a number of users: {value}")),
    };
    let flag = |name: &str| match attributes.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_bool()
            .map(Some)
            .ok_or_else(|| format!("{name} is not true or false: {value}")),
    };
    if flag("stopped")? == Some(true) {
        control.stop_by_api();
        return Ok(());
    }
    let (wanted, most) = (users("vus")?, users("vus-max")?);
    if let (Some(most), Some(max_users)) = (most, control.max_users())
        && most != max_users
    {
        return Err(format!(
            "vus-max cannot be changed during a run; it is the scenario's maxVUs, {max_users}"
        ));
    }
    if let Some(is_paused) = flag("paused")?
        && is_paused != control.read().is_paused
    {
        control.set_paused(is_paused)?;
    }
    if let Some(wanted) = wanted {
        control.scale(wanted)?;
    }
    Ok(())
}

fn json(document: &Value) -> Response {
    Response::Full {
        status: "200 OK",
        kind: "application/json; charset=utf-8",
        body: document.to_string().into_bytes(),
    }
}

fn error(status: &'static str, detail: &str) -> Response {
    error_response(status, status, detail)
}

fn error_response(status: &'static str, title: &str, detail: &str) -> Response {
    let code = status.split(' ').next().unwrap_or_default();
    let document = json!({ "errors": [{ "status": code, "title": title, "detail": detail }] });
    Response::Full {
        status,
        kind: "application/json; charset=utf-8",
        body: document.to_string().into_bytes(),
    }
}
