//! Services: how requests are sent to an upstream.

use std::time::Duration;

use super::fields::{Field, Problems};

#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    pub name: String,
    pub upstream: String,
    /// Time limit for the response headers, over all attempts.
    pub response_timeout: Duration,
    /// Maximum time until the next piece of a response body.
    pub idle_timeout: Duration,
    pub retries: Retries,
    /// Maximum concurrent requests.
    pub max_requests: usize,
    /// Maximum requests that wait for one of these to end; further ones get 503.
    pub max_queue: usize,
    /// Maximum waiting time.
    pub queue_timeout: Duration,
    /// Whether the upstream gets the host that the client requested.
    pub preserve_host: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Retries {
    /// Maximum number of retries.
    pub attempts: u32,
    /// Retries as a share of requests, over time.
    pub budget_percent: u32,
}

const KEYS: [&str; 8] = [
    "upstream",
    "response_timeout",
    "idle_timeout",
    "retries",
    "max_requests",
    "max_queue",
    "queue_timeout",
    "preserve_host",
];

pub fn read(name: &str, field: &Field<'_>, problems: &mut Problems) -> Option<Service> {
    let fields = field.fields(&KEYS, problems);
    let mut time = |key, default| {
        fields
            .get(key)
            .and_then(|field| field.duration(problems))
            .unwrap_or(default)
    };
    let response_timeout = time("response_timeout", Duration::from_secs(30));
    let idle_timeout = time("idle_timeout", Duration::from_secs(60));
    let queue_timeout = time("queue_timeout", Duration::from_secs(1));
    let mut count = |key, range, default| {
        let number = fields
            .get(key)
            .and_then(|field| field.number(range, problems));
        number.map_or(default, |number| {
            usize::try_from(number).unwrap_or(usize::MAX)
        })
    };
    let max_requests = count("max_requests", 1..=1_000_000, 4096);
    let max_queue = count("max_queue", 0..=1_000_000, 1024);
    Some(Service {
        name: name.to_owned(),
        upstream: fields
            .need("upstream", problems)?
            .text(problems)?
            .to_owned(),
        response_timeout,
        idle_timeout,
        retries: retries(fields.get("retries"), problems),
        max_requests,
        max_queue,
        queue_timeout,
        preserve_host: fields
            .get("preserve_host")
            .and_then(|field| field.flag(problems))
            .unwrap_or(true),
    })
}

fn retries(field: Option<&Field<'_>>, problems: &mut Problems) -> Retries {
    let mut retries = Retries {
        attempts: 1,
        budget_percent: 20,
    };
    let Some(field) = field else { return retries };
    let fields = field.fields(&["attempts", "budget"], problems);
    if let Some(attempts) = fields
        .get("attempts")
        .and_then(|field| field.number(0..=10, problems))
    {
        retries.attempts = u32::try_from(attempts).unwrap_or(0);
    }
    let budget = fields.get("budget").and_then(|field| {
        field.read("a share from 0% to 100%", problems, |text| {
            text.strip_suffix('%')?
                .parse()
                .ok()
                .filter(|percent| *percent <= 100)
        })
    });
    if let Some(budget) = budget {
        retries.budget_percent = budget;
    }
    retries
}
