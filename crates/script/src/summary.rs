//! `handleSummary`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use plimsoll_engine::{AbortReason, RunState, UserId};
use plimsoll_k6::user::{Common, Interrupted, Phase, RunOptions, User, Work};
use plimsoll_quickjs::{Context, Persistent, Thrown, Value};
use plimsoll_samples::{Mask, Recorder, Watch, WatchSettings};
use serde_json::Value as Json;

use crate::failure::ScriptError;
use crate::instance::{Argument, Instance, Outcome};
use crate::loaded::Program;
use crate::once;
use crate::users::within;

/// One output of `handleSummary`: destination and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryOutput {
    /// `stdout`, `stderr` or a path.
    pub place: String,
    pub bytes: Vec<u8>,
}

/// All outputs of `handleSummary`.
type Outputs = Vec<SummaryOutput>;

/// The result of `handleSummary`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandledSummary {
    /// Its outputs. `None` if there are none; then the default summary is shown.
    pub outputs: Option<Vec<SummaryOutput>>,
    /// Its argument, with the changes that it made. `None` if the script does not export it.
    pub data: Option<Json>,
}

/// How often to check for an interruption while `handleSummary` waits.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Program {
    /// Runs `handleSummary` with `data` in its own instance.
    ///
    /// # Errors
    /// If it threw an exception, timed out, was interrupted, or returned something that cannot be written.
    pub fn handle_summary(
        &self,
        data: &Json,
        interrupted: Interrupted,
    ) -> Result<HandledSummary, ScriptError> {
        if self.has_other("handleSummary") {
            return Err(ScriptError::Unusable(
                "exported identifier handleSummary must be a function".to_owned(),
            ));
        }
        let common = Arc::clone(&self.common);
        // As in k6, the init code runs again even if the script does not export the function.
        let data = self
            .has("handleSummary")
            .then(|| Arc::from(data.to_string()));
        let mut handled = once::on_own_thread(move || {
            once::block_on(summarize(common, data, interrupted)).map_err(|error| {
                let reason = plimsoll_machine::shortage::explain(&error);
                ScriptError::Unusable(format!("could not start an event loop: {reason}"))
            })?
        })?;
        if let Some(mask) = self.common.secrets.mask() {
            let outputs = handled.outputs.iter_mut().flatten();
            outputs.for_each(|output| output.mask_secrets(mask));
        }
        Ok(handled)
    }
}

impl SummaryOutput {
    /// Masks the secrets that the script has read, unless the output is binary.
    fn mask_secrets(&mut self, mask: &Mask) {
        if let Ok(text) = std::str::from_utf8(&self.bytes)
            && let Cow::Owned(masked) = mask.apply(text)
        {
            self.bytes = masked.into_bytes();
        }
    }
}

/// Tools for requests, checks and metrics after the run. Nobody reads the recorded samples: the summary is complete.
fn unrecorded_work(common: &Common, run: &RunOptions) -> Result<Work, ScriptError> {
    let settings = WatchSettings {
        mask: common.secrets.mask().cloned(),
        ..WatchSettings::default()
    };
    let watch = Watch::new(&common.registry, settings).map_err(|errors| {
        let errors = errors.0.into_iter().map(|error| error.to_string());
        ScriptError::Unusable(errors.collect::<Vec<_>>().join("; "))
    })?;
    let recorder = Recorder::new(Arc::clone(&common.registry), Arc::new(watch));
    let http = plimsoll_http::Shared::new(Arc::clone(&run.client));
    Ok(Work {
        recorder: Rc::new(recorder),
        run: Arc::new(RunState::new()),
        client: plimsoll_http::Client::new(http, 1),
    })
}

async fn summarize(
    common: Arc<Common>,
    data: Option<Arc<str>>,
    interrupted: Interrupted,
) -> Result<HandledSummary, ScriptError> {
    let run = common.run.get().cloned();
    let limit = run
        .as_ref()
        .map_or(Duration::from_secs(120), |run| run.summary_timeout);
    let work = match run.as_ref().filter(|_| data.is_some()) {
        Some(run) => Some(unrecorded_work(&common, run)?),
        None => None,
    };
    let mut user = User::new(UserId(0), common, work);
    user.interrupted = Some(Arc::clone(&interrupted));
    user.outlives_abort.set(true);
    let instance = Instance::start(user, None).await?;
    let (Some(data), Some(function)) = (data, instance.function("handleSummary")) else {
        return Ok(HandledSummary::default());
    };
    // As in k6, the samples of this function have no other tags.
    instance.user.tags.set_group("");
    let stop = plimsoll_engine::Stop::new();
    stop.set_deadline(plimsoll_clock::now() + limit);
    let changed = Rc::new(OnceCell::new());
    let argument = Argument::Kept(data, Rc::clone(&changed));
    let read = move |value: Value<'_>| {
        let data = changed_data(value.context(), &changed)?;
        let outputs = read_outputs(value)?;
        Ok(outputs.map(|outputs| HandledSummary { outputs, data }))
    };
    let call = instance.call(Phase::Summary, function, argument, Some(&stop), read);
    let noticed = async {
        while !interrupted() {
            plimsoll_engine::timer::sleep(POLL_INTERVAL).await;
        }
    };
    let (mut ending, mut noticed) = (pin!(within(limit, call)), pin!(noticed));
    let ended = poll_fn(|task| {
        if let Poll::Ready(ended) = ending.as_mut().poll(task) {
            return Poll::Ready(ended);
        }
        noticed.as_mut().poll(task).map(|()| None)
    });
    match ended.await {
        Some(Outcome::Interrupted) | None if interrupted() => {
            Err(ScriptError::Aborted(AbortReason::Signal))
        }
        Some(Outcome::Returned(handled)) => handled.map_err(ScriptError::Unusable),
        Some(Outcome::Threw(text) | Outcome::Rejected(text)) => Err(ScriptError::Exception(text)),
        Some(Outcome::Aborted(reason)) => Err(ScriptError::Aborted(reason)),
        Some(Outcome::Interrupted) | None => Err(ScriptError::Unusable(format!(
            "handleSummary() execution timed out after {}; give it more time by handleSummaryTimeout",
            plimsoll_units::duration::format(limit)
        ))),
    }
}

/// The argument of `handleSummary` with its changes. `None` if it cannot be represented as JSON.
fn changed_data(context: &Context, data: &OnceCell<Persistent>) -> Result<Option<Json>, Thrown> {
    let Some(data) = data.get() else {
        return Ok(None);
    };
    match data.restore(context).to_json() {
        Ok(text) => Ok(text.and_then(|text| serde_json::from_str(&text).ok())),
        Err(thrown) => {
            let exception = context.take_exception(thrown);
            match exception.is_uncatchable() {
                true => Err(exception.rethrow()),
                false => Ok(None),
            }
        }
    }
}

/// The returned outputs, or why they cannot be used.
fn read_outputs(value: Value<'_>) -> Result<Result<Option<Outputs>, String>, Thrown> {
    if value.is_nullish() {
        return Ok(Ok(None));
    }
    if !value.is_object() || value.is_array() {
        return Ok(Err(
            "handleSummary() must return an object of outputs, such as { stdout: text, 'summary.json': text }"
                .to_owned(),
        ));
    }
    let mut outputs = Vec::new();
    for (place, content) in value.entries()? {
        let bytes = match content.to_bytes() {
            Some(bytes) => bytes,
            None if content.is_nullish() => continue,
            None if content.is_string() => content.to_text()?.as_bytes().to_vec(),
            None => {
                return Ok(Err(format!(
                    "handleSummary() returned neither text nor an ArrayBuffer for {place:?}"
                )));
            }
        };
        outputs.push(SummaryOutput { place, bytes });
    }
    Ok(Ok(Some(outputs)))
}
