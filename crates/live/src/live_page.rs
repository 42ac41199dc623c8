//! The page of a run.

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_run::{Event, Listener, ListenerReport, QueuedListener};

use crate::collector::{Collector, Update};
use crate::hub::Hub;
use crate::measured_system::MeasuredSystems;
use crate::page_title::PageTitle;
use crate::request::Request;
use crate::response::Response;
use crate::snapshots::Snapshots;
use crate::steps::Steps;
use crate::steps_page::StepsPage;
use crate::web_address::WebAddress;
use crate::{exposition, page, server};

/// A page that is being served.
pub struct LivePage {
    shared: Arc<Shared>,
    url: String,
}

/// The state that all requests share.
struct Shared {
    hub: Arc<Hub>,
    /// The figures for Prometheus. Only for the page of a run.
    snapshots: OnceLock<Arc<Snapshots>>,
}

/// How often the collector looks for samples that have arrived.
const INTERVAL: Duration = Duration::from_millis(100);

impl LivePage {
    /// Serves the page until the process exits. `flag` is the flag that requested it, for messages.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub fn open(address: &WebAddress, flag: &str) -> Result<LivePage, String> {
        let (listener, token) = address.listen(flag)?;
        let bound = listener
            .local_addr()
            .map_err(|error| format!("{flag}: {error}"))?;
        let shared = Arc::new(Shared {
            hub: Hub::new(address.period()),
            snapshots: OnceLock::new(),
        });
        let query = token
            .as_ref()
            .map(|token| format!("?token={}", token.text()));
        let url = format!(
            "http://{}/{}",
            browser_address(bound),
            query.unwrap_or_default()
        );
        let routed = Arc::clone(&shared);
        server::start(
            "live page",
            listener,
            token,
            Arc::new(move |request: &Request| routed.respond(request)),
        )?;
        Ok(LivePage { shared, url })
    }

    /// The URL of the page, with the token if it requires one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens the page in a browser.
    ///
    /// # Errors
    /// If the program that opens a browser cannot be started.
    pub fn open_in_browser(&self) -> Result<(), String> {
        let program = if cfg!(target_os = "macos") {
            "open"
        } else {
            "xdg-open"
        };
        let started = Command::new(program)
            .arg(&self.url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        started
            .map(drop)
            .map_err(|error| format!("cannot open a browser with {program}: {error}"))
    }

    /// Shows the steps of a search or a lab instead of a run.
    pub fn steps(&self, title: &str, steps: Steps) -> StepsPage {
        StepsPage::new(Arc::clone(&self.shared.hub), title.to_owned(), steps)
    }

    /// The listener that feeds the page.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn listener(&self, title: PageTitle) -> Result<Box<dyn Listener>, String> {
        let mut collector = Collector::new(title);
        let hub = Arc::clone(&self.shared.hub);
        let mut systems = MeasuredSystems::default();
        let queued = QueuedListener::<Update>::start(
            "the live page",
            move |event| collector.event(event),
            move |mut update| {
                // Read here, because reading takes too long for the supervisor's thread.
                systems.add_to(&mut update);
                let is_over = update.state.ended.is_some();
                hub.publish(update);
                if is_over {
                    hub.close();
                }
            },
        )?;
        let snapshots = self.shared.snapshots.get_or_init(Arc::default);
        Ok(Box::new(Follower {
            queued: queued.every(INTERVAL).with_names(),
            snapshots: Arc::clone(snapshots),
        }))
    }
}

/// Sends updates to the page, and computes the figures for requests from Prometheus.
struct Follower {
    queued: QueuedListener<Update>,
    snapshots: Arc<Snapshots>,
}

impl Listener for Follower {
    fn interval(&self) -> Duration {
        self.queued.interval()
    }

    fn needs_names(&self) -> bool {
        self.queued.needs_names()
    }

    fn event(&mut self, event: Event<'_>) {
        self.snapshots.event(event);
        self.queued.event(event);
    }

    fn finish(&mut self) -> ListenerReport {
        self.queued.finish()
    }
}

/// The address under which a browser on this machine can open the page.
fn browser_address(bound: SocketAddr) -> SocketAddr {
    match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            (IpAddr::from([127, 0, 0, 1]), bound.port()).into()
        }
        _ => bound,
    }
}

impl Shared {
    fn respond(&self, request: &Request) -> Response {
        if request.method != "GET" {
            return Response::text("405 Method Not Allowed", "use GET");
        }
        match request.path.as_str() {
            "/" => Response::html(page::page()),
            "/events" => {
                let (messages, watching) = self.hub.watch();
                Response::Events(messages, watching)
            }
            "/metrics" => self.metrics(),
            _ => Response::text("404 Not Found", "there is /, /events and /metrics"),
        }
    }

    fn metrics(&self) -> Response {
        let Some(snapshots) = self.snapshots.get() else {
            let reason = "only the page of a run has metrics, not that of a search or a lab";
            return Response::text("404 Not Found", reason);
        };
        let Some(snapshot) = snapshots.take() else {
            return Response::text("503 Service Unavailable", "the run is busy; try again");
        };
        Response::Full {
            status: "200 OK",
            kind: exposition::CONTENT_TYPE,
            body: exposition::text(&snapshot.summary).into_bytes(),
        }
    }
}
