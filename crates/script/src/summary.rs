use std::rc::Rc;

use engine::{Stop, UserId};
use serde_json::Value as Json;

use crate::failure::ScriptError;
use crate::instance::{Instance, Outcome, call_to_end, exported};
use crate::loaded::Program;
use crate::quickjs::{Context, Thrown, Value};
use crate::user::{Phase, User};

/// Something that `handleSummary` wants written: where, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryOutput {
    /// `stdout`, `stderr` or a path.
    pub place: String,
    pub bytes: Vec<u8>,
}

impl Program {
    /// Runs `handleSummary` with `data`, in an instance of its own. None if
    /// the script wants nothing written, so that the summary of ours is shown.
    ///
    /// # Errors
    /// What it threw, or that it did not end in time.
    pub fn handle_summary(&self, data: &Json) -> Result<Option<Vec<SummaryOutput>>, ScriptError> {
        if !self.has("handleSummary") {
            // The init code runs for the summary all the same, as in k6.
            return self.run_summary(None);
        }
        self.run_summary(Some(data.to_string()))
    }

    fn run_summary(&self, data: Option<String>) -> Result<Option<Vec<SummaryOutput>>, ScriptError> {
        let common = std::sync::Arc::clone(&self.common);
        crate::once::block_on(async move {
            let timeout = common.run.get().map(|run| run.summary_timeout).unwrap_or_default();
            let instance = Instance::start(Rc::new(User::new(UserId(0), common, None))).await?;
            let Some(data) = data else { return Ok(None) };
            instance.user.set_phase(Phase::Summary);
            let namespace = instance.namespace();
            let stop = Stop::new();
            stop.adopt_task().await;
            let work = instance.run(&stop, move |context| {
                let function = exported(&namespace.restore(context), "handleSummary")?;
                let argument = context.parse_json(&data, "data")?;
                let result = call_to_end(context, &function, &[&argument])?;
                outputs(context, &result)
            });
            let limit = engine::timer::sleep(timeout);
            match crate::users::within(limit, work, &stop).await {
                Some(Outcome::Returned(outputs)) => Ok(outputs),
                Some(Outcome::Threw(text)) => Err(ScriptError::Exception(text)),
                Some(Outcome::Aborted(reason)) => Err(ScriptError::Aborted(reason)),
                Some(Outcome::Interrupted) | None => Err(ScriptError::Exception(format!(
                    "handleSummary() execution timed out after {} seconds",
                    timeout.as_secs()
                ))),
            }
        })
        .map_err(|error| ScriptError::Exception(format!("cannot start an event loop: {error}")))?
    }
}

fn outputs<'c>(
    context: &'c Context,
    result: &Value<'c>,
) -> Result<Option<Vec<SummaryOutput>>, Thrown> {
    if result.is_nullish() {
        return Ok(None);
    }
    if !result.is_object() {
        return Err(context.throw_type("handleSummary() should return a map with string keys"));
    }
    let mut outputs = Vec::new();
    for (place, value) in result.entries()? {
        if value.is_nullish() {
            continue;
        }
        let bytes = match value.to_bytes() {
            Some(bytes) => bytes,
            None if value.is_string() => value.to_text()?.as_bytes().to_vec(),
            None => {
                return Err(context.throw_type(format!(
                    "handleSummary() returned for {place:?} what is neither text nor an ArrayBuffer"
                )));
            }
        };
        outputs.push(SummaryOutput { place, bytes });
    }
    Ok(Some(outputs))
}
