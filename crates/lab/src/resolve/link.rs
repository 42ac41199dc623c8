//! The network between the generator and the systems of a cell.

use std::time::Duration;

use serde::Serialize;

use super::fields::{Fields, merged_by_name};
use super::host::Host;
use super::scope::Scope;
use super::text_of_time;
use crate::file::{Document, keys, unknown};
use crate::matrix::Coordinates;
use crate::problem::{Location, Problem};

/// A network between generator and systems.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    pub name: String,
    /// The implementation that delays and limits the traffic.
    pub by: Implementation,
    /// The round-trip time.
    #[serde(serialize_with = "text_of_time")]
    pub round_trip: Duration,
    /// Jitter (± around the round trip).
    #[serde(serialize_with = "text_of_time")]
    pub jitter: Duration,
    /// Bandwidth of each direction in bits per second; `None` for no limit.
    pub rate: Option<u64>,
    /// The share of packets that are lost, from 0 to 1.
    pub loss: f64,
    /// The processors to which the relay is pinned, counted from 0; empty for any.
    pub cpus: Vec<u32>,
    /// The host on which the systems run, if it is another host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Its location in the lab file.
    #[serde(skip)]
    pub place: Location,
}

/// The implementation that delays and limits the traffic of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implementation {
    /// A process that forwards the bytes.
    Relay,
    /// The kernel, between two network namespaces.
    Kernel,
    /// The real network to another host.
    Host,
}

/// Reads the place from which a load is sent, given by `from`. `None` for loopback.
pub(super) fn read(
    document: &Document,
    cell: &Coordinates,
    from: &str,
    place: &Location,
    scope: &Scope<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Link> {
    let places = merged_by_name(document.tables("place"), cell, &keys::PLACE, &[]);
    let Some((name, at, table)) = places.iter().find(|(name, ..)| name == from) else {
        if from != "near" {
            let known = places.iter().map(|(name, ..)| name.as_str());
            problems.push(unknown(place, "place", from, known.chain(["near"])));
        }
        return None;
    };
    let mut fields = Fields::new(&keys::PLACE, at.clone(), table, scope, problems);
    let host = Host::read(&mut fields);
    let by = match (&host, fields.text("by").as_deref()) {
        (Some(_), _) => Implementation::Host,
        (None, Some("kernel")) => Implementation::Kernel,
        (None, _) => Implementation::Relay,
    };
    let link = Link {
        name: name.clone(),
        by,
        round_trip: fields.time("round-trip").unwrap_or_default(),
        jitter: fields.time("jitter").unwrap_or_default(),
        rate: fields.rate("rate").map(plimsoll_units::BitRate::get),
        loss: fields.percent("loss").unwrap_or(0.0),
        cpus: fields.counts("cpus"),
        host,
        place: at.clone(),
    };
    if by == Implementation::Kernel {
        if !link.cpus.is_empty() {
            fields.problem_at(
                "cpus",
                "cpus pins the relay, but by = \"kernel\" uses no relay: remove cpus",
            );
        }
        if link.jitter > link.round_trip {
            fields.problem_at("jitter", "the jitter is longer than the round trip");
        }
    }
    if by != Implementation::Relay {
        return Some(link);
    }
    let nothing = link.round_trip.is_zero() && link.rate.is_none() && link.loss == 0.0;
    (!nothing).then_some(link)
}
