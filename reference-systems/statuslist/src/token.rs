//! The formats of a published list: signed as JWT or CWT, or unsigned as JSON.
//!
//! Token Status List (draft-ietf-oauth-status-list-17, which defines the claims' numbers; the
//! unsigned format is from drafts 02 to 05).

use std::io::Write;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use crate::cbor::Cbor;
use crate::pools::Tokens;
use crate::signer::Signer;
use crate::status::Width;

/// The formats, by media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Jwt,
    Cwt,
    Json,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Jwt, Form::Cwt, Form::Json];

    pub fn media_type(self) -> &'static str {
        match self {
            Form::Jwt => "application/statuslist+jwt",
            Form::Cwt => "application/statuslist+cwt",
            Form::Json => "application/statuslist+json",
        }
    }
}

/// The claims of a token.
#[derive(Debug, Clone)]
pub struct Claims {
    /// The list's URI.
    pub subject: String,
    /// The URI that lists all lists of the pool.
    pub aggregation: String,
    /// Seconds since 1970.
    pub issued: i64,
    pub expires: i64,
    /// Seconds.
    pub time_to_live: i64,
    pub width: Width,
    /// The statuses, compressed.
    pub compressed: Vec<u8>,
}

impl Claims {
    /// The claims of a list, starting now.
    pub fn new(
        subject: String,
        aggregation: String,
        tokens: Tokens,
        width: Width,
        statuses: &[u8],
    ) -> Result<Claims, String> {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_err(|_| "the clock is before 1970".to_owned())?;
        Ok(Claims {
            subject,
            aggregation,
            issued: seconds(now),
            expires: seconds(now + tokens.lifetime),
            time_to_live: seconds(tokens.time_to_live).max(1),
            width,
            compressed: compress(statuses).map_err(|error| error.to_string())?,
        })
    }

    /// The bytes in one format.
    pub fn render(&self, form: Form, signer: &Signer) -> Result<Vec<u8>, String> {
        match form {
            Form::Jwt => self.jwt(signer),
            Form::Cwt => self.cwt(signer),
            Form::Json => Ok(self.list().to_string().into_bytes()),
        }
    }

    /// "Status List in JSON Format".
    fn list(&self) -> serde_json::Value {
        json!({
            "bits": self.width.bits(),
            "lst": URL_SAFE_NO_PAD.encode(&self.compressed),
            "aggregation_uri": self.aggregation,
        })
    }

    /// "Status List Token in JWT Format".
    fn jwt(&self, signer: &Signer) -> Result<Vec<u8>, String> {
        let header = json!({"alg": "ES256", "kid": signer.key_id(), "typ": "statuslist+jwt"});
        let payload = json!({
            "sub": self.subject,
            "iat": self.issued,
            "exp": self.expires,
            "ttl": self.time_to_live,
            "status_list": self.list(),
        });
        let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(payload.to_string(), &mut token);
        let signature = signer.sign(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token.into_bytes())
    }

    /// "Status List Token in CWT Format": a tagged COSE_Sign1 (RFC 9052, section 4.2).
    fn cwt(&self, signer: &Signer) -> Result<Vec<u8>, String> {
        const ALGORITHM: i64 = 1;
        const ES256: i64 = -7;
        const KEY_ID: i64 = 4;
        // The `typ` header parameter: RFC 9596.
        const TYPE: i64 = 16;
        // The numbers of the claims: RFC 8392, section 3.1.
        const SUBJECT: i64 = 2;
        const EXPIRES: i64 = 4;
        const ISSUED: i64 = 6;
        const STATUS_LIST: i64 = 65533;
        const TIME_TO_LIVE: i64 = 65534;
        const COSE_SIGN1: u64 = 18;

        let protected = Cbor::default()
            .map(2)
            .number(ALGORITHM)
            .number(ES256)
            .number(TYPE)
            .text(Form::Cwt.media_type())
            .finish();
        let payload = Cbor::default()
            .map(5)
            .number(SUBJECT)
            .text(&self.subject)
            .number(EXPIRES)
            .number(self.expires)
            .number(ISSUED)
            .number(self.issued)
            .number(STATUS_LIST)
            .map(3)
            .text("lst")
            .bytes(&self.compressed)
            .text("bits")
            .number(self.width.bits().into())
            .text("aggregation_uri")
            .text(&self.aggregation)
            .number(TIME_TO_LIVE)
            .number(self.time_to_live)
            .finish();
        let signed = Cbor::default()
            .array(4)
            .text("Signature1")
            .bytes(&protected)
            .bytes(&[])
            .bytes(&payload)
            .finish();
        let signature = signer.sign(&signed)?;
        Ok(Cbor::default()
            .tag(COSE_SIGN1)
            .array(4)
            .bytes(&protected)
            .map(1)
            .number(KEY_ID)
            .bytes(signer.key_id().as_bytes())
            .bytes(&payload)
            .bytes(&signature)
            .finish())
    }
}

/// ZLIB with the highest compression, as recommended ("Compressed Byte Array").
fn compress(statuses: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(statuses)?;
    encoder.finish()
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}
