//! Measures the throughput of the network path, with an iperf3 server at the other end.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_iperf::amounts::Format;
use plimsoll_iperf::client::{self, Family, From};
use plimsoll_iperf::{Direction, End, Test, TestRequest};
use serde_json::{Value, json};

use crate::Plan;

/// The throughput of one TCP stream in each direction, as measured by the receiver.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Bytes per second to the server.
    pub there: f64,
    /// Bytes per second from the server.
    pub back: f64,
}

/// Measures each direction for one second, one after the other.
pub(crate) fn measure(plan: &Plan, port: u16) -> Result<Capacity, String> {
    Ok(Capacity {
        there: one_way(plan, port, Direction::Forward)?,
        back: one_way(plan, port, Direction::Reverse)?,
    })
}

fn one_way(plan: &Plan, port: u16, direction: Direction) -> Result<f64, String> {
    let ask = TestRequest {
        host: plan.address.host.clone(),
        port,
        family: Family::Any,
        from: From::default(),
        patience: plan.timeout,
        test: Test {
            direction,
            end: End::Time(Duration::from_secs(1)),
            ..Test::default()
        },
        length: None,
        interval: None,
        format: Format::default(),
        json: true,
    };
    let stop = AtomicBool::new(false);
    // A server needs a short pause between two tests.
    for attempt in 0.. {
        let report = client::run(&ask, &stop, &mut |_| {});
        match report.error {
            Some(plimsoll_iperf::Error::Busy) if attempt < ATTEMPTS => std::thread::sleep(PAUSE),
            Some(error) => return Err(format!("no throughput from port {port}: {error}")),
            None => {
                let receivers = report
                    .streams
                    .iter()
                    .filter_map(|stream| report.ends(stream).receiver);
                return Ok(receivers.map(|end| end.bytes_per_second()).sum());
            }
        }
    }
    Err(format!("no throughput from port {port}"))
}

const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

impl Capacity {
    pub(crate) fn json(&self) -> Value {
        json!({ "there_bits_per_second": self.there * 8.0, "back_bits_per_second": self.back * 8.0 })
    }

    pub(crate) fn text(&self) -> String {
        let rate = |bytes: f64| format!("{}/s", Format::Fitting.rate(bytes).trim_start());
        format!(
            "{} there, {} back, one TCP stream each",
            rate(self.there),
            rate(self.back)
        )
    }
}
