//! What the requests' own times say: of a closed loop at its limit, of stalls that
//! percentiles do not show, of a link that is full.

use std::time::Duration;

use plimsoll_units::Bytes;

use crate::evidence::{Evidence, Findings};
use crate::{Cause, Level};

/// How requests fared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceTimes {
    /// How many there are.
    pub count: u64,
    /// Their service times added up.
    pub total: Duration,
    /// The quickest.
    pub least: Duration,
    /// The 10th percentile.
    pub p10: Duration,
    /// The median.
    pub median: Duration,
    /// How many were slow: longer than [`ServiceTimes::slow_from`] of the median.
    pub slow: u64,
    /// Those added up.
    pub slow_total: Duration,
    /// Sending and receiving alone, added up.
    pub moving: Duration,
    /// Bytes sent and received.
    pub bytes: Bytes,
    /// Users at the most, where each sends when it was answered; none in an open model.
    pub closed_users: Option<u32>,
    /// How long the run took.
    pub elapsed: Duration,
}

/// Users spend at least this share of their time in requests: there is no think time.
const WAITING: f64 = 0.80;
/// Nine of ten requests take that many times as long as the quickest, and so much longer.
const QUEUED: u32 = 5;
const QUEUED_LEAST: Duration = Duration::from_millis(5);
/// A request is slow from here on, and from so many medians on.
const SLOW: Duration = Duration::from_millis(500);
const SLOW_MEDIANS: u32 = 10;
/// So few are slow that the 99th percentile does not show them,
const RARE: f64 = 0.01;
/// and they took this share of the users' time.
const HIDDEN: f64 = 0.10;
/// The share of the service time in which bytes were moving.
const MOVING: f64 = 0.50;
/// Below this many bytes a request is no transfer; a stream of small events is none.
const TRANSFER: u64 = 10_000;

impl ServiceTimes {
    /// From where on a request is slow, by the median.
    pub fn slow_from(median: Duration) -> Duration {
        SLOW.max(median.saturating_mul(SLOW_MEDIANS))
    }
}

impl Evidence {
    pub(crate) fn judge_service(&self, found: &mut Findings) {
        if let Some(service) = self.service.as_ref().filter(|service| service.count > 0) {
            if let Some(users) = service.closed_users {
                judge_queue(service, users, found);
                judge_hidden(service, found);
            }
            judge_transfer(service, found);
        }
    }
}

/// A closed loop at the server's limit: by Little's law the times tell how many users
/// there were. Requests of several kinds would have quick ones among them throughout,
/// which is why the 10th percentile is asked.
fn judge_queue(service: &ServiceTimes, users: u32, found: &mut Findings) {
    let offered = service.elapsed.as_secs_f64() * f64::from(users);
    let always_waiting = service.total.as_secs_f64() > offered * WAITING;
    let queued = service.p10 > service.least.saturating_mul(QUEUED)
        && service.p10 > service.least + QUEUED_LEAST;
    if users > 1 && always_waiting && queued {
        found.add(Level::Suspect, Cause::Server, format!(
            "the closed loop was saturated: all {users} users waited all the time, nine of ten for more than {}, and the quickest answer took {}; the times tell how many users there were, not how quick the server is: set a rate below {:.0}/s",
            short(service.p10),
            short(service.least),
            service.count as f64 / service.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
        ));
    }
}

/// Coordinated omission (Tene 2013): while a request is stuck, its user sends nothing.
fn judge_hidden(service: &ServiceTimes, found: &mut Findings) {
    if service.slow == 0 || service.total.is_zero() {
        return;
    }
    let count = service.slow as f64 / service.count as f64;
    let time = service.slow_total.as_secs_f64() / service.total.as_secs_f64();
    if count <= RARE && time > HIDDEN {
        found.add(Level::Suspect, Cause::Server, format!(
            "the server stalled: {} of {} requests took more than {}, and {:.0}% of the users' waiting; the 99th percentile of a closed loop hides that: set a rate",
            service.slow,
            service.count,
            short(ServiceTimes::slow_from(service.median)),
            time * 100.0
        ));
    }
}

fn judge_transfer(service: &ServiceTimes, found: &mut Findings) {
    let share = service.moving.as_secs_f64() / service.total.as_secs_f64().max(f64::MIN_POSITIVE);
    if share > MOVING && service.bytes.get() / service.count > TRANSFER {
        let rate = service.bytes.get() as f64 * 8e-6
            / service.elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        found.add(Level::Suspect, Cause::Network, format!(
            "bytes were under way for {:.0}% of the service time, {rate:.1} Mbit/s in all: the link, or how the server sends, is the limit",
            share * 100.0
        ));
    }
}

/// Three digits are enough for a sentence.
fn short(span: Duration) -> String {
    let micros = span.as_micros().max(1) as u64;
    let scale = 10_u64.pow(micros.ilog10().saturating_sub(2));
    plimsoll_units::duration::format(Duration::from_micros(micros / scale * scale))
}
