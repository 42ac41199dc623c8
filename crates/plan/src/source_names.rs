//! Names the flag, the variable or the file that set an option, in errors about the option.

use std::collections::BTreeMap;

use crate::error::Errors;
use crate::layers::Layers;
use crate::options::Options;
use crate::options::flags::flag_of;

/// The sources of the options that the script itself does not set, by option.
#[derive(Clone, Debug, Default)]
pub struct SourceNames(BTreeMap<String, Source>);

#[derive(Clone, Debug)]
enum Source {
    ConfigFile,
    /// A flag or a variable.
    Named(String),
}

impl SourceNames {
    /// Finds the source of each option, which is the highest layer that sets it.
    pub fn of(layers: &Layers) -> SourceNames {
        let mut names = BTreeMap::new();
        for key in keys(&layers.config) {
            names.insert(key, Source::ConfigFile);
        }
        for key in keys(&layers.script) {
            names.remove(&key);
        }
        for key in keys(&layers.env) {
            if let Some(variable) = Options::variable_of(&key) {
                names.insert(key, Source::Named(variable.to_owned()));
            }
        }
        for key in keys(&layers.flags) {
            if let Some(variable) = Options::variable_of(&key) {
                names.insert(key, Source::Named(flag_of(variable)));
            }
        }
        SourceNames(names)
    }

    /// Replaces the options in the places of errors by their sources.
    pub fn apply(&self, errors: &mut Errors) {
        for fault in &mut errors.0 {
            let end = fault.place.find(['.', '[']).unwrap_or(fault.place.len());
            let (key, rest) = fault.place.split_at(end);
            match self.0.get(key) {
                Some(Source::ConfigFile) => fault.place = format!("config file: {}", fault.place),
                Some(Source::Named(name)) => {
                    // A part of a value is named in the message.
                    if !rest.is_empty() {
                        fault.message = format!("{}: {}", fault.place, fault.message);
                    }
                    fault.place.clone_from(name);
                }
                None => {}
            }
        }
    }
}

/// The options that are set.
fn keys(options: &Options) -> Vec<String> {
    match options.to_script_json() {
        serde_json::Value::Object(object) => object.into_iter().map(|(key, _)| key).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(value: serde_json::Value) -> Options {
        Options::from_json(value).unwrap().0
    }

    #[test]
    fn errors_name_the_highest_layer_that_sets_the_option() {
        let names = SourceNames::of(&Layers {
            config: options(json!({"vus": 1, "duration": "1s", "rps": 3})),
            script: options(json!({"vus": 2})),
            env: options(json!({"duration": "2s", "stages": [], "insecureSkipTLSVerify": true})),
            flags: options(json!({"stages": [], "batchPerHost": 1})),
            merges_tags: false,
        });
        let named = |place: &str| {
            let mut errors = Errors::default();
            errors.push(place, "wrong");
            names.apply(&mut errors);
            errors.to_string()
        };
        assert_eq!(named("vus"), "vus: wrong");
        assert_eq!(named("rps"), "config file: rps: wrong");
        assert_eq!(named("duration"), "K6_DURATION: wrong");
        assert_eq!(named("stages[0]"), "--stage: stages[0]: wrong");
        assert_eq!(named("batchPerHost"), "--batch-per-host: wrong");
        assert_eq!(named("scenarios.a.vus"), "scenarios.a.vus: wrong");
        assert_eq!(named(""), "wrong");
    }
}
