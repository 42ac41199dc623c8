//! The documents of k6's REST API (JSON:API): metrics, groups, setup data.

use plimsoll_samples::{Group, MetricSummary, Summary, Values};
use serde_json::{Map, Value, json};

/// The document of all metrics.
pub fn metrics(summary: &Summary) -> Value {
    let all: Vec<Value> = summary.metrics.iter().map(resource).collect();
    json!({ "data": all })
}

/// The document of one metric. `None` if no metric has that name.
pub fn metric(summary: &Summary, name: &str) -> Option<Value> {
    let found = summary.metrics.iter().find(|metric| metric.name == name)?;
    Some(json!({ "data": resource(found) }))
}

fn resource(metric: &MetricSummary) -> Value {
    let tainted = if metric.thresholds.is_empty() {
        Value::Null
    } else {
        metric
            .thresholds
            .iter()
            .any(|threshold| !threshold.ok)
            .into()
    };
    json!({
        "type": "metrics",
        "id": metric.name,
        "attributes": {
            "type": metric.kind.to_string(),
            "contains": metric.contains.to_string(),
            "tainted": tainted,
            "sample": sample(&metric.values),
        },
    })
}

fn sample(values: &Values) -> Map<String, Value> {
    let figures: Vec<(&str, f64)> = match values {
        Values::Counter { count, rate } => vec![("count", *count), ("rate", *rate)],
        Values::Gauge { value, .. } => vec![("value", *value)],
        Values::Rate { .. } => vec![("rate", values.rate().unwrap_or(0.0))],
        Values::Trend(histogram) => {
            let names = ["med", "p(90)", "p(95)"];
            let mut figures = vec![
                ("avg", histogram.mean()),
                ("max", histogram.max()),
                ("min", histogram.min()),
            ];
            figures.extend(
                names
                    .into_iter()
                    .zip(histogram.quantiles(&[0.5, 0.9, 0.95])),
            );
            figures
        }
    };
    figures
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// The document of all groups, each after its parent.
pub fn groups(summary: &Summary) -> Value {
    let mut all = Vec::new();
    walk(&summary.root_group, None, &mut |group, parent| {
        all.push(group_resource(group, parent));
    });
    json!({ "data": all })
}

/// The document of one group. `None` if no group has that id.
pub fn group(summary: &Summary, id: &str) -> Option<Value> {
    let mut found = None;
    walk(&summary.root_group, None, &mut |group, parent| {
        if group.id == id {
            found = Some(json!({ "data": group_resource(group, parent) }));
        }
    });
    found
}

/// Visits a group and all its subgroups, without recursion because scripts determine the depth.
fn walk<'a>(
    root: &'a Group,
    parent: Option<&'a Group>,
    visit: &mut impl FnMut(&'a Group, Option<&'a Group>),
) {
    let mut open = vec![(root, parent)];
    while let Some((group, parent)) = open.pop() {
        visit(group, parent);
        open.extend(group.groups.iter().rev().map(|inner| (inner, Some(group))));
    }
}

fn group_resource(group: &Group, parent: Option<&Group>) -> Value {
    let link = |group: &Group| json!({ "type": "groups", "id": group.id });
    let checks: Vec<Value> = group
        .checks
        .iter()
        .map(|check| {
            json!({
                "id": check.id,
                "path": check.path,
                "name": check.name,
                "passes": check.passes,
                "fails": check.fails,
            })
        })
        .collect();
    // k6 writes null instead of an empty list.
    let checks = Some(checks).filter(|checks| !checks.is_empty());
    let inner: Vec<Value> = group.groups.iter().map(link).collect();
    json!({
        "type": "groups",
        "id": group.id,
        "attributes": {
            "path": group.path,
            "name": group.name,
            "checks": checks,
        },
        "relationships": {
            "groups": { "data": inner },
            "parent": { "data": parent.map(link) },
        },
    })
}

/// The document of the data that `setup` returned.
pub fn setup(data: Option<Value>) -> Value {
    // As in k6, `data` is missing if there is no data, but null counts as data.
    let attributes: Map<String, Value> = data
        .into_iter()
        .map(|data| ("data".to_owned(), data))
        .collect();
    json!({ "data": { "type": "setupData", "id": "default", "attributes": attributes } })
}
