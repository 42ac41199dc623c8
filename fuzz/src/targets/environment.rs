//! `K6_*` variables, one per line.

use std::collections::BTreeMap;

use plimsoll_plan::Options;

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "environment",
    run,
    seeds: &[
        b"K6_VUS=10\nK6_DURATION=30s\nK6_STAGES=5s:10,1m:20,0s:0",
        b"K6_DNS=ttl=5m,select=random,policy=any\nK6_BLACKLIST_IPS=10.0.0.0/8",
        b"K6_BLOCK_HOSTNAMES=*.a,b\nK6_LOCAL_IPS=127.0.0.1-127.0.0.9,::1/126",
        b"K6_SYSTEM_TAGS=url,status\nK6_SUMMARY_TREND_STATS=avg,p(95)\nK6_INSECURE_SKIP_TLS_VERIFY=true",
        b"K6_RPS=5\nK6_ITERATIONS=3\nK6_NO_SETUP=1\nPLIMSOLL_PROTOCOL=h2c",
    ],
    words: &["K6_", "=", ",", ":", "s", "\n", "true", "-", "/", "*", "ttl=", "select=", "policy="],
};

fn run(data: &[u8]) {
    let data = text(data);
    let variables: BTreeMap<String, String> = data
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    if let Ok(options) = Options::from_env(&variables) {
        options.to_json();
    }
}
