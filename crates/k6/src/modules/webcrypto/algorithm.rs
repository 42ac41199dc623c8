//! The algorithm that a script specifies, and its parameters.

use plimsoll_quickjs::{Context, Thrown, Value};

use crate::modules::fault::{Fault, OrThrow};
use crate::pure::digests::Algorithm as Digest;
use crate::pure::elliptic::Curve;

/// The algorithms with keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    Hmac,
    AesCbc,
    AesCtr,
    AesGcm,
    AesKw,
    Pbkdf2,
    Ecdsa,
    Ecdh,
    RsaPkcs1,
    RsaPss,
    RsaOaep,
}

impl Name {
    const ALL: [Name; 11] = [
        Name::Hmac,
        Name::AesCbc,
        Name::AesCtr,
        Name::AesGcm,
        Name::AesKw,
        Name::Pbkdf2,
        Name::Ecdsa,
        Name::Ecdh,
        Name::RsaPkcs1,
        Name::RsaPss,
        Name::RsaOaep,
    ];

    /// The name as the standard spells it.
    pub fn text(self) -> &'static str {
        match self {
            Name::Hmac => "HMAC",
            Name::AesCbc => "AES-CBC",
            Name::AesCtr => "AES-CTR",
            Name::AesGcm => "AES-GCM",
            Name::AesKw => "AES-KW",
            Name::Pbkdf2 => "PBKDF2",
            Name::Ecdsa => "ECDSA",
            Name::Ecdh => "ECDH",
            Name::RsaPkcs1 => "RSASSA-PKCS1-v1_5",
            Name::RsaPss => "RSA-PSS",
            Name::RsaOaep => "RSA-OAEP",
        }
    }

    /// Whether its keys are points on an elliptic curve.
    pub fn is_elliptic(self) -> bool {
        matches!(self, Name::Ecdsa | Name::Ecdh)
    }

    pub fn is_rsa(self) -> bool {
        matches!(self, Name::RsaPkcs1 | Name::RsaPss | Name::RsaOaep)
    }

    /// Whether its keys come in pairs.
    pub fn has_pairs(self) -> bool {
        self.is_elliptic() || self.is_rsa()
    }

    pub fn is_aes(self) -> bool {
        matches!(
            self,
            Name::AesCbc | Name::AesCtr | Name::AesGcm | Name::AesKw
        )
    }
}

/// The name in `'NAME'` or `{ name: 'NAME' }`.
fn name_text(context: &Context, algorithm: &Value<'_>) -> Result<String, Thrown> {
    if algorithm.is_string() {
        return Ok(algorithm.to_text()?.into_string());
    }
    if !algorithm.is_object() {
        return Err(context.throw_type("an algorithm must be its name, or an object with a name"));
    }
    let name = algorithm.get("name")?;
    if name.is_undefined() {
        return Err(context.throw_type("the algorithm's object has no name"));
    }
    Ok(name.to_text()?.into_string())
}

/// The algorithm that a script specifies, in any case.
pub fn named(context: &Context, algorithm: &Value<'_>) -> Result<Name, Thrown> {
    let text = name_text(context, algorithm)?;
    Name::ALL
        .into_iter()
        .find(|name| name.text().eq_ignore_ascii_case(&text))
        .ok_or_else(|| Fault::not_supported(format!("the algorithm '{text}' is not supported")))
        .or_throw(context)
}

/// The digest that a script specifies directly.
pub fn digest(context: &Context, algorithm: &Value<'_>) -> Result<Digest, Thrown> {
    let text = name_text(context, algorithm)?;
    [Digest::Sha1, Digest::Sha256, Digest::Sha384, Digest::Sha512]
        .into_iter()
        .find(|&digest| digest_name(digest).eq_ignore_ascii_case(&text))
        .ok_or_else(|| Fault::not_supported(format!("the digest '{text}' is not supported")))
        .or_throw(context)
}

/// The digest in the parameter `hash`.
pub fn hash(context: &Context, parameters: &Value<'_>) -> Result<Digest, Thrown> {
    let hash = parameter(context, parameters, "hash")?;
    digest(context, &hash)
}

/// The curve in the parameter `namedCurve`.
pub fn curve(context: &Context, parameters: &Value<'_>) -> Result<Curve, Thrown> {
    let text = parameter(context, parameters, "namedCurve")?.to_text()?;
    Curve::ALL
        .into_iter()
        .find(|curve| *curve.name() == *text)
        .ok_or_else(|| Fault::not_supported(format!("the curve '{}' is not supported", &*text)))
        .or_throw(context)
}

/// The name as WebCrypto spells it.
pub fn digest_name(digest: Digest) -> &'static str {
    match digest {
        Digest::Sha1 => "SHA-1",
        Digest::Sha256 => "SHA-256",
        Digest::Sha384 => "SHA-384",
        Digest::Sha512 => "SHA-512",
        other => other.name(),
    }
}

/// A required parameter.
pub fn parameter<'c>(
    context: &Context,
    parameters: &Value<'c>,
    name: &str,
) -> Result<Value<'c>, Thrown> {
    let value = if parameters.is_object() {
        parameters.get(name)?
    } else {
        parameters.clone()
    };
    if !parameters.is_object() || value.is_undefined() {
        return Err(context.throw_type(format!("the algorithm's parameter '{name}' is missing")));
    }
    Ok(value)
}

/// A required parameter that is binary data.
pub fn bytes(context: &Context, parameters: &Value<'_>, name: &str) -> Result<Vec<u8>, Thrown> {
    parameter(context, parameters, name)?
        .to_bytes()
        .ok_or_else(|| {
            context.throw_type(format!(
                "the algorithm's parameter '{name}' must be an ArrayBuffer or a view of one"
            ))
        })
}

/// An optional numeric parameter.
pub fn number(parameters: &Value<'_>, name: &str) -> Result<Option<i64>, Thrown> {
    if !parameters.is_object() {
        return Ok(None);
    }
    let value = parameters.get(name)?;
    if value.is_undefined() {
        Ok(None)
    } else {
        value.to_integer().map(Some)
    }
}
