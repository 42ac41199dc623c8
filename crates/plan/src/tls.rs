//! TLS settings: versions, cipher suites, client certificates.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::Fault;
use crate::options::{Fields, OptionValue, Reader, no_such};

/// A TLS version by k6's names `tls1.0` … `tls1.3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

/// The range of versions to offer; the library chooses an end that is unset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsVersions {
    pub min: Option<TlsVersion>,
    pub max: Option<TlsVersion>,
}

impl OptionValue for TlsVersions {
    /// `"tls1.2"` for that one alone, or `{ min, max }`.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<TlsVersions> {
        if value.is_string() {
            let only = TlsVersion::from_json(value, reader)?;
            return Some(TlsVersions {
                min: Some(only),
                max: Some(only),
            });
        }
        // An unset end is shown as "", so "" is accepted too.
        let mut value = value.clone();
        if let Value::Object(ends) = &mut value {
            ends.retain(|_, end| end != "");
        }
        let mut fields = Fields::of(&value, reader)?;
        let min = fields.take("min", reader);
        let max = fields.take("max", reader);
        fields.refuse_rest(&["min", "max"], reader);
        if min.is_some() && max.is_some() && min > max {
            return reader.fault("min is above max: no TLS version lies between them");
        }
        Some(TlsVersions { min, max })
    }

    fn from_text(text: &str) -> Result<TlsVersions, String> {
        let only = TlsVersion::parse(text).map_err(|fault| fault.to_string())?;
        Ok(TlsVersions {
            min: Some(only),
            max: Some(only),
        })
    }

    fn to_json(&self) -> Value {
        let name = |end: Option<TlsVersion>| Value::from(end.map_or("", TlsVersion::name));
        let mut object = Map::new();
        object.insert("min".to_owned(), name(self.min));
        object.insert("max".to_owned(), name(self.max));
        Value::Object(object)
    }
}

/// A client certificate and the hosts it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAuth {
    /// The certificate chain in PEM.
    pub cert: String,
    /// The private key in PEM.
    pub key: String,
    /// The key's password, if it is encrypted.
    pub password: Option<String>,
    /// Host names, `*.` wildcards allowed; `None` means every host.
    pub domains: Option<Vec<String>>,
}

impl OptionValue for TlsAuth {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<TlsAuth> {
        let mut fields = Fields::of(value, reader)?;
        let auth = TlsAuth {
            cert: fields.take("cert", reader).unwrap_or_default(),
            key: fields.take("key", reader).unwrap_or_default(),
            password: fields.take("password", reader),
            domains: fields.take("domains", reader),
        };
        fields.refuse_rest(&["cert", "key", "password", "domains"], reader);
        Some(auth)
    }

    fn from_text(_: &str) -> Result<TlsAuth, String> {
        Err("client certificates can only be set by the script or a config file".to_owned())
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("cert".to_owned(), Value::from(self.cert.as_str()));
        object.insert("key".to_owned(), Value::from(self.key.as_str()));
        let password = self.password.as_deref().map_or(Value::Null, Value::from);
        object.insert("password".to_owned(), password);
        let domains = self
            .domains
            .as_ref()
            .map_or(Value::Null, OptionValue::to_json);
        object.insert("domains".to_owned(), domains);
        Value::Object(object)
    }
}

/// A cipher suite of the IANA registry, by its name in Go's `crypto/tls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CipherSuite {
    name: &'static str,
    /// The registry's number.
    pub id: u16,
}

impl CipherSuite {
    /// Finds a suite by name.
    ///
    /// # Errors
    /// When no suite has that name.
    pub fn parse(text: &str) -> Result<CipherSuite, Fault> {
        let known = SUITES.iter().find(|(name, _)| *name == text);
        match known {
            Some(&(name, id)) => Ok(CipherSuite { name, id }),
            None => Err(no_such("cipher suite", text, &SUITES.map(|(name, _)| name))),
        }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// Names and numbers as in the IANA registry "TLS Cipher Suites".
const SUITES: [(&str, u16); 27] = [
    ("TLS_AES_128_GCM_SHA256", 0x1301),
    ("TLS_AES_256_GCM_SHA384", 0x1302),
    ("TLS_CHACHA20_POLY1305_SHA256", 0x1303),
    ("TLS_RSA_WITH_RC4_128_SHA", 0x0005),
    ("TLS_RSA_WITH_3DES_EDE_CBC_SHA", 0x000a),
    ("TLS_RSA_WITH_AES_128_CBC_SHA", 0x002f),
    ("TLS_RSA_WITH_AES_256_CBC_SHA", 0x0035),
    ("TLS_RSA_WITH_AES_128_CBC_SHA256", 0x003c),
    ("TLS_RSA_WITH_AES_128_GCM_SHA256", 0x009c),
    ("TLS_RSA_WITH_AES_256_GCM_SHA384", 0x009d),
    ("TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", 0xc007),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", 0xc009),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", 0xc00a),
    ("TLS_ECDHE_RSA_WITH_RC4_128_SHA", 0xc011),
    ("TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", 0xc012),
    ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", 0xc013),
    ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", 0xc014),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", 0xc023),
    ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", 0xc027),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xc02b),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xc02c),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xc030),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", 0xcca8),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", 0xcca9),
    // The registry's own names of the two above.
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca8),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca9),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::options::Options;

    #[test]
    fn an_open_end_is_read_as_it_is_shown() {
        let (options, _) = Options::from_json(json!({"tlsVersion": {"min": "tls1.3"}})).unwrap();
        let shown = options.to_json();
        assert_eq!(shown["tlsVersion"], json!({"min": "tls1.3", "max": ""}));
        assert_eq!(
            Options::from_json(shown).unwrap().0.tls_version,
            options.tls_version
        );
    }
}
