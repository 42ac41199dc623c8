//! `crypto.subtle`.

use plimsoll_quickjs::{Call, Context, Entry, Returned, Thrown, Value};

use super::algorithm::{self, Name};
use super::key::{self, Key};
use super::material::{self, NewKey};
use super::{asymmetric, jwk};
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::aes_modes::{Aes, CipherError};
use crate::pure::digests;

pub static ENTRIES: &[Entry] = &[
    Entry::function(c"encrypt", 3, |context, call| {
        context.settled(encrypt(context, call))
    }),
    Entry::function(c"decrypt", 3, |context, call| {
        context.settled(decrypt(context, call))
    }),
    Entry::function(c"sign", 3, |context, call| {
        context.settled(sign(context, call))
    }),
    Entry::function(c"verify", 4, |context, call| {
        context.settled(verify(context, call))
    }),
    Entry::function(c"digest", 2, |context, call| {
        context.settled(digest(context, call))
    }),
    Entry::function(c"generateKey", 3, |context, call| {
        context.settled(material::generate(context, call))
    }),
    Entry::function(c"deriveKey", 5, |context, call| {
        context.settled(material::derive_key(context, call))
    }),
    Entry::function(c"deriveBits", 3, |context, call| {
        context.settled(material::derive_bits(context, call))
    }),
    Entry::function(c"importKey", 5, |context, call| {
        context.settled(material::import(context, call))
    }),
    Entry::function(c"exportKey", 2, |context, call| {
        context.settled(export(context, call))
    }),
    Entry::function(c"wrapKey", 4, |context, call| {
        context.settled(wrap(context, call))
    }),
    Entry::function(c"unwrapKey", 7, |context, call| {
        context.settled(unwrap(context, call))
    }),
];

/// An argument that is binary data.
fn data(context: &Context, value: &Value<'_>) -> Result<Vec<u8>, Thrown> {
    value
        .to_bytes()
        .ok_or_else(|| context.throw_type("the data must be an ArrayBuffer or a view of one"))
}

/// `digest(algorithm, data)`
fn digest<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let algorithm = algorithm::digest(context, &call.argument(0))?;
    let data = data(context, &call.argument(1))?;
    context.array_buffer(&digests::digest(algorithm, &data))
}

/// The HMAC of `text`, if the key allows that.
fn tag(context: &Context, key: &Key, text: &[u8], usage: &str) -> Result<Vec<u8>, Thrown> {
    key.require(context, Name::Hmac, usage)?;
    let hash = key.hash.unwrap_or(digests::Algorithm::Sha256);
    Ok(digests::hmac(hash, key.secret(), text))
}

fn signs_nothing(context: &Context, name: Name) -> Thrown {
    let message = format!("{} signs nothing; use HMAC, ECDSA or RSA", name.text());
    Fault::not_supported(message).throw(context)
}

/// `sign(algorithm, key, data)`
fn sign<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let parameters = call.argument(0);
    let text = data(context, &call.argument(2))?;
    let name = algorithm::named(context, &parameters)?;
    let signature = key::of(context, &call.argument(1), |key| match name {
        Name::Hmac => tag(context, key, &text, "sign"),
        Name::Ecdsa | Name::RsaPkcs1 | Name::RsaPss => {
            asymmetric::sign(context, name, &parameters, key, &text)
        }
        _ => Err(signs_nothing(context, name)),
    })?;
    context.array_buffer(&signature)
}

/// `verify(algorithm, key, signature, data)`
fn verify<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let parameters = call.argument(0);
    let signature = data(context, &call.argument(2))?;
    let text = data(context, &call.argument(3))?;
    let name = algorithm::named(context, &parameters)?;
    let holds = key::of(context, &call.argument(1), |key| match name {
        Name::Hmac => Ok(tag(context, key, &text, "verify")? == signature),
        Name::Ecdsa | Name::RsaPkcs1 | Name::RsaPss => {
            asymmetric::verify(context, name, &parameters, key, &text, &signature)
        }
        _ => Err(signs_nothing(context, name)),
    })?;
    Ok(context.bool(holds))
}

/// `encrypt(algorithm, key, data)`
fn encrypt<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let text = data(context, &call.argument(2))?;
    let parameters = call.argument(0);
    let enciphered = key::of(context, &call.argument(1), |key| {
        crypt(
            context,
            &parameters,
            key,
            &text,
            Direction::Encrypt,
            "encrypt",
        )
    })?;
    context.array_buffer(&enciphered)
}

/// `decrypt(algorithm, key, data)`
fn decrypt<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let text = data(context, &call.argument(2))?;
    let parameters = call.argument(0);
    let plain = key::of(context, &call.argument(1), |key| {
        crypt(
            context,
            &parameters,
            key,
            &text,
            Direction::Decrypt,
            "decrypt",
        )
    })?;
    context.array_buffer(&plain)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Encrypt,
    Decrypt,
}

/// Encrypts or decrypts `text` with a key that must have `usage`.
fn crypt(
    context: &Context,
    parameters: &Value<'_>,
    key: &Key,
    text: &[u8],
    direction: Direction,
    usage: &str,
) -> Result<Vec<u8>, Thrown> {
    let name = algorithm::named(context, parameters)?;
    if name == Name::RsaOaep {
        return match direction {
            Direction::Encrypt => asymmetric::encrypt(context, parameters, key, text, usage),
            Direction::Decrypt => asymmetric::decrypt(context, parameters, key, text, usage),
        };
    }
    let wraps = usage == "wrapKey" || usage == "unwrapKey";
    if !name.is_aes() || (name == Name::AesKw && !wraps) {
        let message = format!("{} encrypts nothing", name.text());
        return Err(Fault::not_supported(message)).or_throw(context);
    }
    let done = |result: Result<Vec<u8>, CipherError>| {
        result
            .map_err(|error| Fault::operation(error.to_string()))
            .or_throw(context)
    };
    let aes = || {
        Aes::new(key.secret())
            .map_err(|error| Fault::operation(error.to_string()))
            .or_throw(context)
    };
    match name {
        Name::AesCbc => {
            let iv = block(context, parameters, "iv")?;
            key.require(context, name, usage)?;
            match direction {
                Direction::Encrypt => Ok(aes()?.cbc_encrypt(&iv, text)),
                Direction::Decrypt => done(aes()?.cbc_decrypt(&iv, text)),
            }
        }
        Name::AesCtr => {
            let counter = block(context, parameters, "counter")?;
            let bits = algorithm::number(parameters, "length")?.unwrap_or_default();
            key.require(context, name, usage)?;
            let bits = u32::try_from(bits)
                .ok()
                .filter(|bits| (1..=128).contains(bits))
                .ok_or_else(|| Fault::operation("the counter's length must be 1 to 128 bits"))
                .or_throw(context)?;
            done(aes()?.ctr(&counter, bits, text))
        }
        Name::AesGcm => {
            let iv = algorithm::bytes(context, parameters, "iv")?;
            let extra = match parameters.get("additionalData")? {
                extra if extra.is_undefined() => Vec::new(),
                _ => algorithm::bytes(context, parameters, "additionalData")?,
            };
            let bits = algorithm::number(parameters, "tagLength")?.unwrap_or(128);
            key.require(context, name, usage)?;
            if ![32, 64, 96, 104, 112, 120, 128].contains(&bits) {
                let message = "the tag's length must be 32, 64, 96, 104, 112, 120 or 128 bits";
                return Err(Fault::operation(message)).or_throw(context);
            }
            let tag = usize::try_from(bits / 8).unwrap_or_default();
            match direction {
                Direction::Encrypt => Ok(aes()?.gcm_encrypt(&iv, &extra, tag, text)),
                Direction::Decrypt => done(aes()?.gcm_decrypt(&iv, &extra, tag, text)),
            }
        }
        _ => {
            key.require(context, name, usage)?;
            done(match direction {
                Direction::Encrypt => aes()?.wrap_key(text),
                Direction::Decrypt => aes()?.unwrap_key(text),
            })
        }
    }
}

/// A parameter that is one AES block long.
fn block(context: &Context, parameters: &Value<'_>, name: &str) -> Result<[u8; 16], Thrown> {
    let bytes = match parameters.is_object() {
        true => parameters.get(name)?.to_bytes(),
        false => None,
    };
    bytes
        .unwrap_or_default()
        .try_into()
        .map_err(|_| Fault::operation(format!("'{name}' must be 16 bytes long")))
        .or_throw(context)
}

/// The bytes of a key in the given format. For `jwk`, they are JSON.
fn exported(context: &Context, format: &str, key: &Key) -> Result<Vec<u8>, Thrown> {
    if !key.extractable {
        return Err(Fault::access("the key is not extractable")).or_throw(context);
    }
    if key.name.has_pairs() {
        return asymmetric::export(context, format, key);
    }
    match format {
        "raw" => Ok(key.secret().to_vec()),
        "jwk" => {
            let json = jwk::export(context, key)?.to_json()?;
            Ok(json.unwrap_or_default().into_bytes())
        }
        other => {
            let message = format!("a key for {} has no format '{other}'", key.name.text());
            Err(Fault::not_supported(message)).or_throw(context)
        }
    }
}

/// `exportKey(format, key)`
fn export<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let format = call.argument(0).to_text()?;
    key::of(context, &call.argument(1), |key| {
        if key.name == Name::Pbkdf2 {
            let message = "a key for PBKDF2 cannot be exported";
            return Err(Fault::not_supported(message)).or_throw(context);
        }
        let bytes = exported(context, &format, key)?;
        if &*format == "jwk" {
            context.parse_json(&String::from_utf8_lossy(&bytes), "jwk")
        } else {
            context.array_buffer(&bytes)
        }
    })
}

/// `wrapKey(format, key, wrappingKey, algorithm)`
fn wrap<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let format = call.argument(0).to_text()?;
    let parameters = call.argument(3);
    let bytes = key::of(context, &call.argument(1), |key| {
        exported(context, &format, key)
    })?;
    let wrapped = key::of(context, &call.argument(2), |key| {
        crypt(
            context,
            &parameters,
            key,
            &bytes,
            Direction::Encrypt,
            "wrapKey",
        )
    })?;
    context.array_buffer(&wrapped)
}

/// `unwrapKey(format, wrapped, key, algorithm, keyAlgorithm, extractable, usages)`
fn unwrap<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let format = call.argument(0).to_text()?;
    let wrapped = data(context, &call.argument(1))?;
    let parameters = call.argument(3);
    let wanted = NewKey::read(
        context,
        &call.argument(4),
        &call.argument(5),
        &call.argument(6),
    )?;
    let bytes = key::of(context, &call.argument(2), |key| {
        crypt(
            context,
            &parameters,
            key,
            &wrapped,
            Direction::Decrypt,
            "unwrapKey",
        )
    })?;
    let data = if &*format == "jwk" {
        context.parse_json(&String::from_utf8_lossy(&bytes), "jwk")?
    } else {
        context.array_buffer(&bytes)?
    };
    material::imported(context, wanted, &format, &data)
}
