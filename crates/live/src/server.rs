//! A small HTTP server with one thread per connection and one request per connection.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_machine::shortage;

use crate::request::Request;
use crate::response::Response;
use crate::token::Token;

/// Maximum number of connections. Further connections are refused.
const MAX_CONNECTIONS: usize = 64;
/// Time limit for a read or a write. A viewer that does not read for this long is dropped.
const IO_TIMEOUT: Duration = Duration::from_secs(5);

/// Responds to requests.
pub type Routes = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

/// The number of requests without a complete response.
#[derive(Default)]
pub struct RequestsInProgress {
    count: Mutex<usize>,
    /// Notified when a response is complete.
    responded: Condvar,
}

impl RequestsInProgress {
    /// Waits until every request has its response, or until the time limit. Otherwise the exit of the process would cut
    /// off responses, because the threads that write them have the lowest priority.
    pub fn wait(&self) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .responded
            .wait_timeout_while(count, IO_TIMEOUT, |count| *count > 0);
        // After the time limit, the remaining clients are not reading.
        drop(waited);
    }

    fn change(&self, by: isize) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add_signed(by);
        self.responded.notify_all();
    }
}

/// Counts a request without a complete response until it is dropped.
struct Pending<'a>(&'a RequestsInProgress);

impl<'a> Pending<'a> {
    fn new(all: &'a RequestsInProgress) -> Pending<'a> {
        all.change(1);
        Pending(all)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.change(-1);
    }
}

/// Serves `routes` until the process exits. `name` is the name of the threads. If there is a token, requests must
/// present it. Otherwise, their `Host` must be this machine.
///
/// # Errors
/// If the system cannot create a thread.
pub fn start(
    name: &'static str,
    listener: TcpListener,
    token: Option<Token>,
    routes: Routes,
) -> Result<Arc<RequestsInProgress>, String> {
    let open = Arc::new(AtomicUsize::new(0));
    let token = Arc::new(token);
    let in_progress = Arc::new(RequestsInProgress::default());
    let requests = Arc::clone(&in_progress);
    let accepting = std::thread::Builder::new().name(name.to_owned());
    let accepted = accepting.spawn(move || {
        // This includes the threads of connections, which this thread starts.
        plimsoll_machine::run_in_background();
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // No file descriptors are left, and the run needs them more urgently.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (routes, token) = (Arc::clone(&routes), Arc::clone(&token));
            let in_progress = Arc::clone(&requests);
            let connection = Connection(Arc::clone(&open));
            // If the thread cannot start, the connection is closed.
            let _ = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || {
                    let _ = serve(stream, token.as_ref().as_ref(), &routes, &in_progress);
                    drop(connection);
                });
        }
    });
    accepted.map(|_| in_progress).map_err(|error| {
        format!(
            "could not start a thread for {name}: {}",
            shortage::explain(&error)
        )
    })
}

/// Counts an open connection.
struct Connection(Arc<AtomicUsize>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(
    mut stream: TcpStream,
    token: Option<&Token>,
    routes: &Routes,
    in_progress: &RequestsInProgress,
) -> Result<(), std::io::Error> {
    stream.set_read_timeout(Some(IO_TIMEOUT))?;
    stream.set_write_timeout(Some(IO_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let request = match Request::read(&mut stream) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let refusal = Response::text("413 Content Too Large", "the body is longer than 1 MiB");
            return refusal.write(&mut stream);
        }
        read => read?,
    };
    let pending = Pending::new(in_progress);
    let response = match refusal(&request, token) {
        Some(refusal) => refusal,
        None => routes(&request),
    };
    if matches!(response, Response::Events(..)) {
        // The hub waits for event streams.
        drop(pending);
    }
    response.write(&mut stream)
}

/// Why a request is refused, if it is.
fn refusal(request: &Request, token: Option<&Token>) -> Option<Response> {
    if let Some(origin) = &request.origin
        && origin.split_once("://").map(|(_, host)| host) != Some(request.host.as_str())
    {
        return Some(Response::text(
            "403 Forbidden",
            "requests of other sites are refused",
        ));
    }
    match token {
        Some(token) => {
            let presented = request
                .authorization
                .as_deref()
                .and_then(|value| value.strip_prefix("Bearer "))
                .or_else(|| request.parameter("token"));
            let is_known = presented.is_some_and(|presented| token.is(presented));
            (!is_known).then(|| {
                Response::text(
                    "401 Unauthorized",
                    "this address requires the token that plimsoll printed: /?token=…",
                )
            })
        }
        // An attacker can point a name at 127.0.0.1. Such a name must not give a web site access.
        None if !is_local(&request.host) => Some(Response::text(
            "403 Forbidden",
            "open this page by an address of this machine, like http://127.0.0.1",
        )),
        None => None,
    }
}

/// Whether a `Host` header names this machine: localhost, or any IP address.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(host: &str, origin: Option<&str>, query: &str) -> Request {
        Request {
            host: host.to_owned(),
            origin: origin.map(str::to_owned),
            query: query.to_owned(),
            ..Request::default()
        }
    }

    #[test]
    fn other_sites_and_other_names_are_refused() {
        for host in [
            "localhost:5665",
            "127.0.0.1:5665",
            "127.0.0.1",
            "[::1]:5665",
        ] {
            assert!(refusal(&request(host, None, ""), None).is_none(), "{host}");
        }
        for host in ["evil.example:5665", "", "localhost.evil.example"] {
            assert!(refusal(&request(host, None, ""), None).is_some(), "{host}");
        }
        let own = Some("http://127.0.0.1:5665");
        assert!(refusal(&request("127.0.0.1:5665", own, ""), None).is_none());
        let other = Some("http://evil.example");
        assert!(refusal(&request("127.0.0.1:5665", other, ""), None).is_some());
    }

    #[test]
    fn the_end_waits_for_responses_in_progress() {
        use std::io::{Read, Write};

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (began, begins) = std::sync::mpsc::channel();
        let routes = move |_: &Request| {
            began.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(200));
            Response::text("200 OK", "complete")
        };
        let in_progress = start("test", listener, None, Arc::new(routes)).unwrap();
        // No request arrives on this connection.
        let _silent = TcpStream::connect(address).unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        write!(client, "GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        begins.recv().unwrap();
        in_progress.wait();
        client.set_nonblocking(true).unwrap();
        let mut response = [0; 1000];
        let length = client.read(&mut response).expect("a response");
        let response = String::from_utf8_lossy(&response[..length]);
        assert!(response.ends_with("complete\n"), "{response}");
    }

    #[test]
    fn a_token_is_required_if_one_is_set() {
        let token = Token::new(Some("0123456789".to_owned())).unwrap();
        let refused = |query: &str| refusal(&request("any.name", None, query), Some(&token));
        assert!(refused("token=0123456789").is_none());
        assert!(refused("token=0123456780").is_some());
        assert!(refused("").is_some());
        let mut bearer = request("any.name", None, "");
        bearer.authorization = Some("Bearer 0123456789".to_owned());
        assert!(refusal(&bearer, Some(&token)).is_none());
    }
}
