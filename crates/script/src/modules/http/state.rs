//! What `k6/http` keeps for a user from call to call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use plimsoll_http::Url;

/// What `k6/http` keeps for a user from call to call.
#[derive(Default)]
pub struct HttpState {
    pub callback: RefCell<Callback>,
    urls: RefCell<Vec<Rc<Url>>>,
    next_place: Cell<usize>,
}

/// Which answers are expected.
#[derive(Clone, Default)]
pub enum Callback {
    /// Statuses 200 to 399.
    #[default]
    Default,
    Statuses(Rc<[(u16, u16)]>),
    /// Nobody asks.
    Off,
}

impl Callback {
    /// Whether `status` is expected; `None` where nobody asks.
    pub fn judge(&self, status: u16) -> Option<bool> {
        match self {
            Callback::Default => Some((200..400).contains(&status)),
            Callback::Statuses(ranges) => Some(
                ranges
                    .iter()
                    .any(|(low, high)| (*low..=*high).contains(&status)),
            ),
            Callback::Off => None,
        }
    }
}

/// How many URLs are remembered for one user.
const URLS_KEPT: usize = 4;

impl HttpState {
    /// Reads a URL; users mostly ask for the same few again.
    ///
    /// # Errors
    /// When the text is no URL.
    pub fn url(&self, text: &str) -> Result<Rc<Url>, plimsoll_http::UrlError> {
        let known = self
            .urls
            .borrow()
            .iter()
            .find(|url| url.as_str() == text)
            .cloned();
        if let Some(url) = known {
            return Ok(url);
        }
        let url = Rc::new(Url::parse(text)?);
        let mut urls = self.urls.borrow_mut();
        if urls.len() < URLS_KEPT {
            urls.push(Rc::clone(&url));
        } else {
            let place = self.next_place.get();
            self.next_place.set((place + 1) % URLS_KEPT);
            urls[place] = Rc::clone(&url);
        }
        Ok(url)
    }
}

/// The run's options on requests.
#[derive(Clone, Copy, Debug)]
pub struct HttpOptions {
    /// Failed requests throw, unless their parameters say otherwise.
    pub throw: bool,
    /// Bodies are dropped, unless a request's `responseType` says otherwise.
    pub discard_bodies: bool,
    /// Requests of a batch at once.
    pub batch: usize,
    /// The same, to one host; 0 is no limit.
    pub batch_per_host: usize,
    /// Redirects followed, where somebody said how many.
    pub max_redirects: Option<u32>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            throw: false,
            discard_bodies: false,
            batch: 20,
            batch_per_host: 6,
            max_redirects: None,
        }
    }
}

/// Redirects followed where nobody said how many.
pub const MAX_REDIRECTS: u32 = 10;
