//! `k6/execution`: information about the run for scripts.

use plimsoll_engine::AbortReason;
use plimsoll_quickjs::{
    Assignment, Atom, Call, Class, Context, Entry, InImage, Returned, Thrown, Value,
};

use super::{BuiltIn, Shape};
use crate::user::{Phase, User, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/execution",
    shape: Shape::DefaultObject,
    entries: &[],
    made: &["instance", "scenario", "test", "vu"],
    make: Some(make),
};

fn make<'c>(context: &'c Context, exports: &Value<'c>) -> Result<(), Thrown> {
    let instance = getters(
        context,
        &[
            (
                "currentTestRunDuration",
                context.function("get", 0, run_duration)?,
            ),
            (
                "iterationsCompleted",
                context.function("get", 0, iterations_completed)?,
            ),
            (
                "iterationsInterrupted",
                context.function("get", 0, iterations_interrupted)?,
            ),
            ("vusActive", context.function("get", 0, users_active)?),
            (
                "vusInitialized",
                context.function("get", 0, users_initialized)?,
            ),
        ],
    )?;
    exports.define("instance", instance)?;
    let scenario = getters(
        context,
        &[
            ("name", context.function("get", 0, scenario_name)?),
            ("executor", context.function("get", 0, scenario_executor)?),
            ("startTime", context.function("get", 0, scenario_start)?),
            ("progress", context.function("get", 0, scenario_progress)?),
            (
                "iterationInInstance",
                context.function("get", 0, iteration_in_instance)?,
            ),
            (
                "iterationInTest",
                context.function("get", 0, iteration_in_test)?,
            ),
        ],
    )?;
    exports.define("scenario", scenario)?;
    let test = getters(
        context,
        &[("options", context.function("get", 0, options)?)],
    )?;
    test.define("abort", context.function("abort", 1, abort)?)?;
    test.define("fail", context.function("fail", 1, fail)?)?;
    exports.define("test", test)?;
    let vu = getters(
        context,
        &[
            ("idInInstance", context.function("get", 0, id)?),
            ("idInTest", context.function("get", 0, id_in_test)?),
            (
                "iterationInInstance",
                context.function("get", 0, iteration_in_user)?,
            ),
            (
                "iterationInScenario",
                context.function("get", 0, iteration_in_scenario)?,
            ),
        ],
    )?;
    // As in k6, an assignment to these two has no effect.
    static LIVE: &[Entry] = &[
        Entry::accessor(c"tags", tags, |context, _| Ok(context.undefined())),
        Entry::accessor(c"metrics", metrics, |context, _| Ok(context.undefined())),
    ];
    context.add_entries(&vu, LIVE)?;
    exports.define("vu", vu)
}

/// An object whose properties are computed at each access.
fn getters<'c>(context: &'c Context, list: &[(&str, Value<'c>)]) -> Returned<'c> {
    let object = context.object()?;
    for (name, getter) in list {
        object.define_getter(*name, getter.clone())?;
    }
    Ok(object)
}

/// Throws in the init code, where no user is running. `what` names the information.
fn running<'c>(context: &'c Context, what: &str) -> Result<&'c User, Thrown> {
    let user = user(context);
    if user.phase() == Phase::Init {
        return Err(context.throw_plain(format!(
            "getting {what} in the init context is not supported"
        )));
    }
    Ok(user)
}

/// Throws if the script reads instance information before or after the run. As in k6, the init code of the user that
/// runs setup may read it.
fn during_run(context: &Context) -> Result<&User, Thrown> {
    let user = user(context);
    let is_running = match user.phase() {
        Phase::Setup | Phase::Iteration => true,
        Phase::Init => user.is_for_setup(),
        _ => false,
    };
    if !is_running {
        return Err(context
            .throw_plain("getting instance information in the init context is not supported"));
    }
    Ok(user)
}

fn run_duration<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let user = during_run(context)?;
    let started = user.work().and_then(|work| work.run.started());
    let millis = started.map_or(0.0, |started| {
        plimsoll_clock::now().since(started).as_nanos() as f64 / 1e6
    });
    Ok(context.number(millis))
}

fn counter<'c>(
    context: &'c Context,
    read: impl FnOnce(&plimsoll_engine::RunState) -> f64,
) -> Returned<'c> {
    let user = during_run(context)?;
    Ok(context.number(user.work().map_or(0.0, |work| read(&work.run))))
}

fn iterations_completed<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    counter(context, |run| run.iterations_completed() as f64)
}

fn iterations_interrupted<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    counter(context, |run| run.iterations_interrupted() as f64)
}

fn users_active<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    counter(context, |run| f64::from(run.users_active()))
}

fn users_initialized<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    counter(context, |run| f64::from(run.users_initialized()))
}

fn with_scenario<'c>(
    context: &'c Context,
    read: impl FnOnce(&plimsoll_engine::ScenarioContext) -> Returned<'c>,
) -> Returned<'c> {
    let user = user(context);
    let scenario = user.scenario.borrow().clone();
    match scenario {
        Some(scenario) if user.phase() == Phase::Iteration => read(&scenario),
        _ => Err(context.throw_plain(
            "getting scenario information outside of the VU context is not supported",
        )),
    }
}

fn scenario_name<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    with_scenario(context, |scenario| {
        context.string(&scenario.state.scenario.name)
    })
}

fn scenario_executor<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    with_scenario(context, |scenario| {
        context.string(scenario.state.scenario.executor.kind().name())
    })
}

/// The current time in milliseconds since 1970.
fn scenario_start<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    with_scenario(context, |scenario| {
        let ago = scenario.state.started().map_or(0.0, |start| {
            plimsoll_clock::now().since(start).as_secs_f64() * 1e3
        });
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0.0, |since| since.as_secs_f64() * 1e3);
        Ok(context.number((now - ago).round()))
    })
}

fn scenario_progress<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    with_scenario(context, |scenario| {
        Ok(context.number(scenario.state.progress(plimsoll_clock::now())))
    })
}

fn of_iteration<'c>(
    context: &'c Context,
    read: impl FnOnce(&plimsoll_engine::Iteration) -> u64,
) -> Returned<'c> {
    let number = user(context).iteration.borrow().as_ref().map(read);
    Ok(context.number(number.unwrap_or(0) as f64))
}

fn iteration_in_instance<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    with_scenario(context, |_| of_iteration(context, |it| it.in_instance))
}

fn iteration_in_test<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    with_scenario(context, |_| of_iteration(context, |it| it.in_test))
}

fn iteration_in_user<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    of_user(context)?;
    of_iteration(context, |it| it.in_user)
}

fn iteration_in_scenario<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    of_user(context)?;
    of_iteration(context, |it| it.in_scenario)
}

fn of_user(context: &Context) -> Result<&User, Thrown> {
    running(context, "VU information")
}

/// The live object stored under that name. It is created on first use.
fn live<'c, T: Class>(context: &'c Context, name: &str, made: T) -> Returned<'c> {
    let user = of_user(context)?;
    if let Some(kept) = user.modules.get(name) {
        return Ok(kept.restore(context));
    }
    let object = context.instance(made)?;
    let kept = plimsoll_quickjs::Persistent::new(&object);
    user.modules.insert(name.to_owned(), kept);
    Ok(object)
}

fn tags<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    live(context, "k6/execution tags", LiveTags)
}

fn metadata<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    live(context, "k6/execution metadata", LiveMetadata)
}

fn metrics<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    const KEY: &str = "k6/execution metrics";
    let user = of_user(context)?;
    if let Some(kept) = user.modules.get(KEY) {
        return Ok(kept.restore(context));
    }
    let metrics = getters(
        context,
        &[
            ("tags", context.function("get", 0, tags)?),
            ("metadata", context.function("get", 0, metadata)?),
        ],
    )?;
    let kept = plimsoll_quickjs::Persistent::new(&metrics);
    user.modules.insert(KEY.to_owned(), kept);
    Ok(metrics)
}

fn id<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    Ok(context.number(f64::from(of_user(context)?.id.0)))
}

/// The user's number among the users of all segments of the test.
fn id_in_test<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let user = of_user(context)?;
    let id = u64::from(user.id.0);
    let scenario = user.scenario.borrow();
    let place = scenario.as_ref().and_then(|scenario| {
        let stripe = &scenario.state.scenario.stripe;
        stripe.place(id.checked_sub(1)?)
    });
    // In setup and teardown, both numbers of the user are 0.
    Ok(context.number(place.map_or(id, |place| place + 1) as f64))
}

/// The consolidated options, frozen.
fn options<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let user = running(context, "test options")?;
    let Some(run) = user.common.run.get() else {
        return Ok(context.undefined());
    };
    const KEY: &str = "k6/execution options";
    if let Some(options) = user.modules.get(KEY) {
        return Ok(options.restore(context));
    }
    let options = context.parse_json(&run.options, "options")?;
    freeze_deeply(&options)?;
    user.modules
        .insert(KEY.to_owned(), plimsoll_quickjs::Persistent::new(&options));
    Ok(options)
}

fn freeze_deeply(value: &Value<'_>) -> Result<(), Thrown> {
    if value.is_object() {
        for (_, part) in value.entries()? {
            freeze_deeply(&part)?;
        }
        value.freeze()?;
    }
    Ok(())
}

/// Aborts the whole run.
fn abort<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let reason = call.argument(0);
    let reason = if reason.is_undefined() {
        String::new()
    } else {
        reason.to_text()?.into_string()
    };
    let text = match reason.as_str() {
        "" => "test aborted".to_owned(),
        reason => format!("test aborted: {reason}"),
    };
    let thrown = context.throw_uncatchable("test aborted");
    let exception = context.take_exception(thrown);
    let frames = exception.frames();
    let text = match frames.iter().find(|frame| frame.place != "native") {
        Some(frame) => format!("{text} at {frame}"),
        None => text,
    };
    *user(context).abort.borrow_mut() = Some(AbortReason::ByScript(text));
    Err(exception.rethrow())
}

/// Marks the run as failed without stopping it.
fn fail<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = running(context, "test information")?;
    let reason = call.argument(0);
    let text = match reason.is_nullish() {
        true => "test marked as failed".to_owned(),
        false => format!("test marked as failed: {}", &*reason.to_text()?),
    };
    user.log(log::Level::Error, &text);
    if let Some(work) = user.work() {
        work.run.mark_failed();
    }
    Ok(context.undefined())
}

/// `exec.vu.metrics.tags`: the tags of all later samples of the user.
struct LiveTags;

impl Class for LiveTags {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;

    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        if key.is_symbol() {
            return Ok(None);
        }
        let value = user(context).tags.get(&key.text());
        value.map(|value| context.string(&value)).transpose()
    }

    fn set<'c>(
        &self,
        context: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        let name = key.text();
        let value = plain_text(context, "tag", &name, value)?;
        user(context).tags.set(&name, &value);
        Ok(Assignment::Done)
    }

    fn delete<'c>(&self, context: &'c Context, key: &Atom<'c>) -> Result<bool, Thrown> {
        user(context).tags.remove(&key.text());
        Ok(true)
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        Ok(context.keys(user(context).tags.keys()))
    }
}

/// `exec.vu.metrics.metadata`: metadata that outputs receive with each sample.
struct LiveMetadata;

impl Class for LiveMetadata {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;

    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        if key.is_symbol() {
            return Ok(None);
        }
        let value = user(context).tags.metadata().get(&key.text()).cloned();
        value.map(|value| context.string(&value)).transpose()
    }

    fn set<'c>(
        &self,
        context: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        let name = key.text();
        let value = plain_text(context, "metadata", &name, value)?;
        user(context).tags.set_metadata(&name, value);
        Ok(Assignment::Done)
    }

    fn delete<'c>(&self, context: &'c Context, key: &Atom<'c>) -> Result<bool, Thrown> {
        user(context).tags.remove_metadata(&key.text());
        Ok(true)
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        Ok(context.keys(user(context).tags.metadata().keys()))
    }
}

/// Checks the type of a tag or of a metadata value; `kind` tells which of the two it is.
fn plain_text<'c>(
    context: &'c Context,
    kind: &str,
    name: &str,
    value: &Value<'c>,
) -> Result<String, Thrown> {
    if value.is_nullish() || value.is_object() || value.is_symbol() {
        return Err(context.throw_type(format!(
            "invalid value for metric {kind} '{name}': only String, Boolean and Number types are accepted as a metric \
             {}",
            if kind == "tag" { "tag values" } else { "metadata value" }
        )));
    }
    Ok(value.to_text()?.into_string())
}
