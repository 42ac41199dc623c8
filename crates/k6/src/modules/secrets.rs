//! `k6/secrets`: secrets from the sources that `--secret-source` configures.

use std::sync::Arc;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned};

use super::octets::text_or_empty;
use super::{BuiltIn, Shape};
use crate::secrets::Found;
use crate::user::user;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/secrets",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"get", 1, |context, call| get(context, call, None)),
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
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"get", 1, |context, call| {
            let this = call.this();
            let Some(source) = this.instance::<Source>() else {
                return Err(context.throw_type("get must be called on a source of secrets"));
            };
            get(context, call, Some(&source.0))
        })];
        ENTRIES
    }
}

/// A promise of the secret.
fn get<'c>(context: &'c Context, call: &Call<'c>, source: Option<&str>) -> Returned<'c> {
    let user = user(context);
    let secrets = &user.common.secrets;
    let key = match text_or_empty(&call.argument(0)) {
        Ok(key) => key,
        Err(thrown) => return context.settled(Err(thrown)),
    };
    let place = match secrets.get(source, &key) {
        Ok(Found::Here(secret)) => return context.settled(context.string(&secret)),
        Ok(Found::Remote(place)) => place,
        Err(reason) => return context.settled(fail(context, reason)),
    };
    let secrets = Arc::clone(secrets);
    let settings = user.run.as_ref().map(|run| Arc::clone(&run.client));
    let operation = async move {
        let settings = settings.unwrap_or_default();
        secrets.fetch(place, &key, &settings).await
    };
    user.event_loop
        .promise(context, operation, |context, fetched| match fetched {
            Ok(secret) => context.string(&secret),
            Err(reason) => fail(context, reason),
        })
}

fn fail(context: &Context, reason: String) -> Returned<'_> {
    Err(context.throw(context.instance(Failure(reason))?))
}

/// Why there is no secret. As in k6, this is not an `Error`: as a string it is only the reason, and `error()` returns
/// the same.
struct Failure(String);

impl Class for Failure {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

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
