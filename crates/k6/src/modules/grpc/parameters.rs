//! The parameter objects of calls and connections.

use std::time::Duration;

use plimsoll_grpc::Metadata;
use plimsoll_quickjs::{Thrown, Value};

use crate::modules::sample_tags::SampleTags;

pub struct CallParameters {
    pub metadata: Metadata,
    pub tags: SampleTags,
    /// `None` means no limit.
    pub timeout: Option<Duration>,
    pub discard: bool,
}

impl Default for CallParameters {
    fn default() -> Self {
        CallParameters {
            metadata: Metadata::new(),
            tags: SampleTags::default(),
            timeout: Some(Duration::from_secs(120)),
            discard: false,
        }
    }
}

/// Parameters of a connection.
pub struct ConnectParameters {
    pub plaintext: bool,
    pub timeout: Duration,
    pub reflect: bool,
    pub reflect_metadata: Metadata,
    pub max_receive: Option<usize>,
    pub max_send: Option<usize>,
    pub authority: Option<String>,
    pub tls: Option<Tls>,
}

impl Default for ConnectParameters {
    fn default() -> Self {
        ConnectParameters {
            plaintext: false,
            timeout: Duration::from_secs(60),
            reflect: false,
            reflect_metadata: Metadata::new(),
            max_receive: None,
            max_send: None,
            authority: None,
            tls: None,
        }
    }
}

/// PEM strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub cert: String,
    pub key: String,
    pub password: String,
    pub cacerts: Vec<String>,
    /// Accept any certificate.
    pub accepts_any: bool,
}

/// A result, or an exception from the script's own code.
type Read<T> = Result<Result<T, String>, Thrown>;

/// Returns early with the error message.
macro_rules! tell {
    ($read:expr) => {
        match $read {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

/// Reads `{ metadata, tags, timeout, discardResponseMessage }`. Streams do not have the last one.
pub fn of_call(value: &Value<'_>, streams: bool) -> Read<CallParameters> {
    let mut read = CallParameters::default();
    if streams {
        read.timeout = None;
    }
    if value.is_nullish() {
        return Ok(Ok(read));
    }
    for key in value.keys()? {
        let name = key.text();
        let value = value.get(&key)?;
        match name.as_str() {
            "metadata" => read.metadata = tell!(metadata("metadata", &value)?),
            "tags" => {
                read.tags = tell!(
                    SampleTags::read(&value)?.map_err(|error| format!("metric tags: {error}"))
                );
            }
            "timeout" => {
                let timeout = tell!(duration(&value)?);
                read.timeout = Some(timeout);
            }
            "discardResponseMessage" if !streams => read.discard = value.is_truthy(),
            other => return Ok(Err(format!("unknown param: {other:?}"))),
        }
    }
    Ok(Ok(read))
}

/// Reads the parameters of `connect`.
pub fn of_connect(value: &Value<'_>) -> Read<ConnectParameters> {
    let mut read = ConnectParameters::default();
    if value.is_nullish() || !(value.is_object() || value.is_string()) {
        return Ok(Ok(read));
    }
    if value.is_string() {
        return Ok(Err("unknown connect param: \"0\"".to_owned()));
    }
    for key in value.keys()? {
        let name = key.text();
        let value = value.get(&key)?;
        match name.as_str() {
            "plaintext" => read.plaintext = tell!(truth("plaintext", &value)?),
            "reflect" => read.reflect = tell!(truth("reflect", &value)?),
            "reflectMetadata" => {
                read.reflect_metadata = tell!(metadata("reflectMetadata", &value)?);
            }
            "timeout" => read.timeout = tell!(duration(&value)?),
            "maxReceiveSize" => read.max_receive = Some(tell!(size("maxReceiveSize", &value)?)),
            "maxSendSize" => read.max_send = Some(tell!(size("maxSendSize", &value)?)),
            "authority" if value.is_string() => {
                read.authority = Some(value.to_text()?.into_string());
            }
            "authority" => {
                let shown = shown(&value)?;
                return Ok(Err(format!(
                    "invalid authority value: '{shown}', it needs to be a string"
                )));
            }
            "tls" => read.tls = Some(tell!(tls(&value)?)),
            other => return Ok(Err(format!("unknown connect param: {other:?}"))),
        }
    }
    Ok(Ok(read))
}

/// A value as error messages show it.
fn shown(value: &Value<'_>) -> Result<String, Thrown> {
    Ok(value.to_json()?.unwrap_or_default())
}

fn truth(name: &str, value: &Value<'_>) -> Read<bool> {
    match value.as_bool() {
        Some(truth) => Ok(Ok(truth)),
        None => Ok(Err(format!(
            "invalid {name} value: '{}', it needs to be boolean",
            shown(value)?
        ))),
    }
}

fn size(name: &str, value: &Value<'_>) -> Read<usize> {
    let whole = value.as_number().filter(|number| number.fract() == 0.0);
    let Some(number) = whole else {
        return Ok(Err(format!(
            "invalid {name} value: '{}', it needs to be an integer",
            shown(value)?
        )));
    };
    if number < 0.0 {
        return Ok(Err(format!(
            "invalid {name} value: '{number}, it needs to be a positive integer"
        )));
    }
    Ok(Ok(number as usize))
}

fn duration(value: &Value<'_>) -> Read<Duration> {
    if let Some(number) = value.as_number() {
        return Ok(Ok(
            Duration::try_from_secs_f64(number / 1e3).unwrap_or_default()
        ));
    }
    if !value.is_string() {
        return Ok(Err(
            "invalid timeout value: it is neither a number of milliseconds nor a string like \"10s\""
                .to_owned(),
        ));
    }
    let text = value.to_text()?;
    Ok(plimsoll_units::duration::parse(&text)
        .map_err(|_| format!("invalid timeout value: time: invalid duration {:?}", &*text)))
}

fn metadata(name: &str, value: &Value<'_>) -> Read<Metadata> {
    let mut metadata = Metadata::new();
    if value.is_nullish() {
        return Ok(Ok(metadata));
    }
    if !value.is_object() {
        return Ok(Err(format!(
            "invalid {name} param: must be an object with key-value pairs"
        )));
    }
    for key in value.keys()? {
        let value = value.get(&key)?;
        let key = key.text();
        let bytes = if key.to_ascii_lowercase().ends_with("-bin") {
            match value.to_bytes() {
                Some(bytes) => bytes,
                None => {
                    return Ok(Err(format!(
                        "invalid {name} param: {key:?} value must be binary"
                    )));
                }
            }
        } else if value.is_string() {
            value.to_text()?.as_bytes().to_vec()
        } else {
            return Ok(Err(format!(
                "invalid {name} param: {key:?} value must be a string"
            )));
        };
        tell!(
            metadata
                .append(&key, &bytes)
                .map_err(|error| format!("invalid {name} param: {error}"))
        );
    }
    Ok(Ok(metadata))
}

fn tls(value: &Value<'_>) -> Read<Tls> {
    let mut read = Tls::default();
    if !value.is_object() {
        return Ok(Err(format!(
            "invalid tls value: '{}', expected (optional) keys: cert, key, password, and cacerts",
            shown(value)?
        )));
    }
    let text = |name: &str| -> Read<String> {
        let part = value.get(name)?;
        if part.is_undefined() {
            return Ok(Ok(String::new()));
        }
        if !part.is_string() {
            return Ok(Err(format!(
                "invalid tls {name} value: '{}', it needs to be a PEM formatted string",
                shown(&part)?
            )));
        }
        Ok(Ok(part.to_text()?.into_string()))
    };
    read.cert = tell!(text("cert")?);
    read.key = tell!(text("key")?);
    read.password = tell!(text("password")?);
    let authorities = value.get("cacerts")?;
    let complaint = "it needs to be a string or an array of PEM formatted strings";
    if authorities.is_string() {
        read.cacerts.push(authorities.to_text()?.into_string());
    } else if authorities.is_array() {
        for (_, one) in authorities.entries()? {
            if !one.is_string() {
                return Ok(Err(format!(
                    "invalid tls cacerts value: '{}', {complaint}",
                    shown(&one)?
                )));
            }
            read.cacerts.push(one.to_text()?.into_string());
        }
    } else if !authorities.is_nullish() {
        return Ok(Err(format!(
            "invalid tls cacerts value: '{}', {complaint}",
            shown(&authorities)?
        )));
    }
    Ok(Ok(read))
}
