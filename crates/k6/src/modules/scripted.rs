//! Modules whose objects are written in JavaScript, based on a few functions in Rust.
//!
//! The script is compiled once per process. Only users that import the module load it.

use std::sync::OnceLock;

use plimsoll_quickjs::{Bytecode, Call, Context, Entry, Returned, SourceText, Thrown, Value};
use plimsoll_samples::{Contains, Kind};

use super::sample_tags::SampleTags;
use crate::user::user;

/// A metric: its name, its kind and its unit.
pub type Metric = (&'static str, Kind, Contains);

/// The source of a module.
pub struct Scripted {
    pub name: &'static str,
    pub metrics: &'static [Metric],
    /// A script that evaluates to a function of `native`. This function returns an object of all exports.
    pub script: &'static str,
    /// The functions that the script calls, as properties of `native`.
    pub native: &'static [Entry],
    pub exports: &'static [&'static str],
    pub code: OnceLock<Bytecode>,
}

impl Scripted {
    /// Defines the exports of the module for this user.
    ///
    /// # Errors
    /// If a metric with the same name and another kind exists.
    pub fn make<'c>(&self, context: &'c Context, exports: &Value<'c>) -> Result<(), Thrown> {
        register(context, self.metrics)?;
        let code = match self.code.get() {
            Some(code) => code,
            None => {
                let compiled =
                    Bytecode::of_script(context, self.script, self.name, SourceText::Dropped)?;
                self.code.get_or_init(|| compiled)
            }
        };
        let native = context.object()?;
        context.add_entries(&native, self.native)?;
        let made = context.run(code)?.call(&context.undefined(), &[&native])?;
        for name in self.exports {
            exports.define(*name, made.get(*name)?)?;
        }
        Ok(())
    }
}

/// Declares the metrics of a module.
///
/// # Errors
/// If a metric with the same name and another kind exists.
pub fn register(context: &Context, metrics: &[Metric]) -> Result<(), Thrown> {
    let registry = &user(context).common.registry;
    for (name, kind, contains) in metrics {
        registry
            .register(name, *kind, *contains)
            .map_err(|error| context.throw_plain(error.to_string()))?;
    }
    Ok(())
}

/// `sample(metric, value, tags)`: records a value of a declared metric.
pub fn sample<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let name = call.argument(0).to_text()?;
    let value = call.argument(1).to_number()?;
    let tags = SampleTags::read(&call.argument(2))?.map_err(|error| context.throw_plain(error))?;
    if let (Some(work), Some(base), Some(metric)) = (
        user.work(),
        user.base_tags(),
        user.common.registry.find(&name),
    ) {
        // A value that is not a number is left out, because it means that there is no value.
        let _ = work.recorder.add(
            metric,
            value,
            &base,
            &tags.borrowed(),
            plimsoll_clock::now(),
        );
    }
    Ok(context.undefined())
}
