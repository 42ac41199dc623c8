//! The global `crypto`: random values, and `crypto.subtle` with digests, HMAC, AES, PBKDF2, elliptic curves
//! and RSA.
//!
//! Implements the Web Cryptography API of the W3C. All work is done during the call, so the promises are already
//! settled when they are returned. Only RSA keys are generated on another thread, because that takes long.

mod algorithm;
mod asymmetric;
mod jwk;
mod key;
mod material;
mod subtle;

use plimsoll_quickjs::{Call, Context, Entry, Returned, Thrown, Value};

use super::link_constructor;

/// Defines `crypto` and `CryptoKey` on the global object.
pub fn define(context: &Context) -> Result<(), Thrown> {
    static CRYPTO: &[Entry] = &[
        Entry::function(c"getRandomValues", 1, get_random_values),
        Entry::function(c"randomUUID", 0, random_uuid),
    ];
    let crypto = context.object()?;
    context.add_entries(&crypto, CRYPTO)?;
    let subtle = context.object()?;
    context.add_entries(&subtle, subtle::ENTRIES)?;
    crypto.define("subtle", subtle)?;
    let constructor = context.constructor("CryptoKey", 0, |context, _| {
        Err(context.throw_type("a CryptoKey is made by crypto.subtle.generateKey or importKey"))
    })?;
    link_constructor::<key::Key>(context, &constructor)?;
    crypto.define("CryptoKey", constructor.clone())?;
    let global = context.global();
    global.define_hidden("CryptoKey", constructor)?;
    global.define("crypto", crypto)
}

/// Cryptographically secure random bytes.
fn random(context: &Context, count: usize) -> Result<Vec<u8>, Thrown> {
    context.differs_per_user(super::crypto::RANDOM);
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes)
        .map_err(|error| context.throw_plain(format!("no random bytes available: {error}")))?;
    Ok(bytes)
}

/// `getRandomValues(array)`: fills an array of integers and returns it.
fn get_random_values<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    const MAX_BYTES: usize = 65_536;
    let array = call.argument(0);
    if array.is_nullish() {
        return Err(context.throw_type("getRandomValues needs a typed array of integers"));
    }
    let length = array
        .with_bytes(|bytes| bytes.len())
        .filter(|_| !array.is_array_buffer());
    let Some(length) = length.filter(|_| holds_integers(&array)) else {
        return Err(context.throw_plain("getRandomValues needs a typed array of integers"));
    };
    if length > MAX_BYTES {
        return Err(context.throw_plain(format!(
            "getRandomValues fills at most {MAX_BYTES} bytes at once, not {length}"
        )));
    }
    array.write_bytes(&random(context, length)?);
    Ok((*array).clone())
}

fn holds_integers(array: &Value<'_>) -> bool {
    array
        .element_type()
        .is_some_and(|element| !element.starts_with("float"))
}

/// A random UUID (RFC 9562, version 4).
fn random_uuid<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let bytes = random(context, 16)?.try_into().unwrap_or_default();
    context.string(&crate::pure::uuid::random_uuid(bytes))
}
