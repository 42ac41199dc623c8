//! Virtual users without a script. Each iteration sends a request that was encoded in advance, sends a request to the
//! next target of a list, or makes a gRPC call.

mod ahead;
mod aim;
mod attack;
pub mod attack_values;
pub mod call_values;
mod facts;
mod generated;
mod grpc;
mod grpc_outcome;
mod grpc_stream;
mod list;
mod outlet;
mod reflect;
mod target;

pub use self::grpc::{CallSpec, Connections, GrpcUser, GrpcUsers};
pub use self::grpc_stream::Streaming;
pub use aim::{Aim, Stream};
pub use attack::{AttackSettings, AttackUsers};
pub use facts::GRACEFUL_STOP;
pub use generated::{Facts, Generated, Random};
pub use list::{Format, List, ReadBody};
pub use outlet::{ResultReceiver, ResultSender, outlet};
pub use reflect::reflect;
pub use target::{Defaults, ListError, Target};

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{
    AbortReason, Ending, InitError, Iteration, ScenarioContext, Tally, UserFactory, UserId,
    VirtualUser, Worker,
};
use plimsoll_http::{Client, Fields, Method, Prepared, Request, Settings, Shared, Url};
use plimsoll_samples::{BaseTags, Recorder, TagMap, counted_at};

use crate::facts::{UnansweredRequest, record};

/// The request that every user repeats.
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// The method, sent as it is.
    pub method: String,
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// Names and values, in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// Bodies that the requests use in turn, unchanged. If there are none, the body is empty.
    pub bodies: Vec<bytes::Bytes>,
    /// The limit from the start to the last byte of the response.
    pub timeout: Duration,
}

impl RequestSpec {
    /// Encodes the request with each of its bodies. The result has at least one item.
    ///
    /// # Errors
    /// Why the method, the URL or a header is invalid.
    pub fn prepare(&self, settings: &Settings) -> Result<Rc<[Prepared]>, String> {
        let method = Method::parse(&self.method)
            .ok_or_else(|| format!("\"{}\" is not an HTTP method", self.method))?;
        let url =
            Url::parse(&self.url).map_err(|error| invalid_url(&self.url, &error.to_string()))?;
        check_url(&self.url, &url)?;
        let mut headers = Fields::new();
        for (name, value) in &self.headers {
            headers
                .append(name, value)
                .map_err(|error| format!("header {name}: {error}"))?;
        }
        let mut request = Request::new(method, Rc::new(url));
        request.headers = headers;
        request.timeout = self.timeout;
        let none = [bytes::Bytes::new()];
        let bodies = match &*self.bodies {
            [] => &none,
            bodies => bodies,
        };
        bodies
            .iter()
            .map(|body| {
                request.body = body.clone();
                Prepared::new(&request, settings).map_err(|error| error.message)
            })
            .collect()
    }
}

/// Why a URL cannot be used, in words for a person. k6's words are those of scripts.
fn check_url(text: &str, url: &Url) -> Result<(), String> {
    let Err(unusable) = url.check_usable() else {
        return Ok(());
    };
    let scheme = url.scheme();
    Err(match scheme {
        "http" | "https" if url.host().is_empty() => invalid_url(text, "it has no host"),
        "http" | "https" if unusable.message.ends_with("invalid port") => {
            invalid_url(text, "a port is a number from 0 to 65535")
        }
        "http" | "https" => invalid_url(text, &unusable.message),
        "" => invalid_url(text, "it has no host"),
        _ => invalid_url(text, &format!("{scheme} is not http or https")),
    })
}

fn invalid_url(text: &str, why: &str) -> String {
    format!("the URL {text:?} cannot be used: {why}. Write it like http://127.0.0.1:8080/")
}

/// Creates users that send one request.
#[derive(Debug)]
pub struct HttpUsers {
    spec: RequestSpec,
    settings: Arc<Settings>,
    /// The number of users that share a connection.
    streams: u32,
    /// Opens connections before the run starts.
    connects_before_start: bool,
}

thread_local! {
    /// State shared by the users of this thread's worker. A thread belongs to the same worker for its whole life.
    static SHARED: RefCell<Option<Common>> = const { RefCell::new(None) };
}

struct Common {
    shared: Rc<Shared>,
    prepared: Rc<[Prepared]>,
    /// The client that was created last, and how many more users may share it.
    client: Option<(Rc<Client>, u32)>,
    /// Clients whose connections must be opened before the run starts.
    to_open: Vec<Rc<Client>>,
}

impl HttpUsers {
    /// Users that send `spec` with `settings`.
    ///
    /// # Errors
    /// Why the request is invalid.
    pub fn new(spec: RequestSpec, settings: Arc<Settings>) -> Result<Self, String> {
        spec.prepare(&settings)?;
        Ok(HttpUsers {
            spec,
            settings,
            streams: 1,
            connects_before_start: false,
        })
    }

    /// Opens each connection before the run starts instead of with its first request.
    pub fn opening_ahead(mut self, connects_before_start: bool) -> Self {
        self.connects_before_start = connects_before_start && !self.settings.no_connection_reuse;
        self
    }

    /// Makes this many users share one connection, each with its own stream. The settings must allow that many streams
    /// per connection, and only one connection.
    pub fn sharing(mut self, streams: u32) -> Self {
        self.streams = streams.max(1);
        self
    }

    fn client(&self, id: UserId) -> Result<(Rc<Client>, Rc<[Prepared]>), InitError> {
        SHARED.with_borrow_mut(|slot| {
            let common = match slot {
                Some(common) => common,
                None => {
                    let prepared = self
                        .spec
                        .prepare(&self.settings)
                        .map_err(|error| InitError(AbortReason::Machine(error)))?;
                    slot.insert(Common {
                        shared: Shared::new(Arc::clone(&self.settings)),
                        prepared,
                        client: None,
                        to_open: Vec::new(),
                    })
                }
            };
            let (client, left) = match common.client.take() {
                Some((client, left)) if left > 0 => (client, left),
                _ => {
                    let client = Client::new(Rc::clone(&common.shared), u64::from(id.0));
                    let client = Rc::new(client);
                    if self.connects_before_start {
                        common.to_open.push(Rc::clone(&client));
                    }
                    (client, self.streams)
                }
            };
            common.client = Some((Rc::clone(&client), left - 1));
            Ok((client, Rc::clone(&common.prepared)))
        })
    }
}

impl UserFactory for HttpUsers {
    type User = HttpUser;

    fn together(&self) -> u32 {
        self.streams
    }

    async fn create(&self, id: UserId, worker: &Worker) -> Result<HttpUser, InitError> {
        let (client, prepared) = self.client(id)?;
        Ok(HttpUser {
            client,
            prepared,
            recorder: Rc::clone(&worker.recorder),
            tags: worker.recorder.base_tags(&TagMap::new()),
            tally: Tally::default(),
        })
    }

    async fn ready(&self, worker: &Worker) {
        let open = SHARED.with_borrow_mut(|slot| {
            let common = slot.as_mut()?;
            let clients = std::mem::take(&mut common.to_open);
            Some((clients, Rc::clone(&common.prepared)))
        });
        let Some((clients, prepared)) = open else {
            return;
        };
        let tags = worker.recorder.base_tags(&TagMap::new());
        let opening = clients.into_iter().map(|client| {
            let (recorder, tags) = (Rc::clone(&worker.recorder), tags.clone());
            let prepared = Rc::clone(&prepared);
            async move {
                let started = plimsoll_clock::now();
                // If this fails, the first request opens a connection and records the error.
                if let Some(first) = prepared.first()
                    && client.connect_ahead(first).await.is_ok()
                {
                    let took = plimsoll_clock::now().since(started);
                    facts::record_opened_ahead(&recorder, &tags, took, started);
                }
            }
        });
        ahead::all(opening).await;
    }
}

/// A user that sends one request per iteration.
pub struct HttpUser {
    client: Rc<Client>,
    /// The request with each of its bodies; at least one.
    prepared: Rc<[Prepared]>,
    recorder: Rc<Recorder>,
    tags: BaseTags,
    tally: Tally,
}

impl VirtualUser for HttpUser {
    fn activate(&mut self, scenario: &Rc<ScenarioContext>) {
        self.tags = scenario.tags.clone();
        self.tally = Tally::of(scenario);
    }

    async fn iterate(&mut self, iteration: &Iteration) -> Ending {
        let place = iteration.in_test % (self.prepared.len() as u64).max(1);
        let Some(prepared) = self.prepared.get(place as usize) else {
            return Ending::Interrupted;
        };
        let sent = {
            // Pinned here because it is large and would be copied if it were moved.
            let sending = pin!(self.client.send_prepared(prepared, iteration.started));
            iteration.stop.race(sending).await
        };
        let traffic = self.client.traffic();
        let Ok(mut exchange) = sent else {
            // The request has no result, but its connection was opened and its bytes were on the network.
            let counted = counted_at(iteration.scheduled, iteration.started);
            self.recorder
                .connections_opened(self.client.take_opened(), counted);
            self.recorder.traffic(
                traffic.sent,
                traffic.received,
                &self.tags,
                counted,
                plimsoll_clock::now(),
            );
            let request = UnansweredRequest {
                method: prepared.method().as_str(),
                url: prepared.url().as_str(),
                status: 0,
            };
            facts::record_unanswered(&self.recorder, &self.tags, &request, iteration);
            return Ending::Interrupted;
        };
        let has_opened = exchange.opened;
        // An interrupted request on the same connection may have counted it already.
        exchange.opened = has_opened && self.client.take_one_opened();
        record(
            &self.recorder,
            &self.tags,
            &exchange,
            None,
            None,
            iteration,
            traffic,
        );
        if has_opened {
            let phases = facts::phases(&exchange.timeline);
            let took = phases.looking_up + phases.connecting + phases.tls;
            let started = counted_at(iteration.scheduled, exchange.timeline.started());
            facts::record_opening(&self.recorder, &self.tags, took, started);
        }
        let done = exchange.timeline.done();
        let is_good = exchange.error.is_none() && (200..400).contains(&exchange.status);
        let payload = is_good.then_some((exchange.body_sent, exchange.body_received));
        self.tally.call(payload);
        self.tally.iteration(exchange.timeline.started(), done);
        self.recorder.iteration(
            done.since(iteration.started),
            iteration.scheduled,
            &self.tags,
            done,
        );
        Ending::Completed
    }
}

/// Fetches a URL and follows redirects. For files that a run needs but does not measure.
///
/// # Errors
/// Why there is no response with a 2xx status.
pub fn fetch(address: &str, authorities: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    // This runs on its own thread, because the caller may already be in an event loop, and event loops cannot be
    // nested.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| fetch_here(address, authorities));
        let lost = |_| {
            Err(format!(
                "fetching {address} ended by a fault; please report this"
            ))
        };
        thread.join().unwrap_or_else(lost)
    })
}

fn fetch_here(address: &str, authorities: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    let runtime = event_loop()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut settings = Settings {
            user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
            ..Settings::default()
        };
        settings.network.tls.extra_roots = authorities.to_vec();
        let client = Client::new(Shared::new(Arc::new(settings)), 1);
        let request = Request::new(Method::Get, Rc::new(url));
        match client.send(&request, None, &mut |_| {}).await {
            Ok(response) if (200..300).contains(&response.status) => Ok(response.body.to_vec()),
            Ok(response) => Err(format!(
                "{address} responded with status {}",
                response.status
            )),
            Err(failure) => Err(format!("{address}: {}", failure.error.detail())),
        }
    })
}

fn event_loop() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start an event loop: {error}"))
}
