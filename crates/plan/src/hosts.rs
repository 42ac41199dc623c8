//! The option `hosts`.

use std::collections::BTreeMap;

use plimsoll_address::{HostAddress, HostKey};
use serde_json::{Map, Value};

use crate::error::excerpt;
use crate::option_value::{OptionValue, Reader};

/// The address that a host name is mapped to, with or without a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(pub BTreeMap<HostKey, HostAddress>);

impl OptionValue for Hosts {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<Hosts> {
        let map = BTreeMap::<String, HostAddress>::from_json(value, reader)?;
        let mut hosts = Hosts::default();
        for (key, address) in map {
            match HostKey::parse(&key) {
                Ok(key) => {
                    hosts.0.insert(key, address);
                }
                Err(error) => return reader.fault(error.to_string()),
            }
        }
        Some(hosts)
    }

    fn from_text(text: &str) -> Result<Hosts, String> {
        Err(format!(
            "hosts cannot be set from text: \"{}\"",
            excerpt(text)
        ))
    }

    fn to_json(&self) -> Value {
        let entries = self.0.iter();
        let entries = entries.map(|(key, address)| (key.to_string(), address.to_json()));
        Value::Object(entries.collect::<Map<_, _>>())
    }
}
