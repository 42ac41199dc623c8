//! Secret keys as JSON Web Keys (RFC 7517; RFC 7518, section 6.4).

use plimsoll_quickjs::{Context, Returned, Thrown, Value};

use super::algorithm::Name;
use super::key::Key;
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::base64::{self, Dialect};
use crate::pure::digests::Algorithm as Digest;

/// The `alg` member of a key of that length.
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

/// Reads the secret of a JSON Web Key for that use.
pub fn import(
    context: &Context,
    jwk: &Value<'_>,
    name: Name,
    hash: Option<Digest>,
    extractable: bool,
) -> Result<Vec<u8>, Thrown> {
    if !jwk.is_object() {
        return Err(context.throw_type("a key in the format 'jwk' must be an object"));
    }
    let member = |name: &str| -> Result<Option<String>, Thrown> {
        let value = jwk.get(name)?;
        if value.is_undefined() {
            Ok(None)
        } else {
            Ok(Some(value.to_text()?.into_string()))
        }
    };
    if member("kty")?.as_deref() != Some("oct") {
        return Err(Fault::data("the key's 'kty' must be 'oct'")).or_throw(context);
    }
    let secret = member("k")?
        .and_then(|text| base64::decode(text.as_bytes(), Dialect::RAW_URL).ok())
        .ok_or_else(|| Fault::data("the key's 'k' must be its bytes in Base64 for URLs"))
        .or_throw(context)?;
    if let (Some(given), Some(right)) = (member("alg")?, alg(name, hash, secret.len()))
        && given != right
    {
        let message = format!("the key's 'alg' is '{given}', but '{right}' is required");
        return Err(Fault::data(message)).or_throw(context);
    }
    let ext = jwk.get("ext")?;
    if extractable && !ext.is_undefined() && !ext.is_truthy() {
        return Err(Fault::data("the key says that it must not be extractable")).or_throw(context);
    }
    Ok(secret)
}
