//! The state that `k6/http` keeps between the calls of a user.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use plimsoll_http::Url;

#[derive(Default)]
pub struct HttpState {
    pub callback: RefCell<Callback>,
    urls: RefCell<Vec<Rc<Url>>>,
    next_place: Cell<usize>,
}

/// The responses that count as expected.
#[derive(Clone, Default)]
pub enum Callback {
    /// Statuses 200 to 399.
    #[default]
    Default,
    Statuses(Rc<[(u16, u16)]>),
    /// Expectations are turned off.
    Off,
}

impl Callback {
    /// Whether `status` is expected; `None` if expectations are turned off.
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

/// Maximum number of URLs remembered per user.
const MAX_URLS: usize = 4;

impl HttpState {
    /// Parses a URL. Most users request the same few URLs, so the last ones are remembered.
    ///
    /// # Errors
    /// If the string is not a URL.
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
        if url.as_str() != text {
            // Parsing has changed it, so a search for `text` would not find it.
            return Ok(url);
        }
        let mut urls = self.urls.borrow_mut();
        if urls.len() < MAX_URLS {
            urls.push(Rc::clone(&url));
        } else {
            let place = self.next_place.get();
            self.next_place.set((place + 1) % MAX_URLS);
            urls[place] = Rc::clone(&url);
        }
        Ok(url)
    }
}

/// The run's options for requests.
#[derive(Clone, Copy, Debug)]
pub struct HttpOptions {
    /// Failed requests throw an exception, unless their parameters specify otherwise.
    pub throw: bool,
    /// Bodies are dropped, unless a request's `responseType` specifies otherwise.
    pub discard_bodies: bool,
    /// Maximum number of concurrent requests of a batch.
    pub batch: usize,
    /// Maximum number of concurrent requests of a batch per host; 0 means no limit.
    pub batch_per_host: usize,
    /// Maximum number of redirects to follow, if the script or the options set it.
    pub max_redirects: Option<u32>,
    /// Whether to log requests and responses.
    pub debug: Option<HttpDebug>,
}

/// The logged part of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpDebug {
    Headers,
    /// Headers and bodies.
    Full,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            throw: false,
            discard_bodies: false,
            batch: 20,
            batch_per_host: 6,
            max_redirects: None,
            debug: None,
        }
    }
}

/// The default for the maximum number of redirects.
pub const MAX_REDIRECTS: u32 = 10;
