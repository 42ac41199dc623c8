//! Samples that an OpenTelemetry receiver got over gRPC and HTTP equal the printed figures.

mod plimsoll;
mod received_run;
#[path = "opentelemetry/server.rs"]
mod server;

use received_run::{BUCKET, ITERATIONS, Run, assert_equal};
use serde_json::Value;
use server::Receiver;

/// The numbers of a point. JSON for protobuf represents 64-bit integers as strings.
fn number(value: &Value) -> f64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or(value.as_f64())
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The points of a metric in the last request that contains it, and its description.
#[track_caller]
fn metric<'a>(requests: &'a [Value], name: &str) -> (&'a Value, &'a [Value]) {
    let found = requests.iter().rev().find_map(|received| {
        let scope = &received["request"]["resourceMetrics"][0]["scopeMetrics"][0];
        let metrics = scope["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["name"] == name)
    });
    let metric = found.unwrap_or_else(|| panic!("no {name}"));
    let data = ["sum", "gauge", "exponentialHistogram"];
    let data = data.iter().find_map(|kind| metric.get(kind)).unwrap();
    (metric, data["dataPoints"].as_array().unwrap())
}

/// An attribute of a point or of a resource.
fn attribute<'a>(point: &'a Value, key: &str) -> Option<&'a str> {
    let attributes = point["attributes"].as_array()?;
    let found = attributes.iter().find(|one| one["key"] == key)?;
    found["value"]["stringValue"].as_str()
}

/// The upper bound of the bucket that contains a quantile of positive values.
fn quantile(point: &Value, quantile: f64) -> f64 {
    let base = 2_f64.powf(2_f64.powf(-number(&point["scale"])));
    let rank = (quantile * number(&point["count"])).ceil();
    let mut seen = 0.0;
    let counts = point["positive"]["bucketCounts"].as_array().unwrap();
    for (place, count) in counts.iter().enumerate() {
        seen += number(count);
        if seen >= rank {
            let offset = point["positive"].get("offset").map_or(0.0, number);
            return base.powf(offset + place as f64 + 1.0);
        }
    }
    panic!("{rank} of {seen} values in {point}");
}

fn assert_received(run: &Run, requests: &[Value]) {
    let all = f64::from(ITERATIONS);
    assert_eq!(run.server.requests() as f64, all);
    let only = |name: &str| -> &Value {
        let (_, points) = metric(requests, name);
        assert_eq!(points.len(), 1, "{name}: {points:?}");
        &points[0]
    };
    for (name, expected) in [
        ("k6_http_reqs", all),
        ("k6_iterations", all),
        ("k6_half", all / 2.0),
        ("k6_level", -7.0),
        ("k6_data_sent", run.printed("data_sent", "count")),
    ] {
        assert_equal(number(&only(name)["asDouble"]), expected);
    }
    let (half, _) = metric(requests, "k6_half");
    assert_eq!(half["sum"]["isMonotonic"], true);
    let (_, quarters) = metric(requests, "k6_quarter.total");
    for (condition, expected) in [("nonzero", all / 4.0), ("zero", all * 0.75)] {
        let mut points = quarters.iter();
        let point = points.find(|point| attribute(point, "condition") == Some(condition));
        assert_equal(number(&point.unwrap()["asInt"]), expected);
    }
    let request = only("k6_http_reqs");
    assert_eq!(attribute(request, "kind"), Some("first, second=2"));
    assert_eq!(attribute(request, "status"), Some("200"));
    for name in ["http_req_duration", "iteration_duration"] {
        let (description, _) = metric(requests, &format!("k6_{name}"));
        assert_eq!(description["unit"], "ms");
        let histogram = &description["exponentialHistogram"];
        assert_eq!(
            histogram["aggregationTemporality"],
            "AGGREGATION_TEMPORALITY_CUMULATIVE"
        );
        let point = only(&format!("k6_{name}"));
        assert_equal(number(&point["count"]), all);
        assert_equal(number(&point["sum"]), run.printed(name, "avg") * all);
        assert_equal(number(&point["min"]), run.printed(name, "min"));
        assert_equal(number(&point["max"]), run.printed(name, "max"));
        assert!(number(&point["startTimeUnixNano"]) < number(&point["timeUnixNano"]));
    }
    let sizes = only("k6_size");
    assert_equal(number(&sizes["sum"]), 500_500.0);
    for (share, figure) in [(0.5, "med"), (0.95, "p(95)"), (0.99, "p(99)")] {
        let ratio = quantile(sizes, share) / run.printed("size", figure);
        assert!(
            (1.0 / BUCKET..BUCKET).contains(&ratio),
            "{figure}: {ratio} times the printed one"
        );
    }
}

#[test]
fn values_over_grpc_equal_the_printed_ones() {
    let receiver = Receiver::start();
    let address = format!("127.0.0.1:{}", receiver.calls);
    let run = Run::with(
        "opentelemetry",
        &[
            ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &address),
            ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
            ("K6_OTEL_METRIC_PREFIX", "k6_"),
            ("K6_OTEL_EXPORT_INTERVAL", "100ms"),
            ("K6_OTEL_HEADERS", "X-Tenant=one"),
            ("K6_OTEL_SERVICE_NAME", "load"),
        ],
    );
    let requests = receiver.requests();
    assert_received(&run, &requests);
    assert!(requests.len() > 1, "cumulative values are sent repeatedly");
    assert_eq!(requests[0]["headers"]["x-tenant"], "one");
    let resource = &requests[0]["request"]["resourceMetrics"][0]["resource"];
    assert_eq!(attribute(resource, "service.name"), Some("load"));
}

#[test]
fn values_over_http_equal_the_printed_ones() {
    let receiver = Receiver::start();
    let out = format!(
        "experimental-opentelemetry=http://127.0.0.1:{}/v1/metrics",
        receiver.posts
    );
    let run = Run::with(&out, &[("K6_OTEL_METRIC_PREFIX", "k6_")]);
    let requests = receiver.requests();
    assert_received(&run, &requests);
    assert_eq!(requests[0]["headers"][":path"], "/v1/metrics");
}
