//! Creates keys: from data, at random, and from other keys.

use plimsoll_quickjs::{Call, Context, Returned, Thrown, Value};

use super::algorithm::{self, Name};
use super::key::{self, Key, Kind, Material};
use super::{asymmetric, jwk, random};
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::digests::Algorithm as Digest;
use crate::pure::elliptic::Curve;
use crate::pure::pbkdf2;

/// `importKey(format, data, algorithm, extractable, usages)`
pub fn import<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let format = call.argument(0).to_text()?;
    let wanted = NewKey::read(
        context,
        &call.argument(2),
        &call.argument(3),
        &call.argument(4),
    )?;
    if !["raw", "jwk", "pkcs8", "spki"].contains(&&*format) {
        let message = format!("unknown format of a key '{}'", &*format);
        return Err(Fault::new("ImplementationError", message).throw(context));
    }
    imported(context, wanted, &format, &call.argument(1))
}

/// The key that `data` contains in that format.
pub fn imported<'c>(
    context: &'c Context,
    wanted: NewKey,
    format: &str,
    data: &Value<'c>,
) -> Returned<'c> {
    if wanted.name.has_pairs() {
        let material = asymmetric::import(context, &wanted, format, data)?;
        return wanted.key(context, material);
    }
    let secret = match format {
        "raw" => data.to_bytes().ok_or_else(|| {
            context.throw_type("a key in the format 'raw' must be an ArrayBuffer or a view of one")
        })?,
        "jwk" => jwk::import(context, data)?,
        other => {
            let message = format!("a key for {} has no format '{other}'", wanted.name.text());
            return Err(Fault::not_supported(message)).or_throw(context);
        }
    };
    wanted.key(context, Material::Secret(secret))
}

/// The purpose of a key to be created.
#[derive(Clone)]
pub struct NewKey {
    pub name: Name,
    pub hash: Option<Digest>,
    /// The curve of an elliptic key.
    pub curve: Option<Curve>,
    pub extractable: bool,
    pub usages: Vec<&'static str>,
}

impl NewKey {
    pub fn read(
        context: &Context,
        algorithm: &Value<'_>,
        extractable: &Value<'_>,
        usages: &Value<'_>,
    ) -> Result<NewKey, Thrown> {
        let name = algorithm::named(context, algorithm)?;
        let hash = match name {
            _ if name == Name::Hmac || name.is_rsa() => {
                let hash = asymmetric::required(context, algorithm, "hash")?;
                Some(algorithm::digest(context, &hash)?)
            }
            _ => None,
        };
        let curve = name
            .is_elliptic()
            .then(|| algorithm::curve(context, algorithm))
            .transpose()?;
        let usages = key::listed(context, usages)?;
        // The two keys of a pair have different usages.
        if !name.has_pairs() {
            key::check_usages(context, &usages, name, Kind::Secret)?;
        }
        Ok(NewKey {
            name,
            hash,
            curve,
            extractable: extractable.is_truthy(),
            usages,
        })
    }

    /// Creates the key.
    pub fn key<'c>(self, context: &'c Context, material: Material) -> Returned<'c> {
        let fault = match (self.name, &material) {
            (name, Material::Secret(secret))
                if name.is_aes() && ![16, 24, 32].contains(&secret.len()) =>
            {
                Some(Fault::data("an AES key must be 16, 24 or 32 bytes long"))
            }
            (Name::Hmac, Material::Secret(secret)) if secret.is_empty() => {
                Some(Fault::data("an HMAC key must not be empty"))
            }
            (Name::Pbkdf2, _) if self.extractable => {
                Some(Fault::usages("a key for PBKDF2 must not be extractable"))
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(fault.throw(context));
        }
        key::check_usages(context, &self.usages, self.name, material.kind())?;
        self.instance(context, material)
    }

    /// Creates the key without any checks.
    pub fn instance<'c>(self, context: &'c Context, material: Material) -> Returned<'c> {
        let key = Key {
            name: self.name,
            hash: self.hash,
            extractable: self.extractable,
            usages: self.usages,
            material,
        };
        key.instance(context)
    }
}

/// `generateKey(algorithm, extractable, usages)`
pub fn generate<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let algorithm = call.argument(0);
    let wanted = NewKey::read(context, &algorithm, &call.argument(1), &call.argument(2))?;
    if wanted.name.has_pairs() {
        return asymmetric::generate(context, &algorithm, &wanted);
    }
    if wanted.name == Name::Pbkdf2 {
        let message = "a key for PBKDF2 is a password, to be imported";
        return Err(Fault::not_supported(message)).or_throw(context);
    }
    let secret = random(context, length(context, &algorithm, &wanted)?)?;
    wanted.key(context, Material::Secret(secret))
}

/// The length in bytes of a key to be generated or derived.
fn length(context: &Context, algorithm: &Value<'_>, wanted: &NewKey) -> Result<usize, Thrown> {
    let bits = algorithm::number(algorithm, "length")?;
    if wanted.name.is_aes() {
        let bits = bits
            .ok_or_else(|| Fault::usages("the algorithm's parameter 'length' is missing"))
            .or_throw(context)?;
        return match bits {
            128 => Ok(16),
            192 => Ok(24),
            256 => Ok(32),
            _ => Err(Fault::operation("an AES key has 128, 192 or 256 bits")).or_throw(context),
        };
    }
    match bits {
        // The default is the block length of the digest.
        None => Ok(match wanted.hash {
            Some(Digest::Sha384 | Digest::Sha512) => 128,
            _ => 64,
        }),
        Some(bits) if bits > 0 && bits % 8 == 0 && bits <= 1 << 20 => {
            Ok(usize::try_from(bits / 8).unwrap_or_default())
        }
        Some(_) => Err(Fault::operation(
            "an HMAC key's length must be a multiple of 8 bits, at least 8",
        ))
        .or_throw(context),
    }
}

/// `deriveBits(algorithm, key, length)`
pub fn derive_bits<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let length = call.argument(2);
    let bits = if length.is_nullish() {
        0
    } else {
        length.to_integer()?
    };
    let bytes = derived(
        context,
        &call.argument(0),
        &call.argument(1),
        bits,
        "deriveBits",
    )?;
    context.array_buffer(&bytes)
}

/// `deriveKey(algorithm, key, derivedAlgorithm, extractable, usages)`
pub fn derive_key<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let algorithm = call.argument(2);
    let wanted = NewKey::read(context, &algorithm, &call.argument(3), &call.argument(4))?;
    let bits = 8 * length(context, &algorithm, &wanted)? as i64;
    let secret = derived(
        context,
        &call.argument(0),
        &call.argument(1),
        bits,
        "deriveKey",
    )?;
    wanted.key(context, Material::Secret(secret))
}

fn derived<'c>(
    context: &'c Context,
    parameters: &Value<'c>,
    base: &Value<'c>,
    bits: i64,
    usage: &str,
) -> Result<Vec<u8>, Thrown> {
    let name = algorithm::named(context, parameters)?;
    if name == Name::Ecdh {
        return asymmetric::agree(context, parameters, base, bits, usage);
    }
    if name != Name::Pbkdf2 {
        let message = format!("{} derives nothing; use PBKDF2 or ECDH", name.text());
        return Err(Fault::not_supported(message)).or_throw(context);
    }
    let salt = algorithm::bytes(context, parameters, "salt")?;
    let hash = algorithm::hash(context, parameters)?;
    let iterations = algorithm::number(parameters, "iterations")?.unwrap_or_default();
    key::of(context, base, |key| {
        key.require(context, Name::Pbkdf2, usage)?;
        let iterations = u32::try_from(iterations)
            .ok()
            .filter(|&iterations| iterations > 0)
            .ok_or_else(|| Fault::operation("PBKDF2 needs at least one iteration"))
            .or_throw(context)?;
        if bits <= 0 || bits % 8 != 0 || bits > 1 << 23 {
            let message = "the length to derive must be a multiple of 8 bits, at least 8";
            return Err(Fault::operation(message)).or_throw(context);
        }
        let length = usize::try_from(bits / 8).unwrap_or_default();
        Ok(pbkdf2::derive(
            hash,
            key.secret(),
            &salt,
            iterations,
            length,
        ))
    })
}
