//! Interprets the times of the requests: detects a saturated closed loop, stalls that percentiles
//! hide, and a saturated link.

use std::time::Duration;

use crate::evidence::{Evidence, Findings};
use crate::service_times::ServiceTimes;
use crate::{Cause, Level};

/// Minimum share of the time that users without think time spend in requests.
const WAITING: f64 = 0.80;
/// In a queue, nine of ten requests take at least this many times as long as the fastest one.
const QUEUED: u32 = 5;
const MIN_QUEUED: Duration = Duration::from_millis(5);
/// Below this share of slow requests, the 99th percentile does not show them.
const RARE: f64 = 0.01;
/// Minimum share of the users' time in slow requests that is reported.
const HIDDEN: f64 = 0.10;
/// Minimum share of the service time in which bytes were transferred.
const MOVING: f64 = 0.50;
/// The start of the sentence on a network at its limit. A lab that declares the bandwidth
/// recognizes the finding by it.
pub const IN_TRANSIT: &str = "bytes were in transit for";
/// The start of the sentence on times that only reflect the number of users. Fixed work ignores
/// this finding.
pub const SATURATED: &str = "the closed loop was saturated";
/// Requests with fewer bytes do not count as transfers, because a stream of small events is not a
/// transfer.
const TRANSFER: u64 = 10_000;

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

/// Detects a closed loop at the limit of the server. By Little's law, its times only reflect the
/// number of users. The check uses the 10th percentile, because a mix of different requests would
/// always include fast ones.
fn judge_queue(service: &ServiceTimes, users: u32, found: &mut Findings) {
    let offered = service.elapsed.as_secs_f64() * f64::from(users);
    let always_waiting = service.total.as_secs_f64() > offered * WAITING;
    let queued = service.p10 > service.least.saturating_mul(QUEUED)
        && service.p10 > service.least + MIN_QUEUED;
    if users > 1 && always_waiting && queued {
        found.add(Level::Suspect, Cause::Server, format!(
            "{SATURATED}: all {users} users waited all the time, nine of ten requests took more than {}, and the fastest took {}; these times reflect the number of users, not the speed of the server: set a rate below {:.0}/s",
            plimsoll_units::duration::short(service.p10),
            plimsoll_units::duration::short(service.least),
            service.count as f64 / service.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
        ));
    }
}

/// Detects coordinated omission (Tene 2013): while a request is stuck, its user sends nothing.
fn judge_hidden(service: &ServiceTimes, found: &mut Findings) {
    if service.slow == 0 || service.total.is_zero() {
        return;
    }
    let count = service.slow as f64 / service.count as f64;
    let time = service.slow_total.as_secs_f64() / service.total.as_secs_f64();
    if count <= RARE && time > HIDDEN {
        found.add(Level::Suspect, Cause::Server, format!(
            "the server stalled: {} of {} requests took more than {}, which was {:.0}% of the users' waiting time; the 99th percentile of a closed loop hides that: set a rate",
            service.slow,
            service.count,
            plimsoll_units::duration::short(ServiceTimes::slow_from(service.median)),
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
            "{IN_TRANSIT} {:.0}% of the service time, {rate:.1} Mbit/s in total: the limit is the link, or the speed at which the server sends",
            share * 100.0
        ));
    }
}
