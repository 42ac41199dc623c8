//! Reads the config file: options of scripts, and settings of the program.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plimsoll_machine::read_text_file;
use plimsoll_plan::{Options, Warning};
use serde_json::Value;

use crate::Refusal;

/// The contents of a config file; empty if there is none.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    pub options: Options,
    /// Problems that do not prevent the run.
    pub warnings: Vec<Warning>,
    /// The outputs, in the form of `--out`.
    pub outputs: Vec<String>,
    /// Whether to serve the live page.
    pub has_page: bool,
    /// Whether to keep running after the test.
    pub lingers: bool,
}

impl ConfigFile {
    /// Reads the given file, or the user's own if it exists.
    ///
    /// # Errors
    /// If the file cannot be read, or if a value has the wrong type.
    pub fn read(named: Option<&Path>) -> Result<ConfigFile, Refusal> {
        match json(named).map_err(Refusal::config)? {
            None => Ok(ConfigFile::default()),
            Some(value) => ConfigFile::parse(value).map_err(Refusal::config),
        }
    }

    fn parse(value: Value) -> Result<ConfigFile, String> {
        let setting = |name: &str| {
            let members = value.as_object()?;
            // As in k6, names are case-insensitive, and null means unset.
            let mut members = members.iter();
            let found = members.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found
                .map(|(_, value)| value)
                .filter(|value| !value.is_null())
        };
        let boolean = |name: &str| match setting(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(other) => Err(format!(
                "config file: {name}: must be true or false, but is {other}"
            )),
        };
        let outputs = match setting("out") {
            None => Vec::new(),
            Some(list) => serde_json::from_value(list.clone()).map_err(|_| {
                format!("config file: out: must be a list of outputs like [\"json=FILE\"], but is {list}")
            })?,
        };
        let (has_page, lingers) = (boolean("webDashboard")?, boolean("linger")?);
        let (options, warnings) =
            Options::from_config(value).map_err(|errors| errors.to_string())?;
        Ok(ConfigFile {
            options,
            warnings,
            outputs,
            has_page,
            lingers,
        })
    }
}

/// The JSON of the given config file, or of the user's own if it exists.
fn json(named: Option<&Path>) -> Result<Option<Value>, String> {
    let own = config_home().map(|home| home.join("k6/config.json"));
    let (path, must_exist) = match (named, own) {
        (Some(path), _) => (path.to_owned(), true),
        (None, Some(path)) => (path, false),
        (None, None) => return Ok(None),
    };
    let text = match read_text_file(&path) {
        Ok(text) => text,
        Err(error) if !must_exist && error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(format!(
                "cannot read the config file {}: {error}",
                path.display()
            ));
        }
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| format!("the config file {} is not JSON: {error}", path.display()))
}

fn config_home() -> Option<PathBuf> {
    std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_of_the_program_and_options_are_read() {
        let config =
            json!({"vus": 3, "Out": ["json=a.json", "csv"], "webDashboard": true, "linger": null});
        let config = ConfigFile::parse(config).unwrap();
        assert_eq!(config.options.vus, Some(3));
        assert_eq!(config.outputs, ["json=a.json", "csv"]);
        assert!(config.has_page && !config.lingers);
        assert!(config.warnings.is_empty());
    }

    #[test]
    fn wrong_types_are_named() {
        for (config, place) in [
            (json!({"out": 5}), "out"),
            (json!({"out": "json"}), "out"),
            (json!({"out": [5]}), "out"),
            (json!({"webDashboard": "yes"}), "webDashboard"),
            (json!({"linger": 1}), "linger"),
            (json!({"vus": []}), "vus"),
        ] {
            let error = ConfigFile::parse(config).unwrap_err();
            assert!(
                error.starts_with(&format!("config file: {place}: ")),
                "{error}"
            );
        }
    }
}
