//! `CryptoKey`.

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};

use super::algorithm::{Name, digest_name};
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::digests::Algorithm as Digest;
use crate::pure::elliptic::EcKey;
use crate::pure::rsa_key::RsaKey;

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

/// The type of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Secret,
    Public,
    Private,
}

/// The key itself.
pub enum Material {
    Secret(Vec<u8>),
    Elliptic(EcKey),
    Rsa(RsaKey),
}

/// A key and its purpose.
pub struct Key {
    pub name: Name,
    /// The digest of an HMAC or RSA key.
    pub hash: Option<Digest>,
    pub extractable: bool,
    /// A subset of `USAGES`, in the order in which the script listed them.
    pub usages: Vec<&'static str>,
    pub material: Material,
}

impl Material {
    pub fn kind(&self) -> Kind {
        let is_private = match self {
            Material::Secret(_) => return Kind::Secret,
            Material::Elliptic(key) => key.scalar.is_some(),
            Material::Rsa(key) => key.is_private(),
        };
        if is_private {
            Kind::Private
        } else {
            Kind::Public
        }
    }
}

/// Its properties are own properties of the object, as in k6, so that they are printed and serialized.
impl Class for Key {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        &[]
    }
}

/// Own properties of keys in k6, after their data.
static OF_KEYS: &[Entry] = &[
    Entry::function(c"containsUsage", 0, |context, call| {
        let usage = call.argument(0).to_text()?;
        of(context, &call.this(), |key| {
            Ok(context.bool(key.usages.contains(&&*usage)))
        })
    }),
    Entry::function(c"isKeyPair", 0, |context, _| Ok(context.bool(false))),
    Entry::function(c"resolveCryptoKey", 0, itself),
    Entry::function(c"resolveCryptoKeyPair", 0, |context, _| {
        Err(context.throw_plain("not a Crypto Key Pair"))
    }),
    Entry::function(c"validate", 0, |context, _| Ok(context.undefined())),
];

/// Own properties of pairs of keys in k6, after the keys.
pub static OF_PAIRS: &[Entry] = &[
    Entry::function(c"isKeyPair", 0, |context, _| Ok(context.bool(true))),
    Entry::function(c"resolveCryptoKey", 0, |context, _| {
        Err(context.throw_plain("not a CryptoKey"))
    }),
    Entry::function(c"resolveCryptoKeyPair", 0, itself),
];

fn itself<'c>(_: &'c Context, call: &Call<'c>) -> Returned<'c> {
    Ok((*call.this()).clone())
}

/// Calls `body` with the key in `value`.
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

/// `{ name }`.
fn named<'c>(context: &'c Context, name: &str) -> Returned<'c> {
    let named = context.object()?;
    named.define("name", context.string(name)?)?;
    Ok(named)
}

/// `{ algorithm: { name }, name }`, which is how k6 describes most algorithms.
fn described<'c>(context: &'c Context, name: &str) -> Returned<'c> {
    let described = context.object()?;
    described.define("algorithm", named(context, name)?)?;
    described.define("name", context.string(name)?)?;
    Ok(described)
}

/// The usages that a script lists, without duplicates.
pub fn listed(context: &Context, list: &Value<'_>) -> Result<Vec<&'static str>, Thrown> {
    let mut usages = Vec::new();
    for index in 0..u32::try_from(list.length()?).unwrap_or(u32::MAX) {
        let listed = list.at(index)?.to_text()?;
        let Some(usage) = USAGES.into_iter().find(|usage| *usage == &*listed) else {
            let message = format!("unknown key usage '{}'", &*listed);
            return Err(Fault::usages(message).throw(context));
        };
        if !usages.contains(&usage) {
            usages.push(usage);
        }
    }
    Ok(usages)
}

/// The possible uses of a key of that type.
pub fn possible(name: Name, kind: Kind) -> &'static [&'static str] {
    match (name, kind) {
        (Name::Hmac, _) => &["sign", "verify"],
        (Name::AesCbc | Name::AesCtr | Name::AesGcm, _) => {
            &["encrypt", "decrypt", "wrapKey", "unwrapKey"]
        }
        (Name::AesKw, _) => &["wrapKey", "unwrapKey"],
        (Name::Pbkdf2, _) | (Name::Ecdh, Kind::Private) => &["deriveKey", "deriveBits"],
        (Name::Ecdh, _) => &[],
        (Name::RsaOaep, Kind::Private) => &["decrypt", "unwrapKey"],
        (Name::RsaOaep, _) => &["encrypt", "wrapKey"],
        (Name::Ecdsa | Name::RsaPkcs1 | Name::RsaPss, Kind::Private) => &["sign"],
        (Name::Ecdsa | Name::RsaPkcs1 | Name::RsaPss, _) => &["verify"],
    }
}

/// Rejects usages that are not possible for a key of that type, and a key without usages if it needs one.
pub fn check_usages(
    context: &Context,
    usages: &[&'static str],
    name: Name,
    kind: Kind,
) -> Result<(), Thrown> {
    let possible = possible(name, kind);
    if let Some(usage) = usages.iter().find(|usage| !possible.contains(usage)) {
        let message = format!("a key for {} cannot be used for '{usage}'", name.text());
        return Err(Fault::usages(message).throw(context));
    }
    if usages.is_empty() && kind != Kind::Public {
        return Err(Fault::usages("a secret key needs at least one usage").throw(context));
    }
    Ok(())
}

impl Key {
    /// The `CryptoKey`.
    pub fn instance(self, context: &Context) -> Returned<'_> {
        let kind = match self.material.kind() {
            Kind::Secret => "secret",
            Kind::Public => "public",
            Kind::Private => "private",
        };
        let extractable = context.bool(self.extractable);
        let algorithm = self.algorithm(context)?;
        let usages = context.strings(&self.usages)?;
        let key = context.instance(self)?;
        key.define_fixed("type", context.string(kind)?)?;
        key.define_fixed("extractable", extractable)?;
        key.define_fixed("algorithm", algorithm)?;
        key.define_fixed("usages", usages)?;
        context.add_entries(&key, OF_KEYS)?;
        Ok(key)
    }

    /// The property `algorithm`, with the additional members that it has in k6.
    fn algorithm<'c>(&self, context: &'c Context) -> Returned<'c> {
        let name = self.name.text();
        let algorithm = context.object()?;
        if !self.name.is_aes() && self.name != Name::Pbkdf2 {
            algorithm.define("key_algorithm", described(context, name)?)?;
        }
        algorithm.define("algorithm", named(context, name)?)?;
        algorithm.define("name", context.string(name)?)?;
        let hash = self.hash.map(digest_name);
        match &self.material {
            Material::Secret(secret) => {
                if let Some(hash) = hash {
                    algorithm.define("hash", described(context, hash)?)?;
                }
                if self.name != Name::Pbkdf2 {
                    algorithm.define("length", context.integer(8 * secret.len() as u64))?;
                }
            }
            Material::Elliptic(key) => {
                algorithm.define("namedCurve", context.string(key.curve.name())?)?;
            }
            Material::Rsa(key) => {
                algorithm.define("modulusLength", context.integer(key.bits() as u64))?;
                // k6 leaves this member out when it prints the object.
                let exponent = context.uint8_array(&key.exponent())?;
                algorithm.define_hidden("publicExponent", exponent)?;
                algorithm.define("hash", named(context, hash.unwrap_or_default())?)?;
            }
        }
        Ok(algorithm)
    }

    /// Rejects a use that the key does not allow.
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

    /// The bytes of a secret key. Empty for other types.
    pub fn secret(&self) -> &[u8] {
        match &self.material {
            Material::Secret(secret) => secret,
            _ => &[],
        }
    }
}
