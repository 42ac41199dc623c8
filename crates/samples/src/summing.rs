//! Creates the [`Summary`] from the totals.

use std::collections::BTreeMap;
use std::time::Duration;

use md5::{Digest, Md5};

use crate::metric_id::MetricId;
use crate::registry::Metric;
use crate::roster::{Names, ROOT};
use crate::sink::Sink;
use crate::sinks::Sinks;
use crate::summary::{Check, CheckTotal, Group, GroupPart, MetricSummary, ScenarioPart, Summary};
use crate::totals::Totals;

/// Passes and fails by a check's number.
type Counts = BTreeMap<usize, (u64, u64)>;

impl Totals {
    /// Checks with the same name in all groups combined, in the order in which they first occurred.
    pub fn checks(&self) -> Vec<CheckTotal> {
        by_name(&self.watch.roster.names(), &counts_where(self, |_| true))
    }

    /// Metrics with samples or thresholds so far, as in the summary.
    pub fn metrics(&self, elapsed: Duration) -> Vec<MetricSummary> {
        whole(self, &self.registry.metrics(), elapsed)
    }

    /// All results. `elapsed` is the time base for counter rates.
    pub fn summary(&self, elapsed: Duration) -> Summary {
        let totals = self;
        let metrics = totals.registry.metrics();
        let names = totals.watch.roster.names();
        let all = counts_where(totals, |_| true);
        let parts = Parts {
            totals,
            metrics: &metrics,
            names: &names,
            elapsed,
        };
        Summary {
            elapsed,
            load: None,
            metrics: whole(totals, &metrics, elapsed),
            root_group: tree(&names, &all),
            checks: by_name(&names, &all),
            groups: parts.groups(None),
            scenarios: parts.scenarios(),
            http: totals.http(),
            names: totals.names(),
            left_out: totals.left_out,
            threw: 0,
            iterations: 0,
            work: Vec::new(),
        }
    }
}

/// The metrics with samples, without their thresholds.
pub(crate) fn figures(totals: &Totals, elapsed: Duration) -> Vec<MetricSummary> {
    listed(totals, &totals.registry.metrics(), elapsed, false)
}

/// All metrics that have samples or thresholds, each followed by its sub-metrics.
fn whole(totals: &Totals, metrics: &[Metric], elapsed: Duration) -> Vec<MetricSummary> {
    listed(totals, metrics, elapsed, true)
}

fn listed(
    totals: &Totals,
    metrics: &[Metric],
    elapsed: Duration,
    judged: bool,
) -> Vec<MetricSummary> {
    let outcomes = |id, submetric| {
        if judged {
            totals.outcomes(id, submetric, elapsed)
        } else {
            Vec::new()
        }
    };
    let mut order: Vec<usize> = (0..metrics.len()).collect();
    // Our additional metric follows a script's metric with the same name.
    order.sort_by_key(|&index| (&metrics[index].name, metrics[index].extra));
    let mut summaries = Vec::new();
    for index in order {
        let metric = &metrics[index];
        let id = MetricId(index as u32);
        let sink = totals.whole.metrics.get(index);
        if sink.is_some_and(|sink| !sink.is_empty()) || (judged && totals.is_watched(id)) {
            let empty = Sink::new(metric.kind);
            summaries.push(MetricSummary {
                name: totals.watch.shown_metric(id, &metric.name).into_owned(),
                kind: metric.kind,
                contains: metric.contains,
                extra: metric.extra,
                tags: Vec::new(),
                values: sink.unwrap_or(&empty).values(elapsed),
                thresholds: outcomes(id, None),
            });
        }
        for &sub in totals.watch.submetrics_of(id) {
            let submetric = &totals.watch.submetrics[sub];
            let Some(sink) = totals.whole.submetrics.get(sub) else {
                continue;
            };
            let thresholds = outcomes(id, Some(sub));
            let watched = judged && totals.watch.watched.contains(&(id, Some(sub)));
            if sink.is_empty() && thresholds.is_empty() && !watched {
                continue;
            }
            summaries.push(MetricSummary {
                name: totals.watch.shown_name(submetric).into_owned(),
                kind: metric.kind,
                contains: metric.contains,
                extra: metric.extra,
                tags: totals.watch.shown_tags(submetric),
                values: sink.values(elapsed),
                thresholds,
            });
        }
    }
    summaries
}

fn counts_where(totals: &Totals, of_cell: impl Fn(usize) -> bool) -> Counts {
    let mut counts = Counts::new();
    for (&(cell, check), &(passes, fails)) in &totals.checks {
        if of_cell(cell) {
            let sum = counts.entry(check).or_default();
            sum.0 += passes;
            sum.1 += fails;
        }
    }
    counts
}

/// Combines checks with the same name, in the order in which the names first occurred.
fn by_name(names: &Names, counts: &Counts) -> Vec<CheckTotal> {
    let mut checks: Vec<CheckTotal> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (&check, &(passes, fails)) in counts {
        let Some(name) = names.checks.get(check).map(|check| check.name.as_str()) else {
            continue;
        };
        let place = *places.entry(name).or_insert_with(|| {
            checks.push(CheckTotal {
                name: name.to_owned(),
                ..CheckTotal::default()
            });
            checks.len() - 1
        });
        checks[place].passes += passes;
        checks[place].fails += fails;
    }
    checks
}

fn tree(names: &Names, counts: &Counts) -> Group {
    let mut checks: Vec<Vec<Check>> = names.groups.iter().map(|_| Vec::new()).collect();
    for (number, check) in names.checks.iter().enumerate() {
        let (passes, fails) = counts.get(&number).copied().unwrap_or_default();
        let path = format!("{}::{}", names.groups[check.group].path, check.name);
        checks[check.group].push(Check {
            name: check.name.clone(),
            id: id_of(&path),
            path,
            passes,
            fails,
        });
    }
    let mut groups: Vec<Group> = names
        .groups
        .iter()
        .zip(checks)
        .map(|(group, checks)| Group {
            name: group.name.clone(),
            path: group.path.clone(),
            id: id_of(&group.path),
            groups: Vec::new(),
            checks,
        })
        .collect();
    // The number of a group is always higher than that of its parent. So in reverse order, every group is complete when
    // it is moved into its parent, and no recursion is needed.
    for number in (ROOT + 1..groups.len()).rev() {
        if let Some(mut group) = groups.pop() {
            group.groups.reverse();
            groups[names.groups[number].parent].groups.push(group);
        }
    }
    let mut root = groups.pop().unwrap_or_default();
    root.groups.reverse();
    root
}

fn id_of(path: &str) -> String {
    let digest = Md5::digest(path.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The breakdown by scenario and group.
struct Parts<'a> {
    totals: &'a Totals,
    metrics: &'a [Metric],
    names: &'a Names,
    elapsed: Duration,
}

impl Parts<'_> {
    fn scenarios(&self) -> Vec<ScenarioPart> {
        let mut seen: Vec<&str> = Vec::new();
        for (cell, (scenario, _)) in self.names.cells.iter().enumerate() {
            if self.is_of(cell, None, None) && !seen.contains(&scenario.as_str()) {
                seen.push(scenario);
            }
        }
        seen.into_iter()
            .map(|scenario| {
                let of = |cell: usize| self.is_of(cell, Some(scenario), None);
                ScenarioPart {
                    name: scenario.to_owned(),
                    metrics: self.metrics_of(of),
                    checks: by_name(self.names, &counts_where(self.totals, of)),
                    groups: self.groups(Some(scenario)),
                }
            })
            .collect()
    }

    /// The groups with samples in a scenario, or in any scenario.
    fn groups(&self, scenario: Option<&str>) -> Vec<GroupPart> {
        // Samples may have a group that was never entered. So the tree is built from the paths of the cells and their
        // ancestors.
        let mut paths: Vec<&str> = Vec::new();
        for (cell, (_, path)) in self.names.cells.iter().enumerate() {
            if self.is_of(cell, scenario, Some(path)) {
                let ends = path.match_indices("::").map(|(at, _)| at).skip(1);
                for end in ends.chain([path.len()]) {
                    if end > 0 && !paths.contains(&&path[..end]) {
                        paths.push(&path[..end]);
                    }
                }
            }
        }
        let mut parts: Vec<GroupPart> = paths
            .iter()
            .map(|path| {
                let of = |cell: usize| self.is_of(cell, scenario, Some(path));
                GroupPart {
                    name: path.rsplit("::").next().unwrap_or_default().to_owned(),
                    path: (*path).to_owned(),
                    metrics: self.metrics_of(of),
                    checks: by_name(self.names, &counts_where(self.totals, of)),
                    groups: Vec::new(),
                }
            })
            .collect();
        let mut top = Vec::new();
        while let Some(mut part) = parts.pop() {
            part.groups.reverse();
            let parent = part.path.rfind("::").map(|end| &part.path[..end]);
            let parent = parent.and_then(|path| parts.iter_mut().find(|part| part.path == path));
            match parent {
                Some(parent) => parent.groups.push(part),
                None => top.push(part),
            }
        }
        top.reverse();
        top
    }

    /// Whether a cell has samples and belongs to that scenario and that group.
    fn is_of(&self, cell: usize, scenario: Option<&str>, path: Option<&str>) -> bool {
        let has_samples = self.totals.cells.get(cell).is_some_and(Option::is_some);
        self.names.cells.get(cell).is_some_and(|key| {
            has_samples
                && scenario.is_none_or(|scenario| key.0 == scenario)
                && path.is_none_or(|path| key.1 == path)
        })
    }

    fn metrics_of(&self, of_cell: impl Fn(usize) -> bool) -> Vec<MetricSummary> {
        let mut sum = Sinks::new(&self.totals.registry, &self.totals.watch);
        for (cell, sinks) in self.totals.cells.iter().enumerate() {
            if let Some(sinks) = sinks
                && of_cell(cell)
            {
                sum.merge(sinks, &self.totals.registry);
            }
        }
        let mut summaries: Vec<MetricSummary> = self
            .metrics
            .iter()
            .zip(&sum.metrics)
            .zip(0..)
            .filter(|((_, sink), _)| !sink.is_empty())
            .map(|((metric, sink), id)| MetricSummary {
                name: self
                    .totals
                    .watch
                    .shown_metric(MetricId(id), &metric.name)
                    .into_owned(),
                kind: metric.kind,
                contains: metric.contains,
                extra: metric.extra,
                tags: Vec::new(),
                values: sink.values(self.elapsed),
                thresholds: Vec::new(),
            })
            .collect();
        summaries.sort_by(|a, b| (&a.name, a.extra).cmp(&(&b.name, b.extra)));
        summaries
    }
}
