//! Secret keys as JSON Web Keys (RFC 7517; RFC 7518, section 6.4).

use plimsoll_quickjs::{Context, Returned, Thrown, Value};

use super::algorithm::Name;
use super::key::Key;
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::base64::{self, Dialect};
use crate::pure::digests::Algorithm as Digest;

/// The `alg` member for a key of that length.
fn alg(name: Name, hash: Option<Digest>, length: usize) -> Option<String> {
    let bits = 8 * length;
    Some(match (name, hash) {
        (Name::Hmac, Some(Digest::Sha1)) => "HS1".to_owned(),
        (Name::Hmac, Some(Digest::Sha256)) => "HS256".to_owned(),
        (Name::Hmac, Some(Digest::Sha384)) => "HS384".to_owned(),
        (Name::Hmac, Some(Digest::Sha512)) => "HS512".to_owned(),
        (Name::AesCbc, _) => format!("A{bits}CBC"),
        (Name::AesCtr, _) => format!("A{bits}CTR"),
        (Name::AesGcm, _) => format!("A{bits}GCM"),
        (Name::AesKw, _) => format!("A{bits}KW"),
        _ => return None,
    })
}

pub fn export<'c>(context: &'c Context, key: &Key) -> Returned<'c> {
    let jwk = context.object()?;
    jwk.define("key_ops", context.strings(&key.usages)?)?;
    jwk.define("ext", context.bool(key.extractable))?;
    jwk.define("kty", context.string("oct")?)?;
    jwk.define(
        "k",
        context.string(&base64::encode(key.secret(), Dialect::RAW_URL))?,
    )?;
    if let Some(alg) = alg(key.name, key.hash, key.secret().len()) {
        jwk.define("alg", context.string(&alg)?)?;
    }
    Ok(jwk)
}

/// Reads the secret of a JSON Web Key. As in k6, the members that limit its use are ignored.
pub fn import(context: &Context, jwk: &Value<'_>) -> Result<Vec<u8>, Thrown> {
    if !jwk.is_object() {
        return Err(Fault::data("a key in the format 'jwk' must be an object")).or_throw(context);
    }
    let member = |name: &str| -> Result<String, Thrown> {
        match jwk.get(name)? {
            value if value.is_string() => Ok(value.to_text()?.into_string()),
            _ => Ok(String::new()),
        }
    };
    if member("kty")? != "oct" {
        return Err(Fault::data("the key's 'kty' must be 'oct'")).or_throw(context);
    }
    let secret = base64::decode(member("k")?.as_bytes(), Dialect::RAW_URL);
    secret
        .ok()
        .filter(|secret| !secret.is_empty())
        .ok_or_else(|| Fault::data("the key's 'k' must be its bytes in Base64 for URLs"))
        .or_throw(context)
}
