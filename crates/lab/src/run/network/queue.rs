//! The queueing discipline at each end of a network: the arguments for tc(8).

use std::time::Duration;

use crate::resolve::Link;

/// Maximum number of packets in transit; more are dropped. Netem's default of 1000 is too small for
/// a long delay.
const LIMIT: u32 = 100_000;

/// Maximum time that a packet waits for a limited line; packets that would wait longer are dropped.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Bytes that may leave together after the line was idle: the line's capacity in this time. So the
/// kernel's timers may be late without a loss of bandwidth.
const BURST: Duration = Duration::from_millis(2);

/// Two full packets. With less, no packet would ever leave.
const MIN_BURST: u64 = 2 * 1_514;

/// Whether this network needs netem. A rate alone does not.
pub fn needs_netem(link: &Link) -> bool {
    !link.round_trip.is_zero() || !link.jitter.is_zero() || link.loss > 0.0
}

/// The discipline of each end, unless the network neither delays nor limits anything. Each
/// direction gets half of the round trip and of the jitter, and the full rate and loss.
pub fn discipline(link: &Link) -> Option<Vec<String>> {
    let micros = |time: Duration| format!("{}us", (time / 2).as_micros());
    let rate = link.rate.map(|rate| format!("{rate}bit"));
    let mut words: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    if needs_netem(link) {
        add(&["netem", "limit", &LIMIT.to_string()]);
        add(&["delay", &micros(link.round_trip)]);
        if !link.jitter.is_zero() {
            add(&[&micros(link.jitter)]);
        }
        if link.loss > 0.0 {
            add(&["loss", &format!("{}%", link.loss * 100.0)]);
        }
        if let Some(rate) = &rate {
            add(&["rate", rate]);
        }
        return Some(words);
    }
    let bits = link.rate?;
    let bytes = u128::from(bits) / 8 * BURST.as_micros() / 1_000_000;
    let burst = u64::try_from(bytes).unwrap_or(u64::MAX).max(MIN_BURST);
    add(&["tbf", "rate", &rate?, "burst", &burst.to_string()]);
    add(&["latency", &format!("{}us", MAX_WAIT.as_micros())]);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Location;
    use crate::resolve::Implementation;

    fn link(round_trip: u64, jitter: u64, rate: Option<u64>, loss: f64) -> Link {
        Link {
            name: "far".to_owned(),
            by: Implementation::Kernel,
            round_trip: Duration::from_millis(round_trip),
            jitter: Duration::from_millis(jitter),
            rate,
            loss,
            cpus: Vec::new(),
            host: None,
            place: Location::default(),
        }
    }

    #[test]
    fn a_rate_alone_needs_no_netem() {
        let words_of = |link: &Link| discipline(link).map(|words| words.join(" "));
        assert_eq!(
            words_of(&link(0, 0, Some(100_000_000), 0.0)).as_deref(),
            Some("tbf rate 100000000bit burst 25000 latency 50000us")
        );
        assert_eq!(
            words_of(&link(0, 0, Some(1_000), 0.0)).as_deref(),
            Some("tbf rate 1000bit burst 3028 latency 50000us")
        );
        assert_eq!(
            words_of(&link(74, 2, Some(556_000_000), 0.001)).as_deref(),
            Some("netem limit 100000 delay 37000us 1000us loss 0.1% rate 556000000bit")
        );
        assert_eq!(
            words_of(&link(1, 0, None, 0.0)).as_deref(),
            Some("netem limit 100000 delay 500us")
        );
        assert_eq!(words_of(&link(0, 0, None, 0.0)), None);
    }
}
