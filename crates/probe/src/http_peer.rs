//! Measures an HTTP/1.1 peer: the time from the first byte of the request to the first byte of the
//! response.

use std::rc::Rc;
use std::sync::Arc;

use plimsoll_http::{Client, Method, Prepared, Protocol, Request, Settings, Shared, Url};

use crate::spread::Spread;
use crate::{Peer, Plan, RoundTrip, network_settings};

/// Sends requests repeatedly, on one connection if the server keeps it open.
pub async fn measure(plan: &Plan) -> Result<RoundTrip, String> {
    let scheme = if plan.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}{}", plan.address, plan.path);
    let url = Url::parse(&url).map_err(|error| format!("{url}: {error}"))?;
    let settings = Settings {
        network: network_settings(plan, false),
        protocol: Protocol::Http1,
        user_agent: "plimsoll-probe".to_owned(),
        discard_response_bodies: true,
        ..Settings::default()
    };
    let mut request = Request::new(Method::Get, Rc::new(url));
    request.timeout = plan.timeout;
    let prepared = Prepared::new(&request, &settings).map_err(|error| error.message)?;
    let client = Client::new(Shared::new(Arc::new(settings)), 1);
    let (mut reused, mut first) = (Spread::default(), Spread::default());
    // Make one more request than needed, because the first one is on a new connection.
    for _ in 0..=plan.repeats.max(1) {
        let exchange = client.send_prepared(&prepared, plimsoll_clock::now()).await;
        if let Some(error) = &exchange.error {
            return Err(format!(
                "no complete response to GET {}: {}",
                plan.path, error.message
            ));
        }
        let phases = exchange.timeline.phases();
        // The time includes sending, because the moment at which a request was sent is only known
        // afterwards, and even later on a busy machine.
        let time = phases.sending + phases.waiting;
        if phases.connecting.is_zero() {
            reused.add(time);
        } else {
            first.add(time);
        }
    }
    let new_connections = reused.is_empty();
    Ok(RoundTrip {
        peer: Peer::Http,
        new_connections,
        times: if new_connections { first } else { reused },
    })
}
