//! `k6/x/tcp`: TCP sockets, with or without TLS.
//!
//! The class is written in JavaScript. Rust opens the connection and transfers the bytes.

use std::sync::OnceLock;

use plimsoll_quickjs::Entry;
use plimsoll_samples::{Contains, Kind};

use super::connection::{connect, now};
use super::scripted::{Scripted, sample};
use super::{BuiltIn, Shape, timers};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/tcp",
    shape: Shape::Names,
    entries: &[],
    made: &["Socket"],
    make: Some(|context, exports| SOURCE.make(context, exports)),
};

static SOURCE: Scripted = Scripted {
    name: "k6/x/tcp",
    metrics: &[
        ("tcp_socket_connecting", Kind::Trend, Contains::Time),
        ("tcp_socket_resolving", Kind::Trend, Contains::Time),
        ("tcp_socket_duration", Kind::Trend, Contains::Time),
        ("tcp_sockets", Kind::Counter, Contains::Default),
        ("tcp_reads", Kind::Counter, Contains::Default),
        ("tcp_writes", Kind::Counter, Contains::Default),
        ("tcp_errors", Kind::Counter, Contains::Default),
        ("tcp_timeouts", Kind::Counter, Contains::Default),
        ("tcp_partial_writes", Kind::Counter, Contains::Default),
    ],
    script: concat!(
        "((native) => {\n'use strict';\n",
        include_str!("socket.js"),
        "return { Socket };\n})"
    ),
    native: &[
        Entry::function(c"connect", 5, connect),
        Entry::function(c"now", 0, now),
        Entry::function(c"sample", 3, sample),
        Entry::function(c"setTimeout", 2, timers::set_timeout),
        Entry::function(c"clearTimeout", 1, timers::clear),
    ],
    exports: &["Socket"],
    code: OnceLock::new(),
};
