//! `k6/crypto/x509`: the contents of certificates.

use std::net::{Ipv4Addr, Ipv6Addr};

use plimsoll_quickjs::{Call, Context, Entry, Returned, Thrown, Value};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey;
use x509_parser::signature_algorithm::SignatureAlgorithm;
use x509_parser::time::ASN1Time;
use x509_parser::x509::X509Name;

use super::go_value;
use super::octets::octets;
use super::{BuiltIn, Shape};
use crate::pure::digests::{self, Algorithm};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/crypto/x509",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"getAltNames", 1, |context, call| {
            with_certificate(context, call, |certificate| {
                context.strings(alt_names(certificate))
            })
        }),
        Entry::function(c"getIssuer", 1, |context, call| {
            with_certificate(context, call, |certificate| {
                name(context, certificate.issuer(), Part::Issuer)
            })
        }),
        Entry::function(c"getSubject", 1, |context, call| {
            with_certificate(context, call, |certificate| {
                name(context, certificate.subject(), Part::Subject)
            })
        }),
        Entry::function(c"parse", 1, |context, call| {
            with_certificate(context, call, |certificate| parse(context, certificate))
        }),
    ],
    made: &[],
    make: None,
};

/// Calls `body` with the certificate in the first argument, which is a PEM string or its bytes.
fn with_certificate<'c>(
    context: &'c Context,
    call: &Call<'c>,
    body: impl FnOnce(&X509Certificate<'_>) -> Returned<'c>,
) -> Returned<'c> {
    let source = call.argument(0);
    if matches!(
        go_value::kind(&source),
        "int64" | "float64" | "bool" | go_value::OBJECT
    ) && !source.is_array_buffer()
    {
        return Err(context.throw_type("a certificate must be text or an ArrayBuffer in PEM form"));
    }
    let pem = match source.is_nullish() {
        true => Vec::new(),
        false => octets(context, &source, "")?,
    };
    let Ok((_, pem)) = parse_x509_pem(&pem) else {
        return Err(context.throw_plain("failed to decode certificate PEM file"));
    };
    match X509Certificate::from_der(&pem.contents) {
        Ok((_, certificate)) => body(&certificate),
        Err(error) => {
            Err(context.throw_plain(format!("failed to parse certificate: x509: {error}")))
        }
    }
}

fn parse<'c>(context: &'c Context, certificate: &X509Certificate<'_>) -> Returned<'c> {
    let parsed = context.object()?;
    parsed.define(
        "subject",
        name(context, certificate.subject(), Part::Subject)?,
    )?;
    parsed.define("issuer", name(context, certificate.issuer(), Part::Issuer)?)?;
    let validity = certificate.validity();
    parsed.define("notBefore", context.string(&date(validity.not_before))?)?;
    parsed.define("notAfter", context.string(&date(validity.not_after))?)?;
    parsed.define("altNames", context.strings(alt_names(certificate))?)?;
    parsed.define(
        "signatureAlgorithm",
        context.string(&signature_algorithm(certificate))?,
    )?;
    let print = digests::digest(Algorithm::Sha1, certificate.as_raw());
    let print: Vec<_> = print.iter().map(|byte| context.number(*byte)).collect();
    parsed.define("fingerPrint", context.array(print)?)?;
    parsed.define("publicKey", public_key(context, certificate)?)?;
    Ok(parsed)
}

/// The names of a subject or an issuer. k6 shows fewer of an issuer's names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Subject,
    Issuer,
}

fn name<'c>(context: &'c Context, name: &X509Name<'_>, part: Part) -> Returned<'c> {
    let all: Vec<(String, String)> = name
        .iter_attributes()
        .map(|attribute| {
            let value = match attribute.as_str() {
                Ok(text) => text.to_owned(),
                Err(_) => String::from_utf8_lossy(attribute.as_slice()).into_owned(),
            };
            (attribute.attr_type().to_id_string(), value)
        })
        .collect();
    let values = |id: &'static str| {
        all.iter()
            .filter(move |(known, _)| known == id)
            .map(|(_, value)| value.as_str())
    };
    let first = |id| context.string(values(id).next().unwrap_or_default());
    let shown = context.object()?;
    // As in Go, the last common name is used, and the first value of every other attribute.
    let common_name = values("2.5.4.3").next_back().unwrap_or_default();
    shown.define("commonName", context.string(common_name)?)?;
    shown.define("country", first("2.5.4.6")?)?;
    if part == Part::Subject {
        shown.define("postalCode", first("2.5.4.17")?)?;
    }
    shown.define("stateOrProvinceName", first("2.5.4.8")?)?;
    shown.define("localityName", first("2.5.4.7")?)?;
    if part == Part::Subject {
        shown.define("streetAddress", first("2.5.4.9")?)?;
    }
    shown.define("organizationName", first("2.5.4.10")?)?;
    if part == Part::Subject {
        let units = context.strings(values("2.5.4.11"))?;
        shown.define("organizationalUnitName", units)?;
    }
    let names = all.iter().map(|(id, value)| {
        let name = context.object()?;
        name.define("type", context.string(id)?)?;
        name.define("value", context.string(value)?)?;
        Ok(name)
    });
    let names: Result<Vec<_>, Thrown> = names.collect();
    shown.define("names", context.array(names?)?)?;
    Ok(shown)
}

/// The alternative names, sorted as in k6: hosts, email addresses, IP addresses, URIs.
fn alt_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(names)) = certificate.subject_alternative_name() else {
        return Vec::new();
    };
    let mut ranked: Vec<(u8, String)> = names
        .value
        .general_names
        .iter()
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((0, (*name).to_owned())),
            GeneralName::RFC822Name(name) => Some((1, (*name).to_owned())),
            GeneralName::IPAddress(bytes) => Some((2, ip(bytes)?)),
            GeneralName::URI(name) => Some((3, (*name).to_owned())),
            _ => None,
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, name)| name).collect()
}

fn ip(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(Ipv6Addr::from(sixteen).to_string())
}

/// RFC 3339, in UTC.
fn date(time: ASN1Time) -> String {
    let time = time.to_datetime();
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        time.year(),
        u8::from(time.month()),
        time.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

/// k6's name of the algorithm that the issuer signed with.
fn signature_algorithm(certificate: &X509Certificate<'_>) -> String {
    let written = &certificate.signature_algorithm;
    if let Ok(SignatureAlgorithm::RSASSA_PSS(parameters)) = SignatureAlgorithm::try_from(written) {
        let hash = match parameters.hash_algorithm_oid().to_id_string().as_str() {
            "2.16.840.1.101.3.4.2.1" => "SHA256",
            "2.16.840.1.101.3.4.2.2" => "SHA384",
            "2.16.840.1.101.3.4.2.3" => "SHA512",
            _ => return "UnknownSignatureAlgorithm".to_owned(),
        };
        return format!("{hash}-RSAPSS");
    }
    match written.algorithm.to_id_string().as_str() {
        "1.2.840.113549.1.1.2" => "MD2-RSA",
        "1.2.840.113549.1.1.4" => "MD5-RSA",
        "1.2.840.113549.1.1.5" => "SHA1-RSA",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.10040.4.3" => "DSA-SHA1",
        "2.16.840.1.101.3.4.3.2" => "DSA-SHA256",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        _ => "UnknownSignatureAlgorithm",
    }
    .to_owned()
}

fn public_key<'c>(context: &'c Context, certificate: &X509Certificate<'_>) -> Returned<'c> {
    let (algorithm, key) = match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(rsa)) => {
            let key = context.object()?;
            key.define("n", big_integer(context, rsa.modulus)?)?;
            let exponent = rsa.try_exponent().unwrap_or_default();
            key.define("e", context.integer(exponent))?;
            ("RSA", key)
        }
        Ok(PublicKey::EC(point)) => {
            let coordinates = point.data().strip_prefix(&[4]).unwrap_or_default();
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            let key = context.object()?;
            key.define("curve", context.object()?)?;
            key.define("x", big_integer(context, x)?)?;
            key.define("y", big_integer(context, y)?)?;
            ("ECDSA", key)
        }
        _ => return Err(context.throw_plain("unsupported public key algorithm")),
    };
    let public = context.object()?;
    public.define("algorithm", context.string(algorithm)?)?;
    public.define("key", key)?;
    Ok(public)
}

/// A BigInt from big-endian bytes.
fn big_integer<'c>(context: &'c Context, bytes: &[u8]) -> Result<Value<'c>, Thrown> {
    let text = context.string(&format!("0x0{}", digests::hex(bytes)))?;
    let constructor = context.global().get("BigInt")?;
    constructor.call(&context.undefined(), &[&text])
}
