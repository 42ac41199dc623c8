//! `k6/metrics`: custom metrics of scripts.

use log::Level;
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};
use plimsoll_samples::{Contains, Kind, MetricId};

use super::octets::text_or_empty;
use super::{BuiltIn, Shape, link_constructor};
use crate::user::{Phase, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/metrics",
    shape: Shape::Names,
    entries: &[],
    made: &["Counter", "Gauge", "Rate", "Trend"],
    make: Some(make),
};

fn make(context: &Context, exports: &Value<'_>) -> Result<(), Thrown> {
    let counter = context.constructor("Counter", 1, |context, call| {
        declare::<0>(context, call, Kind::Counter)
    })?;
    link_constructor::<Metric<0>>(context, &counter)?;
    exports.define("Counter", counter)?;
    let gauge = context.constructor("Gauge", 1, |context, call| {
        declare::<1>(context, call, Kind::Gauge)
    })?;
    link_constructor::<Metric<1>>(context, &gauge)?;
    exports.define("Gauge", gauge)?;
    let rate = context.constructor("Rate", 1, |context, call| {
        declare::<2>(context, call, Kind::Rate)
    })?;
    link_constructor::<Metric<2>>(context, &rate)?;
    exports.define("Rate", rate)?;
    let trend = context.constructor("Trend", 1, |context, call| {
        declare::<3>(context, call, Kind::Trend)
    })?;
    link_constructor::<Metric<3>>(context, &trend)?;
    exports.define("Trend", trend)
}

/// A declared metric; `KIND` distinguishes the four constructors.
struct Metric<const KIND: u8> {
    name: String,
    id: MetricId,
}

impl<const KIND: u8> Class for Metric<KIND> {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        const { &[Entry::function(c"add", 2, add::<KIND>)] }
    }
}

/// `new Counter(name, isTime?)` and the other constructors.
fn declare<'c, const KIND: u8>(context: &'c Context, call: &Call<'c>, kind: Kind) -> Returned<'c> {
    let user = user(context);
    if user.phase() != Phase::Init {
        return Err(context.throw_plain("metrics must be declared in the init context"));
    }
    let name = text_or_empty(&call.argument(0))?;
    let contains = if call.argument(1).is_truthy() {
        Contains::Time
    } else {
        Contains::Default
    };
    let id = user
        .common
        .registry
        .register(&name, kind, contains)
        .map_err(|error| context.throw_plain(error.to_string()))?;
    let shown = context.string(&name)?;
    let metric = context.instance(Metric::<KIND> { name, id })?;
    metric.define_fixed("name", shown)?;
    Ok(metric)
}

/// `metric.add(value, tags?)`: returns whether the value was accepted.
fn add<'c, const KIND: u8>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let Some(metric) = this.instance::<Metric<KIND>>() else {
        return Err(context.throw_type("add must be called on a metric: write `metric.add(value)`"));
    };
    let user = user(context);
    let work = user.working(context, "Adding to metrics")?;
    let Some(base) = user.base_tags() else {
        return Ok(context.bool(false));
    };
    if call.count() == 0 {
        let refused = format!(
            "no value was provided for metric '{}', a number or a boolean value is expected",
            metric.name
        );
        return refuse(context, &refused);
    }
    let value = call.argument(0);
    let number = if value.is_null() {
        f64::NAN
    } else {
        match value.to_number()? {
            // As in k6: `'0'` and `[]` count as 1, because they are true.
            0.0 if value.is_truthy() => 1.0,
            number => number,
        }
    };
    if number.is_nan() {
        let refused = format!(
            "'{}' is an invalid value for metric '{}', a number or a boolean value is expected",
            &*value.to_text()?,
            metric.name
        );
        return refuse(context, &refused);
    }
    let tags = own_tags(context, &metric.name, &call.argument(1))?;
    let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    // NaN was reported above, and no other error is possible.
    let taken = work
        .recorder
        .add(metric.id, number, &base, &tags, plimsoll_clock::now())
        .is_ok();
    Ok(context.bool(taken))
}

/// Logs that a value was rejected, or throws if the options require it.
fn refuse<'c>(context: &'c Context, message: &str) -> Returned<'c> {
    let user = user(context);
    if user.http_options().throw {
        return Err(context.throw_plain(message));
    }
    user.log(Level::Warn, message);
    Ok(context.bool(false))
}

fn own_tags<'c>(
    context: &'c Context,
    metric: &str,
    tags: &Value<'c>,
) -> Result<Vec<(String, String)>, Thrown> {
    if !tags.is_object() {
        return Ok(Vec::new());
    }
    let mut own = Vec::new();
    for (name, value) in tags.entries()? {
        if !(value.is_string() || value.is_number() || value.is_bool()) {
            return Err(context.throw_plain(format!(
                "cannot add tags for the '{metric}' custom metric: invalid value for metric tag \
                 '{name}': only String, Boolean and Number types are accepted as a metric tag values"
            )));
        }
        own.push((name, value.to_text()?.into_string()));
    }
    Ok(own)
}
