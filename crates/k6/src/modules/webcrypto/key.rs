//! `CryptoKey`.

use plimsoll_quickjs::{Call, Class, Context, Entry, Returned, Thrown, Value};

use super::algorithm::{Name, digest_name};
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::digests::Algorithm as Digest;

/// The possible uses of a key.
const USAGES: [&str; 8] = [
    "encrypt",
    "decrypt",
    "sign",
    "verify",
    "deriveKey",
    "deriveBits",
    "wrapKey",
    "unwrapKey",
];

/// A key and its purpose.
pub struct Key {
    pub name: Name,
    /// The digest of an HMAC key.
    pub hash: Option<Digest>,
    pub extractable: bool,
    /// A subset of `USAGES`, in the order in which the script listed them.
    pub usages: Vec<&'static str>,
    pub secret: Vec<u8>,
}

impl Class for Key {
    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::getter(c"type", |context, call| {
                of(context, &call.this(), |_| context.string("secret"))
            }),
            Entry::getter(c"extractable", |context, call| {
                of(context, &call.this(), |key| {
                    Ok(context.bool(key.extractable))
                })
            }),
            Entry::getter(c"algorithm", algorithm),
            Entry::getter(c"usages", |context, call| {
                of(context, &call.this(), |key| context.strings(&key.usages))
            }),
        ];
        ENTRIES
    }
}

/// Runs `body` with the key in `value`.
pub fn of<'c, R>(
    context: &'c Context,
    value: &Value<'c>,
    body: impl FnOnce(&Key) -> Result<R, Thrown>,
) -> Result<R, Thrown> {
    match value.instance::<Key>() {
        Some(key) => body(&key),
        None => Err(context.throw_type("a CryptoKey was expected")),
    }
}

fn algorithm<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    of(context, &call.this(), |key| {
        let algorithm = context.object()?;
        algorithm.define("name", context.string(key.name.text())?)?;
        if key.name != Name::Pbkdf2 {
            algorithm.define("length", context.integer(8 * key.secret.len() as u64))?;
        }
        if let Some(digest) = key.hash {
            let hash = context.object()?;
            hash.define("name", context.string(digest_name(digest))?)?;
            algorithm.define("hash", hash)?;
        }
        Ok(algorithm)
    })
}

/// The usages that a script lists for a key of that algorithm.
pub fn usages(
    context: &Context,
    list: &Value<'_>,
    name: Name,
) -> Result<Vec<&'static str>, Thrown> {
    let possible: &[&str] = match name {
        Name::Hmac => &["sign", "verify"],
        Name::AesCbc | Name::AesCtr | Name::AesGcm => {
            &["encrypt", "decrypt", "wrapKey", "unwrapKey"]
        }
        Name::AesKw => &["wrapKey", "unwrapKey"],
        Name::Pbkdf2 => &["deriveKey", "deriveBits"],
    };
    let mut listed = Vec::new();
    for index in 0..u32::try_from(list.length()?).unwrap_or(u32::MAX) {
        listed.push(list.at(index)?.to_text()?.into_string());
    }
    let mut usages = Vec::new();
    for listed in &listed {
        let Some(usage) = USAGES.into_iter().find(|usage| usage == listed) else {
            return Err(context.throw_type(format!("there is no key usage '{listed}'")));
        };
        if !possible.contains(&usage) {
            let message = format!("a key for {} cannot be used for '{usage}'", name.text());
            return Err(Fault::usages(message).throw(context));
        }
        if !usages.contains(&usage) {
            usages.push(usage);
        }
    }
    if usages.is_empty() {
        return Err(Fault::usages("a secret key needs at least one usage").throw(context));
    }
    Ok(usages)
}

impl Key {
    /// Refuses a use that the key does not allow.
    pub fn require(&self, context: &Context, name: Name, usage: &str) -> Result<(), Thrown> {
        if self.name != name {
            let message = format!(
                "the key is for {}, not for {}",
                self.name.text(),
                name.text()
            );
            return Err(Fault::access(message)).or_throw(context);
        }
        if !self.usages.contains(&usage) {
            let message = format!("the key does not have the usage '{usage}'");
            return Err(Fault::access(message)).or_throw(context);
        }
        Ok(())
    }
}
