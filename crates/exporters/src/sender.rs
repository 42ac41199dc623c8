//! Sends requests to a receiver over HTTP, on a thread of its own.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use plimsoll_http::{Client, Exchange, Fields, Method, Request, Settings, Shared, Url};
use plimsoll_output::output::OutputError;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

/// Requests that wait to be sent. More are refused.
const WAITING: usize = 8;
/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Pauses before a failed request is sent again. After the last one it counts as failed.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// How long the end of a run waits for requests that are not sent yet; one that has begun may take [`TIMEOUT`] more.
const END: Duration = Duration::from_secs(10);

/// Where requests go.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The URL, without user and password.
    pub url: String,
    /// Header fields of each request.
    pub headers: Vec<(String, String)>,
    /// Accept any certificate.
    pub insecure: bool,
}

impl Endpoint {
    /// An endpoint without additional header fields.
    ///
    /// # Errors
    /// When `url` is not an HTTP URL.
    pub fn new(url: &str) -> Result<Endpoint, String> {
        let parsed = Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
        parsed
            .check_usable()
            .map_err(|error| format!("{url}: {}", error.message))?;
        let mut endpoint = Endpoint {
            url: parsed.without_userinfo().into_owned(),
            headers: Vec::new(),
            insecure: false,
        };
        if let Some(user) = parsed.userinfo() {
            endpoint.log_in(&user.name, user.password.as_deref().unwrap_or_default());
        }
        Ok(endpoint)
    }

    /// Adds HTTP basic authentication (RFC 7617).
    pub fn log_in(&mut self, user: &str, password: &str) {
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        self.add("Authorization", &format!("Basic {credentials}"));
    }

    /// Adds a header field.
    pub fn add(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// The URL as shown: without its query, which may hold secrets.
    pub fn shown(&self) -> &str {
        self.url
            .split_once('?')
            .map_or(&self.url, |(shown, _)| shown)
    }

    /// A warning if nothing accepts connections there.
    pub fn warning(&self, patience: Duration) -> Option<String> {
        let error = self.connect(patience).err()?;
        Some(format!(
            "output {}: cannot connect: {error}; the run continues, and samples are sent as soon as that works",
            self.shown()
        ))
    }

    fn connect(&self, patience: Duration) -> io::Result<()> {
        let url = Url::parse(&self.url).map_err(|error| io::Error::other(error.to_string()))?;
        let mut last = io::Error::other(format!("{} has no address", url.host()));
        for address in (url.host(), url.port()).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(_) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// A request that waits to be sent.
pub struct Push {
    /// The body.
    pub body: Vec<u8>,
    /// How many samples it has; none for cumulative values.
    pub samples: u64,
}

/// Counts of requests.
#[derive(Debug, Default)]
pub struct Account {
    /// Requests that the receiver accepted.
    pub accepted: AtomicU64,
    /// Requests that failed, each after all its attempts.
    pub failed: AtomicU64,
    /// Samples that were not delivered.
    pub lost: AtomicU64,
    /// Whether the last request failed.
    pub last_failed: AtomicBool,
    /// Why a request failed: the latest reason.
    reason: Mutex<String>,
}

impl Account {
    fn fail(&self, push: &Push, reason: String) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.lost.fetch_add(push.samples, Ordering::Relaxed);
        self.last_failed.store(true, Ordering::Relaxed);
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// The latest reason for a failure.
    pub fn reason(&self) -> String {
        let reason = self.reason.lock();
        reason.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Requests on their way to a receiver.
pub struct Sender {
    queue: Option<SyncSender<Push>>,
    thread: Option<JoinHandle<()>>,
    account: Arc<Account>,
    /// When to give up; set at the end of the run.
    end: Arc<OnceLock<Instant>>,
}

impl Sender {
    /// Starts the thread. `first` is sent before everything else, to its own endpoint; if it fails, that is not counted.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn start(endpoint: Endpoint, first: Option<Endpoint>) -> Result<Sender, String> {
        let (queue, waiting) = sync_channel(WAITING);
        let account = Arc::new(Account::default());
        let end = Arc::new(OnceLock::new());
        let (counted, ending) = (Arc::clone(&account), Arc::clone(&end));
        let thread = std::thread::Builder::new()
            .name("exporter".to_owned())
            .spawn(move || send_all(&endpoint, first.as_ref(), &waiting, &counted, &ending))
            .map_err(|error| format!("could not start a thread for an output: {error}"))?;
        Ok(Sender {
            queue: Some(queue),
            thread: Some(thread),
            account,
            end,
        })
    }

    /// Counts of requests so far.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Takes a request, without waiting; returns it if too many are waiting already.
    pub fn offer(&self, push: Push) -> Result<(), Push> {
        let Some(queue) = &self.queue else {
            return Err(push);
        };
        queue.try_send(push).map_err(|refused| match refused {
            TrySendError::Full(push) | TrySendError::Disconnected(push) => push,
        })
    }

    /// Sends what is left, and waits for it for a limited time.
    pub fn finish(&mut self, last: impl IntoIterator<Item = Push>) {
        let Some(queue) = self.queue.take() else {
            return;
        };
        let end = *self.end.get_or_init(|| Instant::now() + END);
        let mut left: VecDeque<Push> = last.into_iter().collect();
        while let Some(push) = left.pop_front() {
            match queue.try_send(push) {
                Ok(()) => {}
                Err(TrySendError::Full(push)) if Instant::now() < end => {
                    left.push_front(push);
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TrySendError::Full(push) | TrySendError::Disconnected(push)) => {
                    self.account.fail(&push, "it was too slow".to_owned());
                }
            }
        }
        drop(queue);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            let push = Push {
                body: Vec::new(),
                samples: 0,
            };
            self.account
                .fail(&push, "its thread ended by a panic".to_owned());
        }
    }
}

/// An error for the end of a run, in the words of the receiver's own output.
pub fn ended(name: &str, text: String) -> OutputError {
    OutputError {
        output: name.to_owned(),
        source: io::Error::other(text),
    }
}

fn send_all(
    endpoint: &Endpoint,
    first: Option<&Endpoint>,
    waiting: &Receiver<Push>,
    account: &Account,
    end: &OnceLock<Instant>,
) {
    let connection = match Connection::new(endpoint.insecure) {
        Ok(connection) => connection,
        Err(error) => {
            for push in waiting {
                account.fail(&push, error.to_string());
            }
            return;
        }
    };
    if let Some(first) = first {
        // The requests after it show whether the receiver works.
        let _ = connection.post(first, Bytes::new());
    }
    for push in waiting {
        let body = Bytes::copy_from_slice(&push.body);
        let (mut pauses, mut reason) = (PAUSES.iter(), None);
        let outcome = loop {
            if end.get().is_some_and(|end| Instant::now() > *end) {
                break Err(reason.unwrap_or_else(|| "it was too slow".to_owned()));
            }
            match connection.post(endpoint, body.clone()) {
                Err(refusal) => match pauses.next() {
                    Some(pause) if !refusal.is_final => {
                        reason = Some(refusal.reason);
                        std::thread::sleep(*pause);
                    }
                    _ => break Err(refusal.reason),
                },
                Ok(()) => break Ok(()),
            }
        };
        match outcome {
            Ok(()) => {
                account.accepted.fetch_add(1, Ordering::Relaxed);
                account.last_failed.store(false, Ordering::Relaxed);
            }
            Err(reason) => account.fail(&push, reason),
        }
    }
}

/// Why the receiver did not accept a request.
struct Refusal {
    reason: String,
    /// Whether the same request would be refused again.
    is_final: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The generator's own HTTP client, for one request at a time.
struct Connection {
    runtime: Runtime,
    tasks: LocalSet,
    client: Client,
}

impl Connection {
    fn new(insecure: bool) -> io::Result<Connection> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut settings = Settings {
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_redirects: 0,
            max_body: 1 << 20,
            ..Settings::default()
        };
        settings.network.tls.insecure_skip_verify = insecure;
        let entered = runtime.enter();
        let client = Client::new(Shared::new(Arc::new(settings)), 1);
        drop(entered);
        Ok(Connection {
            runtime,
            tasks: LocalSet::new(),
            client,
        })
    }

    fn post(&self, endpoint: &Endpoint, body: Bytes) -> Result<(), Refusal> {
        let certain = |reason: String| Refusal {
            reason,
            is_final: true,
        };
        let url = Url::parse(&endpoint.url).map_err(|error| certain(error.to_string()))?;
        let mut request = Request::new(Method::Post, Rc::new(url));
        let mut fields = Fields::new();
        for (name, value) in &endpoint.headers {
            fields.set(name, value).map_err(certain)?;
        }
        request.headers = fields;
        request.body = body;
        request.timeout = TIMEOUT;
        let mut uncounted = |_: &Exchange| {};
        let sent = self.client.send(&request, None, &mut uncounted);
        let response = self
            .tasks
            .block_on(&self.runtime, sent)
            .map_err(|failure| Refusal {
                reason: failure.error.message.to_string(),
                is_final: false,
            })?;
        match response.status {
            200..=299 => Ok(()),
            status => {
                let text = String::from_utf8_lossy(&response.body);
                let text: String = text.trim().chars().take(300).collect();
                Err(Refusal {
                    reason: format!("it responded {status} {text}")
                        .trim_end()
                        .to_owned(),
                    // Remote write: what a server cannot accept now is sent again, what it never will is not.
                    is_final: status < 500 && status != 429,
                })
            }
        }
    }
}
