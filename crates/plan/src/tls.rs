//! TLS settings: versions, cipher suites, client certificates.

use plimsoll_address::TlsVersion;
use serde_json::{Map, Value};

use crate::option_value::{Fields, OptionValue, Reader};

/// The range of versions to offer. If an end is unset, the library chooses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsVersions {
    pub min: Option<TlsVersion>,
    pub max: Option<TlsVersion>,
}

impl OptionValue for TlsVersions {
    /// `"tls1.2"` for only that version, or `{ min, max }`.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<TlsVersions> {
        if value.is_string() {
            let only = TlsVersion::from_json(value, reader)?;
            return Some(TlsVersions {
                min: Some(only),
                max: Some(only),
            });
        }
        // An unset end is shown as "", so "" is accepted, too.
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

/// A client certificate, and the hosts that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAuth {
    /// The certificate chain in PEM.
    pub cert: String,
    /// The private key in PEM.
    pub key: String,
    /// The key's password, if it is encrypted.
    pub password: Option<String>,
    /// Host names, optionally with a `*.` wildcard; `None` means every host.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::options::Options;

    #[test]
    fn an_unset_end_survives_a_round_trip() {
        let (options, _) = Options::from_json(json!({"tlsVersion": {"min": "tls1.3"}})).unwrap();
        let shown = options.to_json();
        assert_eq!(shown["tlsVersion"], json!({"min": "tls1.3", "max": ""}));
        assert_eq!(
            Options::from_json(shown).unwrap().0.tls_version,
            options.tls_version
        );
    }
}
