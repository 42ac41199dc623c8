//! The formats of option values in JSON and in environment variables.

mod read;

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_address::{HostAddress, HostPattern, IpPool, IpRange};
use serde_json::{Map, Value};

use crate::dns::DnsOptions;
use crate::error::excerpt;
use crate::segment::{Segment, SegmentSequence};
use crate::stage::StageOption;

pub(crate) use read::{Fields, Findings, Reader};

/// A type of option: reads JSON and strings, writes JSON, and merges with the value of a lower layer.
pub(crate) trait OptionValue: Sized {
    /// Reads a value that is not `null`. Errors are reported to the reader.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<Self>;

    /// The meaning of `null` in a list or an object. It is invalid for most types.
    fn of_null() -> Option<Self> {
        None
    }

    /// Parses the value of an environment variable.
    fn from_text(text: &str) -> Result<Self, String>;

    /// The value in k6's format.
    fn to_json(&self) -> Value;

    /// Merges this value with the value of a lower layer. It replaces that value unless the type has parts that can be
    /// unset.
    fn merge_over(self, _lower: Self) -> Self {
        self
    }
}

/// The type of a value, for an error message.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Parses types that are written as strings.
pub(crate) fn from_string<T, E: ToString>(
    value: &Value,
    reader: &mut Reader<'_>,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Option<T> {
    match value {
        Value::String(text) => match parse(text) {
            Ok(value) => Some(value),
            Err(fault) => reader.fault(fault.to_string()),
        },
        other => reader.wrong_kind("a string", other),
    }
}

impl OptionValue for bool {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<bool> {
        match value {
            Value::Bool(value) => Some(*value),
            other => reader.wrong_kind("true or false", other),
        }
    }

    fn from_text(text: &str) -> Result<bool, String> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(format!("\"{}\" is not true or false", excerpt(other))),
        }
    }

    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
}

impl OptionValue for i64 {
    /// Accepts whole numbers, and strings that contain one.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<i64> {
        match value {
            Value::Number(number) => match whole(number) {
                Some(number) => Some(number),
                None => reader.fault(format!("must be a whole number, not {number}")),
            },
            Value::String(text) => match i64::from_text(text) {
                Ok(number) => Some(number),
                Err(message) => reader.fault(message),
            },
            other => reader.wrong_kind("a whole number", other),
        }
    }

    fn from_text(text: &str) -> Result<i64, String> {
        text.parse()
            .map_err(|_| format!("\"{}\" is not a whole number", excerpt(text)))
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

/// The number if it is whole. In scripts, `5` and `5.0` are the same.
fn whole(number: &serde_json::Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        // Up to 2^53, a float represents every integer exactly.
        (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
    })
}

impl OptionValue for String {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<String> {
        from_string(value, reader, |text| Ok::<_, String>(text.to_owned()))
    }

    fn of_null() -> Option<String> {
        Some(String::new())
    }

    fn from_text(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }
}

impl OptionValue for Duration {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<Duration> {
        let read = match value {
            Value::String(text) => plimsoll_units::duration::parse(text),
            Value::Number(number) => {
                plimsoll_units::duration::from_millis(number.as_f64().unwrap_or(f64::INFINITY))
            }
            other => {
                return reader.wrong_kind(
                    "a duration such as \"1m30s\" or a number of milliseconds",
                    other,
                );
            }
        };
        match read {
            Ok(span) => Some(span),
            Err(fault) => reader.fault(fault.to_string()),
        }
    }

    fn from_text(text: &str) -> Result<Duration, String> {
        plimsoll_units::duration::parse(text).map_err(|e| e.to_string())
    }

    fn to_json(&self) -> Value {
        Value::String(plimsoll_units::duration::format(*self))
    }
}

/// Passed through unchanged. It must be an object.
impl OptionValue for Value {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<Value> {
        match value {
            Value::Object(_) | Value::Null => Some(value.clone()),
            other => reader.wrong_kind("an object", other),
        }
    }

    fn from_text(text: &str) -> Result<Value, String> {
        serde_json::from_str(text).map_err(|e| format!("is not JSON: {e}"))
    }

    fn to_json(&self) -> Value {
        self.clone()
    }
}

impl<T: OptionValue> OptionValue for Vec<T> {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<Vec<T>> {
        let Value::Array(items) = value else {
            return reader.wrong_kind("a list", value);
        };
        let read = |(index, item): (usize, &Value)| {
            reader.inside(&format!("[{index}]"), |reader| T::from_json(item, reader))
        };
        // Read every item first, so that all errors are reported.
        let read: Vec<Option<T>> = items.iter().enumerate().map(read).collect();
        read.into_iter().collect()
    }

    fn of_null() -> Option<Vec<T>> {
        Some(Vec::new())
    }

    /// Items separated by commas. A trailing comma is allowed.
    fn from_text(text: &str) -> Result<Vec<T>, String> {
        let items = text.strip_suffix(',').unwrap_or(text).split(',');
        items.map(|item| T::from_text(item.trim())).collect()
    }

    fn to_json(&self) -> Value {
        Value::Array(self.iter().map(OptionValue::to_json).collect())
    }
}

impl<T: OptionValue> OptionValue for BTreeMap<String, T> {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<BTreeMap<String, T>> {
        let Value::Object(object) = value else {
            return reader.wrong_kind("an object", value);
        };
        let mut all = Some(BTreeMap::new());
        for (key, item) in object {
            let read = match T::of_null() {
                Some(value) if item.is_null() => Some(value),
                _ => reader.inside(key, |reader| T::from_json(item, reader)),
            };
            match (read, &mut all) {
                (Some(item), Some(map)) => {
                    map.insert(key.clone(), item);
                }
                _ => all = None,
            }
        }
        all
    }

    /// `key:value` pairs separated by commas, or a JSON object.
    fn from_text(text: &str) -> Result<BTreeMap<String, T>, String> {
        let mut map = BTreeMap::new();
        for pair in text.strip_suffix(',').unwrap_or(text).split(',') {
            let (key, value) = pair.split_once(':').ok_or_else(|| {
                format!(
                    "\"{}\" has no colon: write key:value,key:value",
                    excerpt(pair)
                )
            })?;
            map.insert(key.to_owned(), T::from_text(value)?);
        }
        Ok(map)
    }

    fn to_json(&self) -> Value {
        let entries = self
            .iter()
            .map(|(key, value)| (key.clone(), value.to_json()));
        Value::Object(entries.collect::<Map<_, _>>())
    }
}

/// Implements `OptionValue` for types that are strings in JSON.
macro_rules! text_value {
    ($( $type:ty: $parse:expr, $show:expr; )*) => { $(
        impl OptionValue for $type {
            fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<$type> {
                from_string(value, reader, $parse)
            }

            fn from_text(text: &str) -> Result<$type, String> {
                $parse(text).map_err(|fault| fault.to_string())
            }

            fn to_json(&self) -> Value {
                let show: fn(&$type) -> String = $show;
                Value::String(show(self))
            }
        }
    )* };
}
pub(crate) use text_value;

text_value! {
    Segment: Segment::parse, |v| v.to_string();
    SegmentSequence: SegmentSequence::parse, |v| v.to_string();
    HostPattern: HostPattern::parse, |v| v.as_str().to_owned();
    IpRange: IpRange::parse_block, |v| v.to_string();
    IpPool: IpPool::parse, |v| v.as_str().to_owned();
    HostAddress: HostAddress::parse, |v| v.to_string();
}

impl OptionValue for StageOption {
    /// Unknown fields of a stage are ignored, as in k6.
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<StageOption> {
        if value.is_null() {
            return Some(StageOption::default());
        }
        let mut fields = Fields::of(value, reader)?;
        let duration = fields.take("duration", reader);
        let target = fields.take("target", reader);
        Some(StageOption { duration, target })
    }

    fn from_text(text: &str) -> Result<StageOption, String> {
        StageOption::parse(text).map_err(|fault| fault.to_string())
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        let duration = self
            .duration
            .as_ref()
            .map_or(Value::Null, OptionValue::to_json);
        object.insert("duration".to_owned(), duration);
        object.insert(
            "target".to_owned(),
            self.target.map_or(Value::Null, Value::from),
        );
        Value::Object(object)
    }
}

impl OptionValue for DnsOptions {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<DnsOptions> {
        let mut fields = Fields::of(value, reader)?;
        Some(DnsOptions {
            ttl: fields.take("ttl", reader),
            select: fields.take("select", reader),
            policy: fields.take("policy", reader),
        })
    }

    fn from_text(text: &str) -> Result<DnsOptions, String> {
        DnsOptions::parse(text).map_err(|fault| fault.to_string())
    }

    fn to_json(&self) -> Value {
        let part = |part: Option<String>| part.map_or(Value::Null, Value::String);
        let mut object = Map::new();
        object.insert(
            "ttl".to_owned(),
            part(self.ttl.as_ref().map(ToString::to_string)),
        );
        object.insert(
            "select".to_owned(),
            part(self.select.map(|v| v.to_string())),
        );
        object.insert(
            "policy".to_owned(),
            part(self.policy.map(|v| v.to_string())),
        );
        Value::Object(object)
    }

    fn merge_over(self, lower: DnsOptions) -> DnsOptions {
        DnsOptions {
            ttl: self.ttl.or(lower.ttl),
            select: self.select.or(lower.select),
            policy: self.policy.or(lower.policy),
        }
    }
}
