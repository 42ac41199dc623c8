//! A run with a live page.

#![allow(dead_code)] // No test program uses all of it.

pub mod relay;

use std::time::Duration;

use plimsoll_plan::Rate;
use plimsoll_run::{
    ConnectionOptions, HttpOptions, Listener, LoadOptions, Outcome, OutputRequest, Request,
};
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};

/// 50 requests per second for some seconds. Every tenth fails.
pub fn run_for(seconds: u64, listeners: Vec<Box<dyn Listener>>) -> Outcome {
    plimsoll_run::run(request(seconds), listeners).expect("a run")
}

/// The request for that run, to a server that runs until the process exits.
pub fn request(seconds: u64) -> Request {
    let server = LoggedServer::start(Behavior::Fail(10)).expect("a free port");
    let options = HttpOptions {
        url: server.http_url(),
        method: None,
        headers: Vec::new(),
        body: None,
        body_lines: None,
        timeout: Duration::from_secs(10),
        protocol: None,
        streams: None,
        load: LoadOptions {
            users: Some(20),
            duration: Some(Duration::from_secs(seconds)),
            rate: Some(Rate {
                count: 50,
                per: Duration::from_secs(1),
            }),
            threads: Some(1),
            ..LoadOptions::default()
        },
        connection: ConnectionOptions::default(),
    };
    Request {
        load: options.resolve().expect("options").load,
        threads: 1,
        outputs: OutputRequest::default(),
        record: None,
        warm_up: Duration::ZERO,
        until: None,
    }
}
