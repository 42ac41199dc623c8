//! What a run records: the tags and sub-metrics that it needs.
//!
//! A sub-metric is the part of a metric whose samples have certain tags, as given by a selector. Selectors are compiled
//! once and split by the source of a tag's value. So recording a sample evaluates only conditions that the base tags do
//! not already decide.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plimsoll_plan::threshold::MetricSelector;
use plimsoll_plan::{Errors, Threshold};

use crate::builtin;
use crate::condition_set::ConditionSet;
use crate::mask::Mask;
use crate::metric_id::MetricId;
use crate::registry::Registry;
use crate::roster::Roster;
use crate::system_tags::{SystemTag, SystemTags};
use crate::tags::TagMap;
use crate::thresholds::{self, Judge};

/// The sub-metric that always exists if the run sets the tag.
const EXPECTED_RESPONSES: &str = "http_req_duration{expected_response:true}";

/// The settings from which a [`Watch`] is compiled.
#[derive(Clone, Debug, Default)]
pub struct WatchSettings {
    /// The thresholds. Their sub-metrics are recorded, in addition to the sub-metric that always is.
    pub thresholds: Vec<Threshold>,
    /// Metrics and sub-metrics that the summary shows even without samples and thresholds.
    pub watched: Vec<MetricSelector>,
    /// The tags that the program sets.
    pub system_tags: SystemTags,
    /// The tags of the run, for samples that belong to no user.
    pub run_tags: TagMap,
    /// Whether to pass every sample with its tags to outputs.
    pub outputs: bool,
    /// Whether individual samples include metrics that k6 does not have.
    pub output_extra: bool,
    /// Whether to record results by scenario and group, for the full summary.
    pub breakdown: bool,
    /// Whether to count HTTP exchanges by the request's name.
    pub by_name: bool,
    /// Whether to separate the seconds of the run, for a record of it.
    pub by_second: bool,
    /// The secrets that samples and names must not show, if the run has any.
    pub mask: Option<Arc<Mask>>,
}

/// [`WatchSettings`], compiled against a registry. All recorders and the totals of a run share it.
#[derive(Debug)]
pub struct Watch {
    pub(crate) system_tags: SystemTags,
    pub(crate) run_tags: TagMap,
    pub(crate) outputs: bool,
    pub(crate) output_extra: bool,
    pub(crate) breakdown: bool,
    pub(crate) by_name: bool,
    pub(crate) by_second: bool,
    pub(crate) mask: Option<Arc<Mask>>,
    pub(crate) conditions: Vec<Conditions>,
    pub(crate) submetrics: Vec<Submetric>,
    pub(crate) judges: Vec<Judge>,
    /// Metrics and sub-metrics that are shown even without samples and thresholds.
    pub(crate) watched: Vec<(MetricId, Option<usize>)>,
    /// Sub-metrics by metric. Shorter than the registry if the last metrics have none.
    by_metric: Vec<Vec<usize>>,
    /// Indices into `conditions` of the conditions that are checked for HTTP exchanges. The position in this list is
    /// the number of the bit in an exchange's mask.
    pub(crate) http_conditions: Vec<usize>,
    pub(crate) roster: Roster,
    /// Set after the warning about too many series, after which they are no longer counted.
    pub(crate) series_counted: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct Submetric {
    pub metric: MetricId,
    pub name: String,
    pub tags: Vec<(String, String)>,
    /// Index into [`Watch::conditions`].
    pub conditions: usize,
    /// Position in [`Watch::http_conditions`], if it is in that list.
    pub http_bit: Option<usize>,
}

/// Tags that a sample must have, all of them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conditions(Vec<Condition>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    key: String,
    /// The enabled system tag with that key.
    system: Option<SystemTag>,
    pub value: String,
    /// The value as a number, if it is a number.
    pub number: Option<u32>,
    /// The value as a boolean, if it is a boolean.
    pub truth: Option<bool>,
}

/// The tags that the program sets for one kind of event.
pub(crate) trait OwnTags {
    /// Whether the tag has the condition's value. `None` if this event does not have the tag.
    fn holds(&self, tag: SystemTag, condition: &Condition) -> Option<bool>;
}

/// Events that have only base tags.
pub(crate) struct NoOwnTags;

impl OwnTags for NoOwnTags {
    fn holds(&self, _: SystemTag, _: &Condition) -> Option<bool> {
        None
    }
}

impl Conditions {
    fn compile(tags: &[(String, String)], enabled: SystemTags) -> Conditions {
        let compile = |(key, value): &(String, String)| Condition {
            key: key.clone(),
            system: SystemTag::from_key(key).filter(|tag| enabled.has(*tag) && !tag.is_metadata()),
            value: value.clone(),
            number: value
                .parse()
                .ok()
                .filter(|number: &u32| number.to_string() == *value),
            truth: value.parse().ok(),
        };
        let mut conditions: Vec<Condition> = tags.iter().map(compile).collect();
        conditions.sort_by(|a, b| a.key.cmp(&b.key));
        Conditions(conditions)
    }

    /// Whether a sample has all the tags. Tags set by the program take precedence over the sample's own tags, which
    /// take precedence over the base tags.
    pub fn hold(&self, own: &impl OwnTags, extra: &[(&str, &str)], base: &TagMap) -> bool {
        self.0.iter().all(|condition| {
            if let Some(tag) = condition.system
                && let Some(holds) = own.holds(tag, condition)
            {
                return holds;
            }
            let from_extra = extra.iter().rev().find(|(key, _)| *key == condition.key);
            let value = from_extra
                .map(|(_, value)| *value)
                .or_else(|| base.get(&condition.key));
            value == Some(condition.value.as_str())
        })
    }

    /// Whether a sample that adds only the program's tags can have all the tags.
    fn may_hold(&self, base: &TagMap) -> bool {
        self.0.iter().all(|condition| {
            condition.system.is_some() || base.get(&condition.key) == Some(&condition.value)
        })
    }
}

impl Watch {
    /// Compiles settings. Every metric that thresholds name must already be registered.
    ///
    /// # Errors
    /// All thresholds on a metric that does not exist, or that does not have the requested value.
    pub fn new(registry: &Registry, settings: WatchSettings) -> Result<Watch, Errors> {
        let metrics = thresholds::resolve(&settings.thresholds, &settings.watched, registry)?;
        let mut watch = Watch {
            system_tags: settings.system_tags,
            run_tags: settings.run_tags,
            outputs: settings.outputs,
            output_extra: settings.output_extra,
            breakdown: settings.breakdown,
            by_name: settings.by_name,
            by_second: settings.by_second,
            conditions: Vec::new(),
            submetrics: Vec::new(),
            judges: Vec::new(),
            watched: Vec::new(),
            by_metric: Vec::new(),
            http_conditions: Vec::new(),
            roster: Roster::new(settings.mask.clone()),
            mask: settings.mask,
            series_counted: AtomicBool::new(false),
        };
        if settings.system_tags.has(SystemTag::ExpectedResponse) {
            watch.add_submetric(
                builtin::HTTP_REQ_DURATION,
                EXPECTED_RESPONSES,
                &[("expected_response".to_owned(), "true".to_owned())],
            );
        }
        for (selector, metric) in settings.watched.iter().zip(metrics.watched) {
            let submetric = watch.submetric_of(selector, metric);
            watch.watched.push((metric, submetric));
        }
        for (threshold, metric) in settings.thresholds.into_iter().zip(metrics.judged) {
            let submetric = watch.submetric_of(&threshold.metric, metric);
            watch.judges.push(Judge {
                threshold,
                metric,
                submetric,
            });
        }
        Ok(watch)
    }

    /// The index of the sub-metric for a selector. `None` for the metric itself.
    fn submetric_of(&mut self, selector: &MetricSelector, metric: MetricId) -> Option<usize> {
        if selector.tags.is_empty() {
            return None;
        }
        let inside = selector.source.split_once('{').map(|(_, inside)| inside);
        let inside = inside.and_then(|inside| inside.rsplit_once('}'));
        let inside = inside.map_or(selector.source.as_str(), |(inside, _)| inside.trim());
        let name = format!("{}{{{inside}}}", selector.name);
        Some(self.add_submetric(metric, &name, &selector.tags))
    }

    /// Adds a sub-metric unless it exists. Returns its index.
    fn add_submetric(&mut self, metric: MetricId, name: &str, tags: &[(String, String)]) -> usize {
        let known = self
            .submetrics
            .iter()
            .position(|submetric| submetric.metric == metric && submetric.name == name);
        if let Some(known) = known {
            return known;
        }
        let compiled = Conditions::compile(tags, self.system_tags);
        let conditions = self.conditions.iter().position(|known| *known == compiled);
        let conditions = conditions.unwrap_or_else(|| {
            self.conditions.push(compiled);
            self.conditions.len() - 1
        });
        let http_bit = builtin::is_http(metric).then(|| {
            let bit = self.http_conditions.iter().position(|&c| c == conditions);
            bit.unwrap_or_else(|| {
                self.http_conditions.push(conditions);
                self.http_conditions.len() - 1
            })
        });
        if self.by_metric.len() <= metric.index() {
            self.by_metric.resize_with(metric.index() + 1, Vec::new);
        }
        self.by_metric[metric.index()].push(self.submetrics.len());
        self.submetrics.push(Submetric {
            metric,
            name: name.to_owned(),
            tags: tags.to_vec(),
            conditions,
            http_bit,
        });
        self.submetrics.len() - 1
    }

    /// `text` without secrets.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.mask {
            Some(mask) => mask.apply(text),
            None => Cow::Borrowed(text),
        }
    }

    /// A metric's name without secrets.
    pub(crate) fn shown_metric<'t>(&self, metric: MetricId, name: &'t str) -> Cow<'t, str> {
        match &self.mask {
            Some(mask) => mask.apply_to_metric(metric, name),
            None => Cow::Borrowed(name),
        }
    }

    /// A sub-metric's name without secrets. The program chose the name of the one that always exists, so a
    /// script's secrets cannot occur in it.
    pub(crate) fn shown_name<'t>(&self, submetric: &'t Submetric) -> Cow<'t, str> {
        if submetric.name == EXPECTED_RESPONSES {
            return Cow::Borrowed(&submetric.name);
        }
        self.shown_metric(submetric.metric, &submetric.name)
    }

    /// A sub-metric's tags without secrets.
    pub(crate) fn shown_tags(&self, submetric: &Submetric) -> Vec<(String, String)> {
        if submetric.name == EXPECTED_RESPONSES {
            return submetric.tags.clone();
        }
        let tags = submetric.tags.iter();
        tags.map(|(key, value)| (self.shown(key).into_owned(), self.shown(value).into_owned()))
            .collect()
    }

    /// Whether every sample is passed to outputs.
    pub fn outputs(&self) -> bool {
        self.outputs
    }

    /// Whether results are kept by scenario and group.
    pub fn breakdown(&self) -> bool {
        self.breakdown
    }

    /// Whether HTTP exchanges are counted by the request's name.
    pub fn by_name(&self) -> bool {
        self.by_name
    }

    /// Whether the seconds of the run are separated.
    pub fn by_second(&self) -> bool {
        self.by_second
    }

    /// Indices of the sub-metrics of a metric.
    #[inline]
    pub(crate) fn submetrics_of(&self, metric: MetricId) -> &[usize] {
        self.by_metric
            .get(metric.index())
            .map_or(&[], Vec::as_slice)
    }

    /// The conditions that samples with these base tags may meet.
    pub(crate) fn may_hold(&self, base: &TagMap) -> ConditionSet {
        let mut words = vec![0; self.conditions.len().div_ceil(64)];
        for (index, conditions) in self.conditions.iter().enumerate() {
            if conditions.may_hold(base) {
                words[index / 64] |= 1 << (index % 64);
            }
        }
        ConditionSet(words)
    }
}
