//! Services: how requests are sent to an upstream.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::values::{duration, number, or_not, seconds, text, within};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    #[serde(skip)]
    pub name: String,
    pub upstream: String,
    /// Time limit for the response headers, over all attempts.
    #[serde(default = "seconds::<30>", deserialize_with = "duration")]
    pub response_timeout: Duration,
    /// Maximum time until the next piece of a response body.
    #[serde(default = "seconds::<60>", deserialize_with = "duration")]
    pub idle_timeout: Duration,
    #[serde(default)]
    pub retries: Retries,
    /// Maximum concurrent requests.
    #[serde(
        default = "number::<4096, _>",
        deserialize_with = "within::<1, 1_000_000, _, _>"
    )]
    pub max_requests: usize,
    /// Maximum requests that wait for one of these to end; further ones get 503.
    #[serde(
        default = "number::<1024, _>",
        deserialize_with = "within::<0, 1_000_000, _, _>"
    )]
    pub max_queue: usize,
    /// Maximum waiting time.
    #[serde(default = "seconds::<1>", deserialize_with = "duration")]
    pub queue_timeout: Duration,
    /// Whether the upstream gets the host that the client requested.
    #[serde(default = "yes")]
    pub preserve_host: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// Maximum number of retries.
    #[serde(deserialize_with = "within::<0, 10, _, _>")]
    pub attempts: u32,
    /// Retries as a share of requests, over time.
    #[serde(rename = "budget", deserialize_with = "percent")]
    pub budget_percent: u32,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries {
            attempts: 1,
            budget_percent: 20,
        }
    }
}

fn yes() -> bool {
    true
}

fn percent<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    text(from, |text| {
        let number = text
            .strip_suffix('%')
            .and_then(|number| number.parse().ok());
        let percent = number.filter(|percent| *percent <= 100);
        or_not(percent, text, "a share from 0% to 100%")
    })
}
