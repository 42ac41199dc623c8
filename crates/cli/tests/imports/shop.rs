//! A shop that issues new tokens, identifiers and sessions to every visitor.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The tokens and identifiers issued so far.
#[derive(Default)]
struct Issued {
    count: u64,
    sessions: BTreeSet<String>,
    forms: BTreeSet<String>,
    accounts: BTreeSet<String>,
    bearers: BTreeSet<String>,
    orders: BTreeSet<String>,
}

/// The parts of a request that the shop reads.
struct ShopRequest {
    method: String,
    path: String,
    cookies: String,
    bearer: String,
    body: String,
}

type Reply = (u16, Vec<String>, String);

/// Starts the shop. Returns its address.
pub fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let issued = Arc::new(Mutex::new(Issued::default()));
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let issued = Arc::clone(&issued);
            thread::spawn(move || serve(connection, &issued));
        }
    });
    address
}

fn serve(connection: TcpStream, issued: &Mutex<Issued>) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut connection = connection;
    loop {
        let request = read(&mut reader)?;
        let (status, headers, body) = issued.lock().unwrap().reply(&request);
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        let response =
            format!("HTTP/1.1 {status} S\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        connection.write_all(response.as_bytes()).ok()?;
    }
}

fn read(reader: &mut impl BufRead) -> Option<ShopRequest> {
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    let mut words = line.split(' ');
    let mut request = ShopRequest {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        cookies: String::new(),
        bearer: String::new(),
        body: String::new(),
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "cookie" => request.cookies = value.to_owned(),
            "authorization" => request.bearer = value.replace("Bearer ", ""),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8_lossy(&body).into_owned();
    Some(request)
}

impl Issued {
    /// A unique value that looks random.
    fn value(&mut self) -> String {
        self.count += 1;
        format!("{:016x}", self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn reply(&mut self, request: &ShopRequest) -> Reply {
        let json = || vec!["Content-Type: application/json".to_owned()];
        let html = || vec!["Content-Type: text/html".to_owned()];
        let has = |set: &BTreeSet<String>, text: &str| {
            set.iter().any(|value| text.contains(value.as_str()))
        };
        let is_authorized = self.bearers.contains(&request.bearer);
        let path = request.path.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", [""]) => {
                let (session, form) = (self.value(), self.value());
                let mut headers = html();
                headers.push(format!("Set-Cookie: sid={session}; Path=/; HttpOnly"));
                let page = format!(
                    "<html><head><meta name=\"csrf-token\" content=\"{form}\"></head><body>shop</body></html>"
                );
                self.sessions.insert(session);
                self.forms.insert(form);
                (200, headers, page)
            }
            ("GET", ["style.css"]) => (
                200,
                vec!["Content-Type: text/css".to_owned()],
                "p{}".to_owned(),
            ),
            ("POST", ["login"]) => {
                let is_known =
                    has(&self.sessions, &request.cookies) && has(&self.forms, &request.body);
                if !is_known || !request.body.contains("password=") {
                    return (403, html(), "who are you".to_owned());
                }
                let account = self.value();
                let cookie = format!("Set-Cookie: account={account}; Path=/");
                self.accounts.insert(account);
                (
                    302,
                    vec!["Location: /account".to_owned(), cookie],
                    String::new(),
                )
            }
            ("GET", ["account"]) if has(&self.accounts, &request.cookies) => {
                (200, html(), "<p>welcome</p>".to_owned())
            }
            ("POST", ["api", "session"]) if request.body.contains("password") => {
                let bearer = self.value();
                self.bearers.insert(bearer.clone());
                let text = format!(
                    "{{\"access_token\":\"{bearer}\",\"user\":{{\"id\":{}}}}}",
                    4_000 + self.count
                );
                (200, json(), text)
            }
            ("GET", ["api", "users", user, "orders"]) if is_authorized => match user.parse::<u64>()
            {
                Ok(user) if user > 4_000 && user <= 4_000 + self.count => {
                    (200, json(), "{\"orders\":[]}".to_owned())
                }
                _ => (404, json(), "{}".to_owned()),
            },
            ("POST", ["api", "orders"]) if is_authorized && request.body.contains("anchor") => {
                let order = self.value();
                let mut headers = json();
                headers.push(format!("Location: /api/orders/{order}"));
                let text = format!("{{\"id\":\"{order}\",\"item\":\"anchor\"}}");
                self.orders.insert(order);
                (201, headers, text)
            }
            ("GET", ["api", "orders", order]) if is_authorized && self.orders.contains(*order) => {
                (200, json(), format!("{{\"id\":\"{order}\"}}"))
            }
            ("DELETE", ["api", "orders", order]) if is_authorized && self.orders.remove(*order) => {
                (204, Vec::new(), String::new())
            }
            _ => (
                if is_authorized { 404 } else { 401 },
                json(),
                "{}".to_owned(),
            ),
        }
    }
}
