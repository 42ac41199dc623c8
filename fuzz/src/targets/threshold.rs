//! Thresholds: the metric with its tags, and the condition.

use plimsoll_plan::Threshold;
use plimsoll_plan::threshold::{Expression, MetricSelector};

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "threshold",
    run,
    seeds: &[
        b"http_req_duration\0p(95)<500",
        b"http_req_duration{status:200,method:GET}\0med >= 1.5e3",
        b"checks{\"a b\":'c,d'}\0rate===0.99",
        b"a{}\0count!=0",
        b"x{a:b:c}\0value<-1",
    ],
    words: &[
        "{", "}", ":", ",", "\"", "'", "p(", ")", "<", "<=", "===", "!=", "rate", "count", "avg",
        "99.999", "1e999", "\0", " ",
    ],
};

fn run(data: &[u8]) {
    let (metric, source) = halves(data);
    let (metric, source) = (text(metric), text(source));
    let _ = MetricSelector::parse(&metric);
    if let Ok(expression) = Expression::parse(&source) {
        expression.holds(f64::NAN);
    }
    let _ = Threshold::parse(&metric, &source);
}
