//! `plimsoll link`: the relay that emulates a network.

use std::sync::Arc;

use plimsoll_netem::Link;
use plimsoll_netem::relay::{self, Relay, Requests};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{put, say};
use plimsoll_terminal::signals;

use crate::args::{LinkArgs, LinkProtocol};

/// Relays until a signal comes, and then reports what was relayed.
pub fn link(args: &LinkArgs) -> Exit {
    Exit::of_text(run(args).map(|report| format!("{report}\n")))
}

fn run(args: &LinkArgs) -> Result<serde_json::Value, String> {
    let link = Link {
        round_trip: args.round_trip,
        jitter: args.jitter,
        rate: args.rate,
        loss: args.loss,
    };
    link.check()?;
    let requests = Arc::new(Requests::default());
    let (stop, report) = (Arc::clone(&requests), Arc::clone(&requests));
    signals::on_signals(move |_| stop.stop.notify_one(), |_| {}, Exit::SIGNAL.code())?;
    signals::on_request_to_report(move || report.report.notify_one())?;
    let mut ready = |text: String, line: serde_json::Value| {
        if !text.is_empty() {
            say(&text);
        }
        put(format!("{line}\n").as_bytes());
    };
    match (&args.netem, args.listen, args.to) {
        (Some(name), ..) => relay::namespace(name, &link, &requests.stop, &mut ready),
        (None, Some(listen), Some(to)) => {
            let relay = Relay {
                link,
                listen,
                to,
                tcp: args.protocol != LinkProtocol::Udp,
                udp: args.protocol != LinkProtocol::Tcp,
                seed: args.seed,
            };
            relay.run(&requests, &mut ready)
        }
        (None, ..) => Err("a relay needs --listen and --to".to_owned()),
    }
}
