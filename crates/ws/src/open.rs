//! Opens a WebSocket with a user's own HTTP client.

use plimsoll_http::{Client, CookieJar, ErrorInfo, Exchange, Request, Response};
use plimsoll_net::Stream;

use crate::Limits;
use crate::connection::Connection;
use crate::handshake::{Agreed, Key, Offer, Refusal};

/// An open WebSocket.
#[derive(Debug)]
pub struct Socket {
    pub connection: Connection<Stream>,
    pub agreed: Agreed,
    pub response: Response,
}

/// The outcome of a handshake.
#[derive(Debug)]
pub struct Opened {
    /// The HTTP exchange with its timeline, for any outcome.
    pub exchange: Exchange,
    pub outcome: Result<Box<Socket>, Rejected>,
}

/// Reasons why the handshake failed.
#[derive(Debug)]
pub enum Rejected {
    /// No complete response arrived.
    Failed(ErrorInfo),
    /// The response does not complete the handshake.
    Refused(Refusal, Box<Response>),
}

/// Performs the handshake. `request` is a GET of the `http` URL that corresponds to the WebSocket
/// URL ([`request_url`]), with any header fields that the caller wants to send. This function adds
/// the fields of the handshake. It reads cookies from `jar` and stores cookies in it.
///
/// Dropping the future closes the connection.
pub async fn open(
    client: &Client,
    mut request: Request,
    jar: Option<&CookieJar>,
    offer: &Offer,
    limits: Limits,
) -> Opened {
    let key = Key::random();
    for (name, value) in offer.fields(&key) {
        if let Err(reason) = request.headers.set(name, &value) {
            request.invalid = Some(reason.into());
        }
    }
    let upgrade = client.upgrade(&request, jar).await;
    let outcome = match upgrade.outcome {
        Err(failure) => Err(Rejected::Failed(failure.error)),
        Ok((response, switched)) => {
            match response.head.as_deref().map(|head| offer.check(head, &key)) {
                Some(Ok(agreed)) => match switched {
                    Some(switched) => Ok(Box::new(Socket {
                        connection: Connection::new(
                            switched.stream,
                            &switched.rest,
                            agreed.deflate,
                            limits,
                        ),
                        agreed,
                        response,
                    })),
                    None => Err(Rejected::Refused(
                        Refusal::Status(response.status),
                        Box::new(response),
                    )),
                },
                Some(Err(refusal)) => Err(Rejected::Refused(refusal, Box::new(response))),
                None => Err(Rejected::Refused(
                    Refusal::Status(response.status),
                    Box::new(response),
                )),
            }
        }
    };
    Opened {
        exchange: upgrade.exchange,
        outcome,
    }
}

/// The `http` or `https` URL for a `ws` or `wss` URL (section 3), or `None` for other URLs.
pub fn request_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once(':')?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "ws" => "http",
        "wss" => "https",
        _ => return None,
    };
    Some(format!("{scheme}:{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_mapped() {
        assert_eq!(request_url("ws://a/b?c").as_deref(), Some("http://a/b?c"));
        assert_eq!(request_url("WSS://a").as_deref(), Some("https://a"));
        for other in ["http://a", "a", "", "wsx://a"] {
            assert_eq!(request_url(other), None);
        }
    }
}
