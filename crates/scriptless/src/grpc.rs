//! Virtual users that make one gRPC call per iteration.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_engine::{
    AbortReason, Ending, InitError, Iteration, ScenarioContext, Tally, UserFactory, UserId,
    VirtualUser, Worker,
};
use plimsoll_grpc::{
    Channel, Compression, Described, Endpoint, Framed, Limits, Metadata, Method, Status, Template,
};
use plimsoll_net::{Network, NetworkSettings};
use plimsoll_samples::{BaseTags, GRPC_STATUS, HttpFacts, Recorder, TagMap, builtin, counted_at};
use plimsoll_units::Moment;

use crate::ahead;
use crate::facts::{self, UnansweredRequest};
use crate::generated::{Facts, Generated, Random};
use crate::grpc_outcome::{Messages, Outcome};
use crate::grpc_stream::{Streaming, StreamingCall};

/// The call that every user repeats.
#[derive(Clone, Debug)]
pub struct CallSpec {
    pub endpoint: Endpoint,
    pub network: NetworkSettings,
    pub metadata: Metadata,
    pub user_agent: String,
    /// The limit from the start of the call to its status.
    pub timeout: Option<Duration>,
    pub compression: Compression,
    pub limits: Limits,
    pub connections: Connections,
    /// Open the connections before the run starts, unless each call opens its own.
    pub connects_before_start: bool,
    pub streaming: Streaming,
}

/// How connections are assigned to users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// Each user has its own connection.
    PerUser,
    /// All users share this number of connections, which is distributed over the workers. There are never more workers
    /// than connections.
    Shared { connections: u32, workers: u32 },
    /// Each call opens and closes its own connection.
    Fresh,
}

/// Creates users that repeat one call.
#[derive(Debug)]
pub struct GrpcUsers {
    spec: CallSpec,
    method: Method,
    data: Vec<Payload>,
}

/// A message to send.
#[derive(Clone, Debug)]
enum Payload {
    Constant(Framed),
    Generated(Generated),
}

/// State shared by the users of one worker.
struct Shared {
    network: Rc<Network>,
    template: Template,
    kind: Kind,
    spec: CallSpec,
    data: Vec<Payload>,
    input: Described,
    /// `host:port/package.Service/Method`, for tags.
    name: String,
    channels: Vec<Rc<Channel>>,
    next_channel: Cell<usize>,
    /// Channels to open before the run starts.
    to_open: RefCell<Vec<Rc<Channel>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unary,
    /// The server streams messages.
    Server,
    /// The client streams messages, or both sides do.
    Client,
}

thread_local! {
    /// A thread belongs to the same worker for its whole life.
    static SHARED: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

impl GrpcUsers {
    /// Users that call `method` with `data`: messages as JSON, optionally with `{{…}}` placeholders. The calls use the
    /// messages in turn, or send one after another if the client streams.
    ///
    /// # Errors
    /// Why the data or the headers of the call are invalid.
    pub fn new(spec: CallSpec, method: Method, data: &[String]) -> Result<GrpcUsers, String> {
        let input = method.input();
        let mut payloads = Vec::with_capacity(data.len());
        for text in data {
            let generated = Generated::parse(text, &method.path())?;
            let mut random = Random::new(1);
            let mut facts = Facts {
                number: 0,
                user: 1,
                random: &mut random,
            };
            let mut json = String::new();
            generated.write(&mut json, &mut facts);
            let framed = frame(&input, &json, &spec)?;
            payloads.push(if generated.is_constant() {
                Payload::Constant(framed)
            } else {
                Payload::Generated(generated)
            });
        }
        if payloads.is_empty() {
            return Err("there is no message to send".to_owned());
        }
        let users = GrpcUsers {
            spec,
            method,
            data: payloads,
        };
        users.template()?;
        Ok(users)
    }

    fn template(&self) -> Result<Template, String> {
        Template::new(
            &self.spec.endpoint,
            &self.method.path(),
            &self.spec.metadata,
            &self.spec.user_agent,
            self.spec.timeout,
            self.spec.compression,
        )
    }

    fn shared(&self, worker: usize) -> Result<Rc<Shared>, InitError> {
        SHARED.with_borrow_mut(|slot| {
            if let Some(shared) = slot {
                return Ok(Rc::clone(shared));
            }
            let template = self
                .template()
                .map_err(|error| InitError(AbortReason::Machine(error)))?;
            let mut shared = Shared {
                network: Rc::new(Network::new(self.spec.network.clone())),
                template,
                kind: match (self.method.client_streams(), self.method.server_streams()) {
                    (false, false) => Kind::Unary,
                    (false, true) => Kind::Server,
                    (true, _) => Kind::Client,
                },
                spec: self.spec.clone(),
                data: self.data.clone(),
                input: self.method.input(),
                name: format!("{}{}", self.spec.endpoint.authority, self.method.path()),
                channels: Vec::new(),
                next_channel: Cell::new(0),
                to_open: RefCell::default(),
            };
            if let Connections::Shared {
                connections,
                workers,
            } = self.spec.connections
            {
                let workers = workers.max(1);
                let more = (worker as u32) < connections % workers;
                let mine = (connections / workers + u32::from(more)).max(1);
                shared.channels = (0..mine).map(|_| shared.channel(1)).collect();
                if shared.spec.connects_before_start {
                    shared.to_open = RefCell::new(shared.channels.clone());
                }
            }
            let shared = Rc::new(shared);
            *slot = Some(Rc::clone(&shared));
            Ok(shared)
        })
    }
}

fn frame(input: &Described, json: &str, spec: &CallSpec) -> Result<Framed, String> {
    let message = input
        .encode(json)
        .map_err(|error| format!("the data is not a {}: {error}", input.name()))?;
    Framed::new(&message, spec.compression, spec.limits.max_send).map_err(|status| status.message)
}

impl Shared {
    fn channel(&self, user: u64) -> Rc<Channel> {
        Rc::new(Channel::new(
            self.spec.endpoint.clone(),
            Rc::clone(&self.network),
            self.network.local_ip(user),
            Rc::default(),
            self.spec.limits,
        ))
    }
}

impl UserFactory for GrpcUsers {
    type User = GrpcUser;

    async fn create(&self, id: UserId, worker: &Worker) -> Result<GrpcUser, InitError> {
        let shared = self.shared(worker.index)?;
        let number = shared.next_channel.get();
        shared.next_channel.set(number.wrapping_add(1));
        let channel = match number.checked_rem(shared.channels.len()) {
            Some(place) => Rc::clone(&shared.channels[place]),
            None => {
                let own = shared.channel(u64::from(id.0));
                if shared.spec.connects_before_start
                    && shared.spec.connections == Connections::PerUser
                {
                    shared.to_open.borrow_mut().push(Rc::clone(&own));
                }
                own
            }
        };
        Ok(GrpcUser {
            channel,
            shared,
            id: u64::from(id.0),
            random: Random::new(u64::from(id.0)),
            json: String::new(),
            recorder: Rc::clone(&worker.recorder),
            tags: worker.recorder.base_tags(&TagMap::new()),
            tally: Tally::default(),
        })
    }

    async fn ready(&self, worker: &Worker) {
        let Some(shared) = SHARED.with_borrow(Clone::clone) else {
            return;
        };
        let tags = worker.recorder.base_tags(&TagMap::new());
        let opening = shared.to_open.take().into_iter().map(|channel| {
            let (recorder, tags) = (Rc::clone(&worker.recorder), tags.clone());
            async move {
                // If this fails, the first call opens a connection and records the error.
                let started = plimsoll_clock::now();
                if let Ok(opening) = channel.connect().await {
                    channel.take_one_opened();
                    facts::record_opened_ahead(&recorder, &tags, opening.total(), started);
                }
            }
        });
        ahead::all(opening).await;
    }
}

/// A user that makes one call per iteration.
pub struct GrpcUser {
    channel: Rc<Channel>,
    shared: Rc<Shared>,
    id: u64,
    random: Random,
    json: String,
    recorder: Rc<Recorder>,
    tags: BaseTags,
    tally: Tally,
}

impl VirtualUser for GrpcUser {
    fn activate(&mut self, scenario: &Rc<ScenarioContext>) {
        self.tags = scenario.tags.clone();
        self.tally = Tally::of(scenario);
    }

    async fn iterate(&mut self, iteration: &Iteration) -> Ending {
        let called = {
            // Pinned here because it is large and would be copied if it were moved.
            let calling = pin!(async {
                if self.shared.kind == Kind::Unary {
                    self.unary(iteration).await
                } else {
                    self.streaming(iteration).await
                }
            });
            iteration.stop.race(calling).await
        };
        let Ok(outcome) = called else {
            // The call has no result, but its connection was opened and its bytes were on the network.
            let counted = counted_at(iteration.scheduled, iteration.started);
            self.recorder
                .connections_opened(self.channel.take_opened(), counted);
            self.record_traffic(counted, plimsoll_clock::now());
            // A stream may last longer than the run.
            if self.shared.kind == Kind::Unary {
                let request = UnansweredRequest {
                    method: "POST",
                    url: &self.shared.name,
                    // DeadlineExceeded.
                    status: GRPC_STATUS + 4,
                };
                facts::record_unanswered(&self.recorder, &self.tags, &request, iteration);
            }
            return Ending::Interrupted;
        };
        if self.shared.spec.connections == Connections::Fresh {
            self.channel.close();
        }
        self.record(&outcome, iteration);
        Ending::Completed
    }
}

impl GrpcUser {
    fn message(&mut self, number: u64) -> Result<Framed, Status> {
        let shared = Rc::clone(&self.shared);
        let place = usize::try_from(number).unwrap_or_default() % shared.data.len();
        match &shared.data[place] {
            Payload::Constant(framed) => Ok(framed.clone()),
            Payload::Generated(generated) => {
                self.json.clear();
                let mut facts = Facts {
                    number,
                    user: self.id,
                    random: &mut self.random,
                };
                generated.write(&mut self.json, &mut facts);
                frame(&shared.input, &self.json, &shared.spec)
                    .map_err(|error| Status::new(plimsoll_grpc::Code::INVALID_ARGUMENT, error))
            }
        }
    }

    async fn unary(&mut self, iteration: &Iteration) -> Outcome {
        let message = match self.message(iteration.in_test) {
            Ok(message) => message,
            Err(status) => return Outcome::unsent(status, iteration.started),
        };
        let reply = self
            .channel
            .unary(&self.shared.template, &message, iteration.started)
            .await;
        Outcome {
            has_response: reply.has_response(),
            status: reply.status,
            timeline: reply.timeline,
            opened: reply.opened,
            resent: reply.resent,
            tls: reply.tls,
            sent: Messages::default().and(message.message_length()),
            received: match &reply.message {
                Some(message) => Messages::default().and(message.len()),
                None => Messages::default(),
            },
        }
    }

    async fn streaming(&mut self, iteration: &Iteration) -> Outcome {
        let channel = Rc::clone(&self.channel);
        let shared = Rc::clone(&self.shared);
        let call = StreamingCall {
            channel: &channel,
            template: &shared.template,
            limits: shared.spec.streaming,
            started: iteration.started,
            is_server_only: shared.kind == Kind::Server,
            data: shared.data.len() as u64,
        };
        let first = iteration.in_test;
        call.make(|number| self.message(first.wrapping_add(number)))
            .await
    }

    fn record_traffic(&self, counted: Moment, done: Moment) {
        let traffic = self.channel.traffic();
        self.recorder
            .traffic(traffic.sent, traffic.received, &self.tags, counted, done);
    }

    fn record(&mut self, outcome: &Outcome, iteration: &Iteration) {
        let phases = facts::phases(&outcome.timeline);
        let (started, done) = (outcome.timeline.started(), outcome.timeline.done());
        let ok = outcome.status.code.is_ok();
        let error = if ok {
            String::new()
        } else {
            format!("{}: {}", outcome.status.code, outcome.status.message)
        };
        let number = u16::try_from(outcome.status.code.0).unwrap_or(u16::MAX - GRPC_STATUS);
        let payload = ok.then_some((outcome.sent.bytes, outcome.received.bytes));
        let counted = counted_at(iteration.scheduled, started);
        self.tally.call(payload);
        self.tally.iteration(started, done);
        // A call is recorded as an HTTP exchange, because it has the same phases and results.
        self.recorder.http(
            &HttpFacts {
                phases,
                scheduled: iteration.scheduled,
                started,
                done,
                method: "POST",
                url: &self.shared.name,
                status: GRPC_STATUS + number.min(u16::MAX - GRPC_STATUS),
                proto: if outcome.has_response { "gRPC" } else { "" },
                tls_version: outcome.tls.map_or("", |tls| tls.version),
                tls_cipher_suite: outcome.tls.map_or("", |tls| tls.cipher_suite),
                // An interrupted call on the same connection may have counted it already.
                opened: outcome.opened && self.channel.take_one_opened(),
                resent: outcome.resent,
                error: &error,
                exhausted: outcome.status.is_exhausted,
                error_code: if ok { 0 } else { outcome.status.code.0 },
                expected: Some(ok),
                ..HttpFacts::default()
            },
            &self.tags,
        );
        if outcome.opened {
            let opening = phases.looking_up + phases.connecting + phases.tls;
            facts::record_opening(&self.recorder, &self.tags, opening, counted);
        }
        let add = |metric, value: f64| {
            // This cannot fail, because the metrics are built in and the values are numbers.
            let _ = self
                .recorder
                .add_started(metric, value, &self.tags, &[], counted, done);
        };
        if self.shared.kind != Kind::Unary {
            add(builtin::GRPC_STREAMS, 1.0);
            add(builtin::GRPC_STREAMS_MSGS_SENT, outcome.sent.count as f64);
            add(
                builtin::GRPC_STREAMS_MSGS_RECEIVED,
                outcome.received.count as f64,
            );
        }
        self.record_traffic(counted, done);
        self.recorder.iteration(
            done.since(iteration.started),
            iteration.scheduled,
            &self.tags,
            done,
        );
    }
}
