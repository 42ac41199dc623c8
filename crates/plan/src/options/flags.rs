//! The options as flags of a command. Their values have the same syntax as the environment variables with the same
//! names.

use std::collections::BTreeMap;

use super::{Options, parse_tag};
use crate::{Errors, Fault, Segment, SegmentSequence};

/// Flags whose environment variable has a different name.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("--stage", "K6_STAGES"),
    ("--blacklist-ip", "K6_BLACKLIST_IPS"),
    ("--insecure", "K6_INSECURE_SKIP_TLS_VERIFY"),
    ("--no-keepalive", "K6_NO_CONNECTION_REUSE"),
    ("--connections-per-user", "PLIMSOLL_CONNECTIONS_PER_USER"),
    (
        "--streams-per-connection",
        "PLIMSOLL_STREAMS_PER_CONNECTION",
    ),
    ("--unix-socket", "PLIMSOLL_UNIX_SOCKET"),
];

impl Options {
    /// Reads flags with their values, such as `("--vus", "10")`. Flags that are lists may be repeated, and their items
    /// may be separated by commas. Other flags than those of options are ignored.
    ///
    /// # Errors
    /// All errors, each with the flag's name.
    pub fn from_flags(given: &[(String, String)]) -> Result<Options, Errors> {
        let mut faults = Vec::new();
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        let mut tags = BTreeMap::new();
        let mut segment = None;
        let mut sequence = None;
        for (flag, value) in given {
            let read = match flag.as_str() {
                "--execution-segment" => Segment::parse(value).map(|read| segment = Some(read)),
                "--execution-segment-sequence" => {
                    SegmentSequence::parse(value).map(|read| sequence = Some(read))
                }
                "--tag" => parse_tag(value).map(|(name, value)| _ = tags.insert(name, value)),
                _ => {
                    let joined = variables.entry(variable(flag)).and_modify(|items| {
                        items.push(',');
                        items.push_str(value);
                    });
                    joined.or_insert_with(|| value.clone());
                    match flag.as_str() {
                        "--duration" | "--min-iteration-duration" => {
                            plimsoll_units::duration::needs_unit(value)
                                .map_err(|text| Fault::at("", text))
                        }
                        _ => Ok(()),
                    }
                }
            };
            let named = |fault: Fault| Fault::at(flag.as_str(), fault.message);
            faults.extend(read.err().map(named));
        }
        let mut options = Options::from_env(&variables).unwrap_or_else(|errors| {
            faults.extend(errors.0.into_iter().map(|fault| {
                let flag = given.iter().find(|(flag, _)| variable(flag) == fault.place);
                let place = flag.map_or(fault.place.clone(), |(flag, _)| flag.clone());
                Fault::at(place, fault.message)
            }));
            Options::default()
        });
        options.execution_segment = segment;
        options.execution_segment_sequence = sequence;
        options.tags = (!tags.is_empty()).then_some(tags);
        if faults.is_empty() {
            Ok(options)
        } else {
            Err(Errors(faults))
        }
    }
}

/// The environment variable that corresponds to a flag.
fn variable(flag: &str) -> String {
    let other = OTHER_NAMES.iter().find(|(listed, _)| *listed == flag);
    other.map_or_else(
        || {
            format!(
                "K6_{}",
                flag.trim_start_matches('-')
                    .replace('-', "_")
                    .to_uppercase()
            )
        },
        |(_, name)| (*name).to_owned(),
    )
}

/// The flag that corresponds to an environment variable.
pub(crate) fn flag_of(variable: &str) -> String {
    let other = OTHER_NAMES.iter().find(|(_, listed)| *listed == variable);
    other.map_or_else(
        || {
            let name = variable.trim_start_matches("K6_").replace('_', "-");
            format!("--{}", name.to_lowercase())
        },
        |(flag, _)| (*flag).to_owned(),
    )
}
