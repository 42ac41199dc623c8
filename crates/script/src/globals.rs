//! The global objects and functions of scripts.

use plimsoll_k6::console;
use plimsoll_k6::metric_context;
use plimsoll_k6::modules::{text_codec, timers, webcrypto};
use plimsoll_k6::user::user;
use plimsoll_quickjs::{
    Assignment, Atom, Call, Class, Context, Entry, InImage, Returned, Thrown, Value,
};

use crate::program;

static FUNCTIONS: &[Entry] = &[
    Entry::function(c"open", 2, program::open),
    Entry::function(c"require", 1, program::require),
    Entry::function(c"setTimeout", 2, timers::set_timeout),
    Entry::function(c"clearTimeout", 1, timers::clear),
    Entry::function(c"setInterval", 2, timers::set_interval),
    Entry::function(c"clearInterval", 1, timers::clear),
    Entry::getter(c"TextEncoder", |context, _| made(context, "TextEncoder")),
    Entry::getter(c"TextDecoder", |context, _| made(context, "TextDecoder")),
];

/// Creates the text codecs on first use and replaces their getters, because few scripts use them.
fn made<'c>(context: &'c Context, name: &str) -> Returned<'c> {
    text_codec::define(context)?;
    context.global().get(name)
}

/// Defines the globals for the running user.
pub fn define(context: &Context) -> Result<(), Thrown> {
    let global = context.global();
    context.add_entries(&global, FUNCTIONS)?;
    let console = context.object()?;
    context.add_entries(&console, console::ENTRIES)?;
    global.define("console", console)?;
    match context.makes_image() {
        // It is not known yet which users will start from the image.
        true => global.define_getter("__VU", context.function("__VU", 0, read_vu_number)?)?,
        false => define_number(context)?,
    }
    global.define("__ENV", context.instance(Environment)?)?;
    global.define("global", context.global())?;
    text_codec::define(context)?;
    metric_context::install(context);
    webcrypto::define(context)
}

/// Defines `__VU` for the running user.
pub fn define_number(context: &Context) -> Result<(), Thrown> {
    let number = context.integer(u64::from(user(context).id.0));
    context.global().define("__VU", number)
}

fn read_vu_number<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    context.differs_per_user("the init code reads __VU");
    Ok(context.number(0))
}

/// Rejects changes to `__ENV` if the feature `freeze-env` is on.
fn check_not_frozen(context: &Context) -> Result<(), Thrown> {
    match user(context).common.freezes_env {
        true => Err(context.throw_type("__ENV cannot be changed: the feature freeze-env is on")),
        false => Ok(()),
    }
}

/// `__ENV`: all users share it until one of them changes its own copy.
struct Environment;

impl Class for Environment {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;

    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        let value = key.with_text(|name| {
            user(context).with_env(name, |value| value.map(|value| context.string(value)))
        });
        // A symbol's description may equal a variable's name. Symbols are rare, so they are tested last.
        if value.is_some() && key.is_symbol() {
            return Ok(None);
        }
        value.transpose()
    }

    fn set<'c>(
        &self,
        context: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        check_not_frozen(context)?;
        let value = value.to_text()?.into_string();
        user(context)
            .env_changes
            .borrow_mut()
            .insert(key.text(), Some(value));
        Ok(Assignment::Done)
    }

    fn delete<'c>(&self, context: &'c Context, key: &Atom<'c>) -> Result<bool, Thrown> {
        check_not_frozen(context)?;
        user(context)
            .env_changes
            .borrow_mut()
            .insert(key.text(), None);
        Ok(true)
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        let user = user(context);
        let changes = user.env_changes.borrow();
        let kept = user
            .common
            .env
            .keys()
            .filter(|name| !changes.contains_key(*name));
        let changed = changes
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(name, _)| name);
        Ok(context.keys(kept.chain(changed)))
    }
}
