//! `k6/secrets`: secrets from the sources that `--secret-source` names.

use plimsoll_quickjs::{Call, Class, Context, Entry, Returned};

use super::octets::text_or_empty;
use super::{BuiltIn, Shape};
use crate::user::user;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/secrets",
    shape: Shape::DefaultObject,
    entries: &[
        Entry::function(c"get", 1, |context, call| {
            context.settled(get(context, call, None))
        }),
        Entry::function(c"source", 1, |context, call| {
            context.instance(Source(text_or_empty(&call.argument(0))?))
        }),
    ],
    made: &[],
    make: None,
};

/// `secrets.source(name)`.
struct Source(String);

impl Class for Source {
    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"get", 1, |context, call| {
            let this = call.this();
            let Some(source) = this.instance::<Source>() else {
                return Err(context.throw_type("get must be called on a source of secrets"));
            };
            context.settled(get(context, call, Some(&source.0)))
        })];
        ENTRIES
    }
}

fn get<'c>(context: &'c Context, call: &Call<'c>, source: Option<&str>) -> Returned<'c> {
    let key = text_or_empty(&call.argument(0))?;
    match user(context).common.secrets.get(source, &key) {
        Ok(secret) => context.string(&secret),
        Err(reason) => Err(context.throw(context.instance(Failure(reason))?)),
    }
}

/// Why there is no secret. As in k6 not an `Error`: its text is the reason alone, and so is what `error()` returns.
struct Failure(String);

impl Class for Failure {
    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"error", 0, reason),
            Entry::function(c"toString", 0, reason),
        ];
        ENTRIES
    }
}

fn reason<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match call.this().instance::<Failure>() {
        Some(failure) => context.string(&failure.0),
        None => Err(context.throw_type("not the reason why there is no secret")),
    }
}
