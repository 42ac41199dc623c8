//! Creates records for outputs. Records with equal tags share them.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_units::Moment;

use crate::base_tags::{Base, BaseTags};
use crate::builtin::*;
use crate::exchange::{GRPC_STATUS, HttpFacts};
use crate::mask::Masking;
use crate::metric_id::MetricId;
use crate::record::{Records, SampleRecord, SampleTags};
use crate::system_tags::SystemTag;
use crate::watch::{Condition, OwnTags, Watch};

/// Maximum number of cached tag sets of exchanges.
const MAX_CACHED_TAG_SETS: usize = 64;

/// One sample that does not belong to an exchange.
pub(crate) struct Sample<'a> {
    pub metric: MetricId,
    pub value: f64,
    pub base: &'a BaseTags,
    pub extra: &'a [(&'a str, &'a str)],
    /// When its event started, which determines its second.
    pub started: Moment,
    pub at: Moment,
}

/// The tag of a check result.
pub(crate) struct CheckTag<'a>(pub &'a str);

impl OwnTags for CheckTag<'_> {
    fn holds(&self, tag: SystemTag, condition: &Condition) -> Option<bool> {
        (tag == SystemTag::Check).then(|| condition.value == self.0)
    }
}

/// Caches the tags of recent exchanges, because most of them occur again.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    remembered: Vec<Option<Remembered>>,
}

#[derive(Debug)]
struct Remembered {
    base: Rc<Base>,
    /// All strings from which the tags are built, in the order of [`texts`].
    texts: Vec<Box<str>>,
    numbers: (u16, u32, Option<bool>),
    tags: Arc<SampleTags>,
}

impl Outgoing {
    /// Creates the records of all samples of an exchange.
    pub fn exchange(
        &mut self,
        facts: &HttpFacts,
        base: &BaseTags,
        watch: &Watch,
        masking: &Masking,
        records: &mut Records,
    ) {
        let tags = self.tags(facts, base, watch, masking);
        let mut record = |metric: MetricId, value: f64| {
            records.push(SampleRecord {
                metric,
                value,
                at: facts.done,
                started: Some(facts.started),
                scheduled: facts.scheduled,
                tags: Arc::clone(&tags),
                metadata: base.metadata.clone(),
            });
        };
        let phases = &facts.phases;
        let duration = ms(phases.sending + phases.waiting + phases.receiving);
        if facts.status >= GRPC_STATUS {
            return record(GRPC_REQ_DURATION, duration);
        }
        record(HTTP_REQS, 1.0);
        record(HTTP_REQ_DURATION, duration);
        record(
            HTTP_REQ_BLOCKED,
            ms(phases.queued + phases.looking_up + phases.connecting + phases.tls),
        );
        record(HTTP_REQ_CONNECTING, ms(phases.connecting));
        record(HTTP_REQ_TLS_HANDSHAKING, ms(phases.tls));
        record(HTTP_REQ_SENDING, ms(phases.sending));
        record(HTTP_REQ_WAITING, ms(phases.waiting));
        record(HTTP_REQ_RECEIVING, ms(phases.receiving));
        if let Some(expected) = facts.expected {
            record(HTTP_REQ_FAILED, if expected { 0.0 } else { 1.0 });
        }
        if !watch.output_extra {
            return;
        }
        let total = facts.done.since(facts.started);
        record(HTTP_REQ_LOOKING_UP, ms(phases.looking_up));
        if facts.failed() {
            record(HTTP_REQ_FAILED_DURATION, ms(total));
            return;
        }
        record(HTTP_REQ_TOTAL, ms(total));
        if let Some(scheduled) = facts.scheduled {
            record(HTTP_REQ_RESPONSE_TIME, ms(facts.done.since(scheduled)));
        }
    }

    /// Creates the record of any other sample.
    pub fn sample(
        &mut self,
        sample: &Sample,
        check: Option<&str>,
        watch: &Watch,
        masking: &Masking,
        records: &mut Records,
    ) {
        let &Sample {
            metric,
            value,
            base,
            extra,
            at,
            ..
        } = sample;
        if matches!(metric, ITERATION_SEND_LAG | GRPC_REQ_FAILED) && !watch.output_extra {
            return;
        }
        let tags = if extra.is_empty() && check.is_none() {
            base.inner.sample_tags(masking)
        } else {
            let mut tags = SampleTags::from_base(base.tags());
            set_extra(&mut tags, extra);
            if let Some(check) = check
                && watch.system_tags.has(SystemTag::Check)
            {
                tags.set(SystemTag::Check.key().into(), check);
            }
            Arc::new(masking.tags(tags))
        };
        records.push(SampleRecord {
            metric,
            value,
            at,
            started: None,
            scheduled: None,
            tags,
            metadata: base.metadata.clone(),
        });
    }

    fn tags(
        &mut self,
        facts: &HttpFacts,
        base: &BaseTags,
        watch: &Watch,
        masking: &Masking,
    ) -> Arc<SampleTags> {
        self.remembered.resize_with(MAX_CACHED_TAG_SETS, || None);
        let slot = slot(facts);
        let Some(place) = self.remembered.get_mut(slot) else {
            return Arc::new(masking.tags(exchange_tags(facts, base, watch)));
        };
        if let Some(known) = place
            && Rc::ptr_eq(&known.base, &base.inner)
            && known.numbers == numbers(facts)
            && texts(facts).eq(known.texts.iter().map(|text| &**text))
        {
            return Arc::clone(&known.tags);
        }
        let tags = Arc::new(masking.tags(exchange_tags(facts, base, watch)));
        *place = Some(Remembered {
            base: Rc::clone(&base.inner),
            texts: texts(facts).map(Box::from).collect(),
            numbers: numbers(facts),
            tags: Arc::clone(&tags),
        });
        tags
    }
}

fn exchange_tags(facts: &HttpFacts, base: &BaseTags, watch: &Watch) -> SampleTags {
    let mut tags = SampleTags::from_base(base.tags());
    set_extra(&mut tags, facts.extra);
    facts.for_each_tag(|tag, value| {
        if watch.system_tags.has(tag) {
            tags.set(tag.key().into(), &value);
        }
    });
    if facts.status >= GRPC_STATUS {
        set_call(&mut tags, facts, watch);
    }
    tags
}

/// Sets the tags that k6 gives to gRPC calls. The URL is `ADDRESS/SERVICE/METHOD`.
fn set_call(tags: &mut SampleTags, facts: &HttpFacts, watch: &Watch) {
    let status = (facts.status - GRPC_STATUS).to_string();
    let path = facts.url.find('/').map_or("", |start| &facts.url[start..]);
    let (service, method) = path.rsplit_once('/').unwrap_or_default();
    for (tag, value) in [
        (SystemTag::Status, status.as_str()),
        (SystemTag::Name, path),
        (SystemTag::Service, service.trim_start_matches('/')),
        (SystemTag::Method, method),
    ] {
        if watch.system_tags.has(tag) {
            tags.set(tag.key().into(), value);
        }
    }
}

fn set_extra(tags: &mut SampleTags, extra: &[(&str, &str)]) {
    for (key, value) in extra {
        tags.set(Cow::Owned((*key).to_owned()), value);
    }
}

fn numbers(facts: &HttpFacts) -> (u16, u32, Option<bool>) {
    (facts.status, facts.error_code, facts.expected)
}

fn texts<'a>(facts: &HttpFacts<'a>) -> impl Iterator<Item = &'a str> {
    let named = if facts.name.is_some() { "named" } else { "" };
    [
        facts.method,
        named,
        facts.name.unwrap_or(facts.url),
        facts.proto,
        facts.subproto,
        facts.tls_version,
        facts.tls_cipher_suite,
        facts.ocsp_status,
        facts.error,
        facts.ip,
    ]
    .into_iter()
    .chain(facts.extra.iter().flat_map(|&(key, value)| [key, value]))
}

fn slot(facts: &HttpFacts) -> usize {
    use std::hash::BuildHasher;
    let key = (facts.name.unwrap_or(facts.url), facts.method, facts.status);
    rustc_hash::FxBuildHasher.hash_one(key) as usize % MAX_CACHED_TAG_SETS
}

fn ms(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}
