//! `k6/x/dns`: name lookups, with a given name server or with the system's resolver.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use plimsoll_net::dns_message::Family;
use plimsoll_net::{query, refusal};
use plimsoll_quickjs::{Call, Context, Entry, Returned};
use plimsoll_samples::{Contains, Kind};
use plimsoll_units::Moment;

use super::grpc::network;
use super::scripted::{Metric, register};
use super::{BuiltIn, Shape};
use crate::user::User;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/dns",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"resolve", 3, resolve),
        Entry::function(c"lookup", 1, lookup),
    ],
    made: &[],
    make: Some(|context, _| register(context, METRICS)),
};

const METRICS: &[Metric] = &[
    (RESOLUTIONS, Kind::Counter, Contains::Default),
    (RESOLUTION_DURATION, Kind::Trend, Contains::Time),
    (LOOKUPS, Kind::Counter, Contains::Default),
    (LOOKUP_DURATION, Kind::Trend, Contains::Time),
];
const RESOLUTIONS: &str = "dns_resolutions";
const RESOLUTION_DURATION: &str = "dns_resolution_duration";
const LOOKUPS: &str = "dns_lookups";
const LOOKUP_DURATION: &str = "dns_lookup_duration";

/// The default port of name servers.
const PORT: u16 = 53;

/// `resolve(name, type, server)`: a promise of the addresses that the server returns.
fn resolve<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let name = call.argument(0).to_text()?.into_string();
    let family = match &*call.argument(1).to_text()? {
        "A" | "a" => Family::V4,
        "AAAA" | "aaaa" => Family::V6,
        other => {
            return Err(context.throw_plain(format!(
                "unsupported DNS record type {other}: use A or AAAA"
            )));
        }
    };
    let server = call.argument(2).to_text()?.into_string();
    let (host, port) = parse_server(&server).ok_or_else(|| {
        context.throw_plain(format!(
            "{server:?} is not the address of a name server, such as 192.0.2.1:53 or [2001:db8::1]:53"
        ))
    })?;
    let owner = context.shared_host::<User>();
    owner.working(context, "using dns")?;
    let user = Rc::clone(&owner);
    // Queries in flight have different ids.
    let id = plimsoll_clock::now().as_nanos() as u16;
    let operation = async move {
        let network = network(&user, None)?;
        let server = network.locate(&host, port).await;
        let server = server.map_err(|error| error.to_string())?;
        let started = plimsoll_clock::now();
        let reply = query(server, &name, family, id).await;
        record(&user, RESOLUTIONS, RESOLUTION_DURATION, started);
        let reply = reply.map_err(|error| format!("the name server {server}: {error}"))?;
        match reply.code {
            0 => Ok(reply.addresses),
            code => Err(format!(
                "the name server {server} responded to the query for {name} with {}",
                refusal(code)
            )),
        }
    };
    settle(context, &owner, operation)
}

/// `lookup(host)`: a promise of the addresses that the system finds.
fn lookup<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let host = call.argument(0).to_text()?.into_string();
    let owner = context.shared_host::<User>();
    owner.working(context, "using dns")?;
    let user = Rc::clone(&owner);
    let operation = async move {
        let started = plimsoll_clock::now();
        let found = tokio::net::lookup_host((host.as_str(), 0)).await;
        record(&user, LOOKUPS, LOOKUP_DURATION, started);
        let found = found.map_err(|error| format!("lookup {host}: {error}"))?;
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in found {
            let ip = address.ip().to_canonical();
            if !addresses.contains(&ip) {
                addresses.push(ip);
            }
        }
        Ok(addresses)
    };
    settle(context, &owner, operation)
}

/// A promise of the addresses as strings.
fn settle<'c>(
    context: &'c Context,
    owner: &User,
    operation: impl Future<Output = Result<Vec<IpAddr>, String>> + 'static,
) -> Returned<'c> {
    owner
        .event_loop
        .promise(context, operation, |context, found| match found {
            Ok(addresses) => context.strings(addresses.iter().map(IpAddr::to_string)),
            Err(error) => Err(context.throw_plain(error)),
        })
}

/// Counts a query, and records its duration up to now.
fn record(user: &User, count: &str, duration: &str, started: Moment) {
    let now = plimsoll_clock::now();
    let milliseconds = now.since(started).as_nanos() as f64 / 1e6;
    let (Some(work), Some(base)) = (user.work(), user.base_tags()) else {
        return;
    };
    for (name, value) in [(count, 1.0), (duration, milliseconds)] {
        if let Some(metric) = user.common.registry.find(name) {
            // This cannot fail, because the value is a number.
            let _ = work.recorder.add(metric, value, &base, &[], now);
        }
    }
}

/// Accepts `host`, `host:port`, `[address]:port` or an address.
fn parse_server(text: &str) -> Option<(String, u16)> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some((address.ip().to_string(), address.port()));
    }
    if text.parse::<IpAddr>().is_ok() {
        return Some((text.to_owned(), PORT));
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "53"));
    let is_name = !host.is_empty() && !host.contains([':', '[', ']', '/', ' ']);
    is_name.then_some((host.to_owned(), port.parse().ok()?))
}
