//! `hosts`, `blockHostnames`, `blacklistIPs` and `localIPs`.

use std::net::IpAddr;

use plimsoll_address::{HostAddress, HostKey, HostPattern, IpPool, IpRange};
use plimsoll_net::HostRules;

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "address_rules",
    run,
    seeds: &[
        b"*.example.com:80\x00127.0.0.1:8080",
        b"a\0[::1]:1",
        b"10.0.0.0/8\0::/0",
        b"10.0.0.1-10.0.0.9\0fe80::1-fe80::ff",
        b"::ffff:1.2.3.4\x000.0.0.0/32",
    ],
    words: &[
        "*",
        ".",
        ":",
        "/",
        "-",
        "[",
        "]",
        "::",
        "/0",
        "/128",
        "/33",
        "\0",
        "255.255.255.255",
        "ffff",
    ],
};

fn run(data: &[u8]) {
    let (one, other) = halves(data);
    let (one, other) = (text(one), text(other));
    let mut rules = HostRules::default();
    if let (Ok(key), Ok(address)) = (HostKey::parse(&one), HostAddress::parse(&other)) {
        rules.add_override(key.pattern(), key.port(), address);
    }
    if let Ok(pattern) = HostPattern::parse(&one) {
        rules.block_host(pattern);
    }
    let _ = IpPool::parse(&one).map(|pool| pool.of_user(7));
    rules.lookup(&other, 80);
    rules.blocking(&other);
    if let Ok(pattern) = HostPattern::parse(&one) {
        pattern.matches(&other);
    }
    for text in [&one, &other] {
        if let Ok(range) = IpRange::parse(text) {
            let first = range.nth(0);
            assert!(range.contains(first) || is_mapped(first), "{text}");
            range.nth(u128::MAX);
            rules.blacklist(range);
            rules.blacklisting(first);
        }
    }
}

/// Compared as the IPv4 address that it represents.
fn is_mapped(ip: IpAddr) -> bool {
    ip.is_ipv6() && ip.to_canonical().is_ipv4()
}
