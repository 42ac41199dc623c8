//! Key pairs: ECDSA, ECDH, RSASSA-PKCS1-v1_5, RSA-PSS and RSA-OAEP.

use std::io;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};
use std::thread;

use plimsoll_quickjs::{Context, Returned, Thrown, Value, on_new_stack};
use serde_json::{Map, Value as Json};
use tokio::sync::{Semaphore, oneshot};

use super::algorithm::{self, Name};
use super::key::{self, Key, Kind, Material};
use super::material::NewKey;
use crate::modules::fault::{Fault, OrThrow};
use crate::pure::base64::{self, Dialect};
use crate::pure::digests::Algorithm as Digest;
use crate::pure::elliptic::{Curve, EcKey};
use crate::pure::rsa_key::RsaKey;
use crate::user::user;

/// The stack size for computing with these keys. A script has less stack left.
const STACK: usize = 256 * 1024;

/// The supported lengths in bits of generated RSA keys. Generating longer keys would take minutes.
const BITS: RangeInclusive<usize> = 256..=8192;

/// Computes on a larger stack.
fn compute<R>(context: &Context, work: impl FnOnce() -> R) -> Result<R, Thrown> {
    on_new_stack(STACK, work).map_err(|error| context.throw_plain(error.to_string()))
}

fn failed<T>(context: &Context, outcome: Option<T>, message: &str) -> Result<T, Thrown> {
    outcome
        .ok_or_else(|| Fault::operation(message))
        .or_throw(context)
}

/// `generateKey` of a pair: `{ privateKey, publicKey }`.
pub fn generate<'c>(context: &'c Context, parameters: &Value<'c>, wanted: &NewKey) -> Returned<'c> {
    context.differs_per_user(crate::modules::crypto::RANDOM);
    if wanted.usages.is_empty() {
        return Err(Fault::usages("a pair of keys needs at least one usage").throw(context));
    }
    for usage in &wanted.usages {
        let either = [Kind::Private, Kind::Public];
        if !either
            .iter()
            .any(|kind| key::possible(wanted.name, *kind).contains(usage))
        {
            let name = wanted.name.text();
            let message = format!("a key for {name} cannot be used for '{usage}'");
            return Err(Fault::usages(message).throw(context));
        }
    }
    if let Some(curve) = wanted.curve {
        let key = compute(context, || EcKey::generate(curve))?;
        let public = Material::Elliptic(key.to_public());
        return pair(context, wanted, Material::Elliptic(key), public);
    }
    let exponent = algorithm::bytes(context, parameters, "publicExponent")?;
    let bits = algorithm::number(parameters, "modulusLength")?.unwrap_or_default();
    let bits = usize::try_from(bits)
        .ok()
        .filter(|bits| BITS.contains(bits));
    let wanted = wanted.clone();
    let generating = async move {
        match bits {
            Some(bits) => on_another_thread(move || RsaKey::generate(bits, &exponent)).await,
            None => Ok(None),
        }
    };
    user(context)
        .event_loop
        .promise(context, generating, move |context, generated| {
            let key = generated.map_err(|error| context.throw_plain(error.to_string()))?;
            let message = "an RSA key needs a 'modulusLength' of 256 to 8192 bits and an odd \
                           'publicExponent' above 1, such as new Uint8Array([1, 0, 1])";
            let key = failed(context, key, message)?;
            let public = Material::Rsa(key.to_public());
            pair(context, &wanted, Material::Rsa(key), public)
        })
}

/// Computes on another thread, so that the users of this thread continue meanwhile. At most as many threads as there
/// are processors compute at the same time.
async fn on_another_thread<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<R> {
    static PROCESSORS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
        let count = thread::available_parallelism().map_or(1, NonZero::get);
        Arc::new(Semaphore::new(count))
    });
    let place = Arc::clone(&PROCESSORS).acquire_owned().await;
    let (sender, receiver) = oneshot::channel();
    // This is not one of the runtime's threads, because the program can exit only after those have ended.
    thread::Builder::new()
        .name("key generation".to_owned())
        .spawn(move || {
            let _place = place;
            // A user that has ended does not wait for the outcome.
            let _ = sender.send(work());
        })?;
    receiver
        .await
        .map_err(|_| io::Error::other("the thread that generated the key failed"))
}

/// `{ privateKey, publicKey }`, each with the usages that are possible for it.
fn pair<'c>(
    context: &'c Context,
    wanted: &NewKey,
    private: Material,
    public: Material,
) -> Returned<'c> {
    let half = |kind: Kind, extractable: bool, material: Material| {
        let possible = key::possible(wanted.name, kind);
        let mut half = wanted.clone();
        half.extractable = extractable;
        half.usages.retain(|usage| possible.contains(usage));
        half.instance(context, material)
    };
    let pair = context.object()?;
    let private = half(Kind::Private, wanted.extractable, private)?;
    pair.define("privateKey", private)?;
    pair.define("publicKey", half(Kind::Public, true, public)?)?;
    context.add_entries(&pair, key::OF_PAIRS)?;
    Ok(pair)
}

/// Reads a key in the format `raw`, `spki`, `pkcs8` or `jwk`.
pub fn import(
    context: &Context,
    wanted: &NewKey,
    format: &str,
    data: &Value<'_>,
) -> Result<Material, Thrown> {
    let name = wanted.name.text();
    let supported = match format {
        "raw" => wanted.curve.is_some(),
        "spki" | "pkcs8" | "jwk" => true,
        _ => false,
    };
    if !supported {
        let message = format!("a key for {name} has no format '{format}'");
        return Err(Fault::not_supported(message)).or_throw(context);
    }
    if format == "jwk" {
        let jwk = Jwk::read(context, data, wanted)?;
        let material = compute(context, || match wanted.curve {
            Some(curve) => jwk.elliptic(curve).map(Material::Elliptic),
            None => jwk.rsa().map(Material::Rsa),
        })?;
        return material
            .ok_or_else(|| Fault::data(format!("the JSON Web Key is not a valid key for {name}")))
            .or_throw(context);
    }
    let bytes = data.to_bytes().ok_or_else(|| {
        context.throw_type(format!(
            "a key in the format '{format}' must be an ArrayBuffer or a view of one"
        ))
    })?;
    let material = compute(context, || match (wanted.curve, format) {
        (Some(curve), "raw") => EcKey::public(curve, &bytes).map(Material::Elliptic),
        (Some(curve), "spki") => EcKey::from_spki(curve, &bytes).map(Material::Elliptic),
        (Some(curve), _) => EcKey::from_pkcs8(curve, &bytes).map(Material::Elliptic),
        (None, "spki") => RsaKey::from_spki(&bytes).map(Material::Rsa),
        (None, _) => RsaKey::from_pkcs8(&bytes).map(Material::Rsa),
    })?;
    material
        .ok_or_else(|| Fault::data(format!("the data is not a key for {name} in '{format}'")))
        .or_throw(context)
}

/// The key in that format. For `jwk`, it is JSON.
pub fn export(context: &Context, format: &str, key: &Key) -> Result<Vec<u8>, Thrown> {
    let kind = key.material.kind();
    let bytes = match (&key.material, format, kind) {
        (Material::Secret(_), ..) => None,
        (_, "jwk", _) => Some(to_jwk(key).to_string().into_bytes()),
        (Material::Elliptic(key), "raw", Kind::Public) => Some(key.point.clone()),
        (Material::Elliptic(key), "spki", Kind::Public) => key.to_spki(),
        (Material::Elliptic(key), "pkcs8", Kind::Private) => key.to_pkcs8(),
        (Material::Rsa(key), "spki", Kind::Public) => key.to_spki(),
        (Material::Rsa(key), "pkcs8", Kind::Private) => key.to_pkcs8(),
        (Material::Elliptic(_), "raw", _) | (_, "spki" | "pkcs8", _) => {
            let message = format!("a key of this kind cannot be exported as '{format}'");
            return Err(Fault::access(message)).or_throw(context);
        }
        _ => None,
    };
    bytes
        .ok_or_else(|| {
            let name = key.name.text();
            Fault::not_supported(format!("a key for {name} has no format '{format}'"))
        })
        .or_throw(context)
}

/// The signature of `text` with ECDSA, RSASSA-PKCS1-v1_5 or RSA-PSS.
pub fn sign(
    context: &Context,
    name: Name,
    parameters: &Value<'_>,
    key: &Key,
    text: &[u8],
) -> Result<Vec<u8>, Thrown> {
    let scheme = Scheme::read(context, name, parameters, key)?;
    key.require(context, name, "sign")?;
    let signature = compute(context, || match (&key.material, scheme) {
        (Material::Elliptic(key), Scheme::Ecdsa(hash)) => key.sign(hash, text),
        (Material::Rsa(key), Scheme::Pkcs1(hash)) => key.sign(hash, text),
        (Material::Rsa(key), Scheme::Pss(hash, salt)) => key.sign_pss(hash, salt, text),
        _ => None,
    })?;
    failed(context, signature, "the key cannot sign this")
}

/// Whether `signature` is a valid signature of `text`.
pub fn verify(
    context: &Context,
    name: Name,
    parameters: &Value<'_>,
    key: &Key,
    text: &[u8],
    signature: &[u8],
) -> Result<bool, Thrown> {
    let scheme = Scheme::read(context, name, parameters, key)?;
    key.require(context, name, "verify")?;
    compute(context, || match (&key.material, scheme) {
        (Material::Elliptic(key), Scheme::Ecdsa(hash)) => key.verifies(hash, text, signature),
        (Material::Rsa(key), Scheme::Pkcs1(hash)) => key.verifies(hash, text, signature),
        (Material::Rsa(key), Scheme::Pss(hash, salt)) => {
            key.verifies_pss(hash, salt, text, signature)
        }
        _ => false,
    })
}

/// A parameter whose absence k6 reports as a `SyntaxError`.
pub fn required<'c>(
    context: &Context,
    parameters: &Value<'c>,
    name: &str,
) -> Result<Value<'c>, Thrown> {
    let value = match parameters.is_object() {
        true => Some(parameters.get(name)?).filter(|value| !value.is_undefined()),
        false => None,
    };
    value
        .ok_or_else(|| Fault::usages(format!("the algorithm's parameter '{name}' is missing")))
        .or_throw(context)
}

/// A signature scheme with its parameters.
#[derive(Clone, Copy)]
enum Scheme {
    Ecdsa(Digest),
    Pkcs1(Digest),
    /// With the length of the salt in bytes.
    Pss(Digest, usize),
}

impl Scheme {
    fn read(
        context: &Context,
        name: Name,
        parameters: &Value<'_>,
        key: &Key,
    ) -> Result<Scheme, Thrown> {
        // The digest of an RSA key is one of its properties.
        let own = key.hash.unwrap_or(Digest::Sha256);
        Ok(match name {
            Name::Ecdsa => {
                let hash = required(context, parameters, "hash")?;
                Scheme::Ecdsa(algorithm::digest(context, &hash)?)
            }
            Name::RsaPss => {
                let salt = required(context, parameters, "saltLength")?;
                let salt = usize::try_from(salt.to_integer()?).ok();
                let message = "the parameter 'saltLength' must not be negative";
                Scheme::Pss(own, failed(context, salt, message)?)
            }
            _ => Scheme::Pkcs1(own),
        })
    }
}

/// Encrypts with RSA-OAEP.
pub fn encrypt(
    context: &Context,
    parameters: &Value<'_>,
    key: &Key,
    text: &[u8],
    usage: &str,
) -> Result<Vec<u8>, Thrown> {
    let label = label(context, parameters)?;
    key.require(context, Name::RsaOaep, usage)?;
    let hash = key.hash.unwrap_or(Digest::Sha256);
    let encrypted = compute(context, || match &key.material {
        Material::Rsa(key) => key.encrypt(hash, label.as_deref(), text),
        _ => None,
    })?;
    failed(context, encrypted, "the data is too long for the key")
}

/// Decrypts with RSA-OAEP.
pub fn decrypt(
    context: &Context,
    parameters: &Value<'_>,
    key: &Key,
    text: &[u8],
    usage: &str,
) -> Result<Vec<u8>, Thrown> {
    let label = label(context, parameters)?;
    key.require(context, Name::RsaOaep, usage)?;
    let hash = key.hash.unwrap_or(Digest::Sha256);
    let decrypted = compute(context, || match &key.material {
        Material::Rsa(key) => key.decrypt(hash, label.as_deref(), text),
        _ => None,
    })?;
    failed(
        context,
        decrypted,
        "the data was not encrypted for this key",
    )
}

/// The label of RSA-OAEP.
fn label(context: &Context, parameters: &Value<'_>) -> Result<Option<String>, Thrown> {
    if !parameters.is_object() || parameters.get("label")?.is_nullish() {
        return Ok(None);
    }
    let label = algorithm::bytes(context, parameters, "label")?;
    String::from_utf8(label)
        .map(|label| Some(label).filter(|label| !label.is_empty()))
        .map_err(|_| Fault::not_supported("the label must be text in UTF-8"))
        .or_throw(context)
}

/// The first `bits` bits of the shared secret of ECDH.
pub fn agree<'c>(
    context: &'c Context,
    parameters: &Value<'c>,
    base: &Value<'c>,
    bits: i64,
    usage: &str,
) -> Result<Vec<u8>, Thrown> {
    let public = algorithm::parameter(context, parameters, "public")?;
    let theirs = key::of(context, &public, |public| match &public.material {
        Material::Elliptic(key) if public.name == Name::Ecdh && key.scalar.is_none() => {
            Ok(key.clone())
        }
        _ => Err(Fault::access("'public' must be a public key for ECDH").throw(context)),
    })?;
    let mut secret = key::of(context, base, |key| {
        key.require(context, Name::Ecdh, usage)?;
        let secret = match &key.material {
            Material::Elliptic(own) => compute(context, || own.agree(&theirs))?,
            _ => None,
        };
        secret
            .ok_or_else(|| Fault::access("the keys of both sides must be on the same curve"))
            .or_throw(context)
    })?;
    let length = match usize::try_from(bits) {
        Ok(bits) if bits > 0 && bits % 8 == 0 && bits / 8 <= secret.len() => bits / 8,
        _ => {
            let most = 8 * secret.len();
            let message =
                format!("the length to derive must be a multiple of 8 bits, from 8 to {most}");
            return Err(Fault::operation(message)).or_throw(context);
        }
    };
    secret.truncate(length);
    Ok(secret)
}

/// The members of a JSON Web Key that are strings.
struct Jwk(Map<String, Json>);

impl Jwk {
    /// Reads a key and checks the members that limit its use.
    fn read(context: &Context, data: &Value<'_>, wanted: &NewKey) -> Result<Jwk, Thrown> {
        if !data.is_object() {
            return Err(context.throw_type("a key in the format 'jwk' must be an object"));
        }
        let text = data.to_json()?.unwrap_or_default();
        let jwk = Jwk(serde_json::from_str(&text).unwrap_or_default());
        let kty = if wanted.curve.is_some() { "EC" } else { "RSA" };
        if jwk.text("kty") != Some(kty) {
            let message = format!("the key's 'kty' must be '{kty}'");
            return Err(Fault::data(message)).or_throw(context);
        }
        if let (Some(curve), Some(given)) = (wanted.curve, jwk.text("crv"))
            && given != curve.name()
        {
            let message = format!("the key's 'crv' is '{given}', not '{}'", curve.name());
            return Err(Fault::data(message)).or_throw(context);
        }
        if wanted.extractable && jwk.0.get("ext") == Some(&Json::Bool(false)) {
            let message = "the key says that it must not be extractable";
            return Err(Fault::data(message)).or_throw(context);
        }
        Ok(jwk)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn number(&self, name: &str) -> Option<Vec<u8>> {
        base64::decode(self.text(name)?.as_bytes(), Dialect::RAW_URL).ok()
    }

    fn elliptic(&self, curve: Curve) -> Option<EcKey> {
        let mut point = vec![4];
        for name in ["x", "y"] {
            let coordinate = self.number(name)?;
            point.resize(point.len() + curve.size().checked_sub(coordinate.len())?, 0);
            point.extend_from_slice(&coordinate);
        }
        let public = EcKey::public(curve, &point)?;
        match self.number("d") {
            None => Some(public),
            Some(scalar) => {
                EcKey::private(curve, &scalar).filter(|private| private.point == public.point)
            }
        }
    }

    fn rsa(&self) -> Option<RsaKey> {
        let (n, e) = (self.number("n")?, self.number("e")?);
        match self.number("d") {
            None => RsaKey::public(&n, &e),
            Some(d) => RsaKey::private(&n, &e, &d, [&self.number("p")?, &self.number("q")?]),
        }
    }
}

/// RFC 7518, sections 6.2 and 6.3. As in k6, the members that limit the key's use are left out.
fn to_jwk(key: &Key) -> Json {
    let mut jwk = Map::new();
    let mut put = |name: &str, value: Json| {
        jwk.insert(name.to_owned(), value);
    };
    let number = |bytes: &[u8]| Json::from(base64::encode(bytes, Dialect::RAW_URL));
    match &key.material {
        Material::Secret(_) => {}
        Material::Elliptic(key) => {
            let (x, y) = key.coordinates();
            put("kty", "EC".into());
            put("crv", key.curve.name().into());
            put("x", number(x));
            put("y", number(y));
            if let Some(scalar) = &key.scalar {
                put("d", number(scalar));
            }
        }
        Material::Rsa(key) => {
            put("kty", "RSA".into());
            put("n", number(&key.modulus()));
            put("e", number(&key.exponent()));
            if let Some(private) = key.private_numbers() {
                put("d", number(&private.d));
                put("p", number(&private.p));
                put("q", number(&private.q));
                put("dp", number(&private.dp));
                put("dq", number(&private.dq));
                put("qi", number(&private.qi));
            }
        }
    }
    Json::Object(jwk)
}
