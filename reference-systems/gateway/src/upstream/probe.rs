//! The active check: the gateway's own requests, on separate connections.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use hyper::header::{HOST, USER_AGENT};
use hyper::{Request, StatusCode, Version};
use plimsoll_serving::log;
use tokio::time::Instant;

use super::{Target, Upstream, exchange, multiplexed::Multiplexed};
use crate::config::{ActiveCheck, Wire};
use crate::outgoing::Outgoing;

/// Checks the targets of an upstream until it is dropped.
pub async fn probe(upstream: Weak<Upstream>, check: ActiveCheck) {
    let mut rounds = tokio::time::interval(check.interval);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // Consecutive equal results, for each target.
    let mut runs: Vec<(bool, u32)> = Vec::new();
    loop {
        rounds.tick().await;
        let Some(upstream) = upstream.upgrade() else {
            return;
        };
        runs.resize(upstream.targets().len(), (true, 0));
        let asked: Vec<_> = upstream
            .targets()
            .iter()
            .map(|target| tokio::spawn(ask(upstream.clone(), target.clone(), check.clone())))
            .collect();
        for ((asked, target), run) in asked.into_iter().zip(upstream.targets()).zip(&mut runs) {
            let outcome = asked.await.unwrap_or_else(|error| Err(error.to_string()));
            let good = outcome.is_ok();
            *run = (
                good,
                if run.0 == good {
                    run.1.saturating_add(1)
                } else {
                    1
                },
            );
            let enough = if good { check.healthy } else { check.unhealthy };
            if run.1 >= enough && target.health.set_ill(!good) {
                tell(&upstream, target, outcome);
            }
        }
    }
}

fn tell(upstream: &Upstream, target: &Target, outcome: Result<(), String>) {
    let (upstream, target) = (upstream.settings.name.as_str(), target.address.as_str());
    let mut fields = vec![("upstream", upstream.into()), ("target", target.into())];
    match outcome {
        Ok(()) => log::info("a target is well again", &fields),
        Err(reason) => {
            fields.push(("reason", reason.into()));
            log::warn("a target is ill", &fields);
        }
    }
}

async fn ask(
    upstream: Arc<Upstream>,
    target: Arc<Target>,
    check: ActiveCheck,
) -> Result<(), String> {
    let settings = &upstream.settings;
    let ask = async {
        let mut request = Request::get(&check.path)
            .header(HOST, &target.address)
            .header(USER_AGENT, "plimsoll-gateway")
            .body(Outgoing::whole(Bytes::new()))
            .map_err(|error| error.to_string())?;
        let answer = match settings.wire {
            Wire::H1 => {
                let mut connection = target
                    .connect(settings)
                    .await
                    .map_err(|trouble| trouble.reason)?;
                exchange(&mut connection, request, Instant::now() + check.timeout).await
            }
            Wire::H2 => {
                let scheme = if settings.tls.is_some() {
                    "https"
                } else {
                    "http"
                };
                let uri = format!("{scheme}://{}{}", target.address, check.path);
                *request.uri_mut() = uri.parse().map_err(|error| format!("{uri}: {error}"))?;
                *request.version_mut() = Version::HTTP_2;
                request.headers_mut().remove(HOST);
                let connections = Multiplexed::new(1);
                let sender = connections.sender(&target.address, settings).await;
                sender
                    .map_err(|trouble| trouble.reason)?
                    .exchange(request)
                    .await
            }
        };
        match answer.map_err(|trouble| trouble.reason)?.status() {
            status if status.is_success() || status == StatusCode::NOT_MODIFIED => Ok(()),
            status => Err(format!("{} responds with {status}", check.path)),
        }
    };
    tokio::time::timeout(check.timeout, ask)
        .await
        .unwrap_or_else(|_| Err(format!("no response within {:?}", check.timeout)))
}
