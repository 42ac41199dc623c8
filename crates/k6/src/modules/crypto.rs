//! `k6/crypto`: digests, keyed digests and random bytes.

use std::cell::RefCell;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value, give_way};

use super::octets::{octets, text_or_empty, with_octets};
use super::{BuiltIn, Shape};
use crate::pure::digests::{self, Algorithm, Encoded, Hasher};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/crypto",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"md4", 2, |context, call| {
            digest(context, call, Algorithm::Md4)
        }),
        Entry::function(c"md5", 2, |context, call| {
            digest(context, call, Algorithm::Md5)
        }),
        Entry::function(c"sha1", 2, |context, call| {
            digest(context, call, Algorithm::Sha1)
        }),
        Entry::function(c"sha256", 2, |context, call| {
            digest(context, call, Algorithm::Sha256)
        }),
        Entry::function(c"sha384", 2, |context, call| {
            digest(context, call, Algorithm::Sha384)
        }),
        Entry::function(c"sha512", 2, |context, call| {
            digest(context, call, Algorithm::Sha512)
        }),
        Entry::function(c"sha512_224", 2, |context, call| {
            digest(context, call, Algorithm::Sha512_224)
        }),
        Entry::function(c"sha512_256", 2, |context, call| {
            digest(context, call, Algorithm::Sha512_256)
        }),
        Entry::function(c"ripemd160", 2, |context, call| {
            digest(context, call, Algorithm::Ripemd160)
        }),
        Entry::function(c"createHash", 1, create_hash),
        Entry::function(c"createHMAC", 2, create_hmac),
        Entry::function(c"hmac", 4, hmac),
        Entry::function(c"hexEncode", 1, hex_encode),
        Entry::function(c"randomBytes", 1, random_bytes),
    ],
    made: &[],
    make: None,
};

/// `sha256(input, encoding)` and the other digests.
fn digest<'c>(context: &'c Context, call: &Call<'c>, algorithm: Algorithm) -> Returned<'c> {
    let bytes = with_octets(context, &call.argument(0), algorithm.name(), |bytes| {
        digests::digest(algorithm, bytes)
    })?;
    encoded(context, bytes, &call.argument(1))
}

/// `hmac(algorithm, key, data, encoding)`
fn hmac<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let algorithm = algorithm(context, &call.argument(0))?;
    let key = octets(context, &call.argument(1), "")?;
    let bytes = with_octets(context, &call.argument(2), "", |bytes| {
        digests::hmac(algorithm, &key, bytes)
    })?;
    encoded(context, bytes, &call.argument(3))
}

fn create_hash<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let algorithm = algorithm(context, &call.argument(0))?;
    context.instance(ScriptHasher(RefCell::new(Hasher::new(algorithm))))
}

fn create_hmac<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let algorithm = algorithm(context, &call.argument(0))?;
    let key = octets(context, &call.argument(1), "")?;
    context.instance(ScriptHasher(RefCell::new(Hasher::keyed(algorithm, &key))))
}

fn hex_encode<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    context.string(&with_octets(context, &call.argument(0), "", digests::hex)?)
}

/// A limit far above any sensible request, so that a mistyped size fails instead of allocating gigabytes.
const MAX_RANDOM_BYTES: i64 = 1 << 30;

/// Why the init code has to run for each user.
pub const RANDOM: &str = "the init code makes random bytes";

fn random_bytes<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let size = call.argument(0).to_integer()?;
    if !(1..=MAX_RANDOM_BYTES).contains(&size) {
        return Err(context.throw_plain("invalid size"));
    }
    context.differs_per_user(RANDOM);
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    for piece in bytes.chunks_mut(64 * 1024) {
        getrandom::fill(piece)
            .map_err(|error| context.throw_plain(format!("no random bytes available: {error}")))?;
        give_way(piece.len());
    }
    context.array_buffer(&bytes)
}

fn algorithm<'c>(context: &'c Context, name: &Value<'c>) -> Result<Algorithm, Thrown> {
    let name = text_or_empty(name)?;
    Algorithm::named(&name).ok_or_else(|| context.throw_plain(format!("invalid algorithm: {name}")))
}

fn encoded<'c>(context: &'c Context, bytes: Vec<u8>, encoding: &Value<'c>) -> Returned<'c> {
    match digests::encode(bytes, &text_or_empty(encoding)?) {
        Ok(Encoded::Text(text)) => context.string(&text),
        Ok(Encoded::Binary(bytes)) => context.array_buffer(&bytes),
        Err(unknown) => Err(context.throw_plain(unknown.to_string())),
    }
}

/// The result of `createHash` and `createHMAC`.
struct ScriptHasher(RefCell<Hasher>);

impl Class for ScriptHasher {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, hasher| ScriptHasher(hasher.0.clone()));

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"digest", 1, digest_so_far),
            Entry::function(c"update", 1, update),
        ];
        ENTRIES
    }
}

fn update<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let hasher = this
        .instance::<ScriptHasher>()
        .ok_or_else(|| context.throw_type("update must be called on a hasher"))?;
    with_octets(context, &call.argument(0), "", |bytes| {
        hasher.0.borrow_mut().update(bytes)
    })?;
    Ok(context.undefined())
}

fn digest_so_far<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let hasher = this
        .instance::<ScriptHasher>()
        .ok_or_else(|| context.throw_type("digest must be called on a hasher"))?;
    let bytes = hasher.0.borrow().digest();
    encoded(context, bytes, &call.argument(0))
}
