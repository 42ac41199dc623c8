//! The figures of a network path, measured before the load starts.

use std::process::Command;
use std::time::Duration;

use plimsoll_results::lab::LinkFigures;
use serde_json::Value;

use super::network::Network;
use super::rate::Sink;
use super::variant::Variant;
use super::{process, server};
use crate::resolve::{Cell, Implementation};

/// Measures the network path of a cell: connect time and round trip with `plimsoll probe`, and the
/// throughput of one stream. Loopback is measured only if the lab file requests it.
pub fn measure(
    cell: &Cell,
    variant: &mut Variant,
    network: Option<&Network>,
) -> Option<LinkFigures> {
    let link = cell.link.as_ref();
    if link.is_none() && !cell.observe.link {
        return None;
    }
    let is_host = link.is_some_and(|link| link.by == Implementation::Host);
    let declared = link.filter(|_| !is_host);
    let mut figures = LinkFigures {
        name: link.map_or("near", |link| link.name.as_str()).to_owned(),
        by: match (declared, network) {
            (Some(_), Some(network)) => network.made_by,
            (Some(_), None) => "relay",
            (None, _) if is_host => "the network to another host",
            (None, _) => "loopback",
        }
        .to_owned(),
        declared_round_trip_ms: declared.map(|link| link.round_trip.as_secs_f64() * 1000.0),
        declared_jitter_ms: declared
            .map(|link| link.jitter.as_secs_f64() * 1000.0)
            .filter(|jitter| *jitter > 0.0),
        declared_megabits_per_second: link
            .and_then(|link| link.rate)
            .map(|rate| rate as f64 / 1e6),
        ..LinkFigures::default()
    };
    if !cell.observe.link {
        return Some(figures);
    }
    let relayed = declared.filter(|_| network.is_none());
    let here = |port: u16| format!("127.0.0.1:{port}");
    let address = match relayed {
        Some(link) => variant.relay_of(link).map(here),
        None if is_host => variant.address_of_remote_system(),
        None => variant.port_of_system().map(here),
    };
    let sink = (relayed.is_none() && !is_host).then(Sink::open);
    // The connecting program must run in the namespace, and the listening one outside it.
    let inside = network.map(Network::enter).transpose().ok()?;
    // A server for throughput tests accepts only one peer at a time, which must be the load.
    let address = address.filter(|_| {
        !matches!(
            cell.load.source,
            crate::resolve::load::Source::Throughput(_)
        )
    });
    if let (Some(address), Ok(program)) = (address, server::program_path()) {
        let mut probe = Command::new(program);
        // With a long round trip, take fewer samples, because each one needs two round trips.
        let far = link.is_some_and(|link| link.round_trip > Duration::from_millis(10));
        let times = if far { "4" } else { "10" };
        probe.args(["probe", "--json", "-n", times, &address]);
        if let Ok(finished) = process::run(&mut probe, &[], Duration::from_secs(60)) {
            let output: Value = serde_json::from_str(&finished.output).unwrap_or_default();
            figures.measured_connect_ms = output["connect_ms"]["p50"].as_f64();
            figures.measured_round_trip_ms = round_trip(&output, relayed.is_some());
        }
    }
    // If a figure is missing, the network path could not be measured.
    let rate = match (relayed, sink) {
        (Some(link), _) => variant.rate_of(link).ok().flatten(),
        (None, Some(Ok(sink))) => {
            let counted = Duration::from_millis(if network.is_some() { 250 } else { 100 });
            let rate = sink.measure(sink.port, counted).ok().flatten();
            if network.is_some() && figures.measured_round_trip_ms.is_none() {
                let took = sink.round_trip(sink.port, 5).ok().flatten();
                figures.measured_round_trip_ms = took.map(|took| took.as_secs_f64() * 1000.0);
            }
            rate
        }
        (None, _) if is_host => variant.rate_to_host(),
        (None, _) => None,
    };
    drop(inside);
    figures.measured_megabits_per_second = rate.map(|rate| rate / 1e6);
    if let (None, Some(link)) = (figures.measured_round_trip_ms, relayed) {
        let took = variant.round_trip_of(link).ok().flatten();
        figures.measured_round_trip_ms = took.map(|took| took.as_secs_f64() * 1000.0);
        figures.by =
            "relay; the round trip through an identical one, because the system does not echo or closes its connections"
                .to_owned();
    }
    Some(figures)
}

/// The median round trip that `plimsoll probe` measured, in milliseconds. `None` through a relay if the system closes its
/// connections: each round trip then contains the relay's own connecting.
fn round_trip(output: &Value, is_relayed: bool) -> Option<f64> {
    let by = output["round_trip_by"].as_str().unwrap_or_default();
    let is_first = by.ends_with("new connections");
    output["round_trip_ms"]["p50"]
        .as_f64()
        .filter(|_| !(is_relayed && is_first))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_connecting_of_a_relay_is_not_a_round_trip() {
        let kept =
            json!({ "round_trip_ms": { "p50": 40.1 }, "round_trip_by": "HTTP GET, first byte" });
        let new = json!({
            "round_trip_ms": { "p50": 81.4 }, "round_trip_by": "HTTP GET, first byte, new connections"
        });
        assert_eq!(round_trip(&kept, true), Some(40.1));
        assert_eq!(round_trip(&new, true), None);
        assert_eq!(round_trip(&new, false), Some(81.4));
        assert_eq!(round_trip(&Value::Null, false), None);
    }
}
