//! The gateway's configuration.

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "gateway_config",
    run,
    seeds: &[
        b"entries:\n  a: {bind: 127.0.0.1:0, protocol: h1}\nroutes:\n  r: {entries: a, prefix: /, service: s}\nservices:\n  s: {upstream: u, timeout: 3s, retries: 2}\nupstreams:\n  u: {targets: [127.0.0.1:1, 127.0.0.1:2], strategy: least_connections}\n",
        b"entries: {a: {bind: 0.0.0.0:1}}\nroutes: {r: {regex: '^/a(b|c)+$', methods: [GET], service: s}}\nservices: {s: {upstream: u, rate_limit: {rate: 5/s, burst: 9}}}\nupstreams: {u: {targets: [{address: a:1, weight: 3}], health: {path: /h, interval: 1s}}}\n",
        b"limits: {body: 1MiB, buffer: 16KiB, head: 8KiB}\naccess_log: none\n",
    ],
    words: &[
        "entries", "routes", "services", "upstreams", "limits", "bind", "prefix", "regex",
        "targets", "strategy", "weight", "health", "headers", "&a", "*a", "!!", "|\n", ": ", "- ",
        "{", "}", "[", "]", "'", "\"", "\n  ",
    ],
};

fn run(data: &[u8]) {
    // The message of an error does not matter here, only that it exists.
    let _ = plimsoll_gateway::check_config(&text(data));
}
