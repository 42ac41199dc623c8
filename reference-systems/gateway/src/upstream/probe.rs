//! The active check: the gateway's own requests, on separate connections.

use std::sync::{Arc, Weak};

use hyper::header::USER_AGENT;
use hyper::{Request, StatusCode, Version};
use plimsoll_serving::log;
use tokio::time::Instant;

use super::{Connections, Target, Upstream};
use crate::body;
use crate::config::{ActiveCheck, Wire};

/// Checks the targets of an upstream until it is dropped.
pub async fn probe(name: String, upstream: Weak<Upstream>, check: ActiveCheck) {
    let mut rounds = tokio::time::interval(check.interval);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // Consecutive equal results, for each target.
    let mut runs: Vec<(bool, u32)> = Vec::new();
    loop {
        rounds.tick().await;
        let Some(upstream) = upstream.upgrade() else {
            return;
        };
        runs.resize(upstream.targets.len(), (true, 0));
        let targets = upstream.targets.iter();
        let outcomes: Vec<_> = targets
            .map(|target| {
                tokio::spawn(check_target(
                    upstream.clone(),
                    target.clone(),
                    check.clone(),
                ))
            })
            .collect();
        for ((outcome, target), run) in outcomes.into_iter().zip(&upstream.targets).zip(&mut runs) {
            let outcome = outcome.await.unwrap_or_else(|error| Err(error.to_string()));
            let good = outcome.is_ok();
            let before = if run.0 == good { run.1 } else { 0 };
            *run = (good, before.saturating_add(1));
            let enough = if good { check.healthy } else { check.unhealthy };
            if run.1 >= enough && target.health.set_ill(!good) {
                let address = target.address.as_str();
                let mut fields = vec![
                    ("upstream", name.as_str().into()),
                    ("target", address.into()),
                ];
                match outcome {
                    Ok(()) => log::info("a target is well again", &fields),
                    Err(reason) => {
                        fields.push(("reason", reason.into()));
                        log::warn("a target is ill", &fields);
                    }
                }
            }
        }
    }
}

async fn check_target(
    upstream: Arc<Upstream>,
    target: Arc<Target>,
    check: ActiveCheck,
) -> Result<(), String> {
    let settings = &upstream.settings;
    let (uri, version) = match settings.wire {
        Wire::H1 => (check.path.clone(), Version::HTTP_11),
        Wire::H2 => {
            let scheme = if settings.tls.is_some() {
                "https"
            } else {
                "http"
            };
            let uri = format!("{scheme}://{}{}", target.address, check.path);
            (uri, Version::HTTP_2)
        }
    };
    let request = Request::get(uri)
        .version(version)
        .header(USER_AGENT, "plimsoll-gateway")
        .body(body::whole(Default::default()))
        .map_err(|error| error.to_string())?;
    let connections = Connections::new(&target.address, settings);
    let responded = connections.exchange(request, None, Instant::now() + check.timeout);
    let (response, _) = responded.await.map_err(|trouble| trouble.reason)?;
    match response.status() {
        status if status.is_success() || status == StatusCode::NOT_MODIFIED => Ok(()),
        status => Err(format!("{} responds with {status}", check.path)),
    }
}
