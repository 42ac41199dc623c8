//! The page of a run.

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_run::{Listener, Queued};

use crate::collector::{Collector, Update};
use crate::hub::Hub;
use crate::measured_system::MeasuredSystems;
use crate::page_title::PageTitle;
use crate::request::Request;
use crate::response::Response;
use crate::steps::Steps;
use crate::steps_page::StepsPage;
use crate::web_address::WebAddress;
use crate::{page, server};

/// A page that is being served.
pub struct LivePage {
    hub: Arc<Hub>,
    url: String,
}

/// How often the collector looks for samples that have arrived.
const INTERVAL: Duration = Duration::from_millis(100);

impl LivePage {
    /// Serves the page until the process ends. `flag` is what requested it, for messages.
    ///
    /// # Errors
    /// If it cannot listen there.
    pub fn open(address: &WebAddress, flag: &str) -> Result<LivePage, String> {
        let (listener, token) = address.listen(flag)?;
        let bound = listener
            .local_addr()
            .map_err(|error| format!("{flag}: {error}"))?;
        let hub = Hub::new(address.period());
        let query = token
            .as_ref()
            .map(|token| format!("?token={}", token.text()));
        let url = format!("http://{}/{}", reachable(bound), query.unwrap_or_default());
        let routed = Arc::clone(&hub);
        server::start(
            "live page",
            listener,
            token,
            Arc::new(move |request: &Request| route(request, &routed)),
        )?;
        Ok(LivePage { hub, url })
    }

    /// The page's address, with the token if it requires one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens the page in a browser.
    ///
    /// # Errors
    /// If the program that does so cannot be started.
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
        StepsPage::new(Arc::clone(&self.hub), title.to_owned(), steps)
    }

    /// The listener that feeds the page.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn listener(&self, title: PageTitle) -> Result<Box<dyn Listener>, String> {
        let mut collector = Collector::new(title);
        let hub = Arc::clone(&self.hub);
        let mut systems = MeasuredSystems::default();
        let queued = Queued::<Update>::start(
            "the live page",
            move |event| collector.event(event),
            move |mut update| {
                // Here, because reading takes too long for the supervisor's thread.
                systems.add_to(&mut update);
                let is_over = update.state.ended.is_some();
                hub.publish(update);
                if is_over {
                    hub.close();
                }
            },
        )?;
        Ok(Box::new(queued.every(INTERVAL).with_names()))
    }
}

/// An address that a browser on this machine can open.
fn reachable(bound: SocketAddr) -> SocketAddr {
    match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            (IpAddr::from([127, 0, 0, 1]), bound.port()).into()
        }
        _ => bound,
    }
}

fn route(request: &Request, hub: &Arc<Hub>) -> Response {
    if request.method != "GET" {
        return Response::text("405 Method Not Allowed", "use GET");
    }
    match request.path.as_str() {
        "/" => Response::html(page::page()),
        "/events" => {
            let (messages, watching) = hub.watch();
            Response::Events(messages, watching)
        }
        _ => Response::text("404 Not Found", "there is / and /events"),
    }
}
