//! Parses `--out`: the destinations of all samples of a run.

use plimsoll_exporters::{Receiver, Variables};
use plimsoll_output::output::OutputSpec;

/// The destination of an output.
#[derive(Clone, Debug)]
pub enum OutputChoice {
    /// A file or stdout.
    Written(OutputSpec),
    /// A monitoring system.
    Sent(Box<Receiver>),
}

/// The parsed arguments of all `--out` flags.
#[derive(Clone, Debug, Default)]
pub struct OutputChoices<'a> {
    pub choices: Vec<OutputChoice>,
    /// The settings of k6's `web-dashboard`, which enables the live page.
    pub dashboard: Option<&'a str>,
}

impl OutputChoice {
    /// Parses the arguments of all `--out` flags.
    ///
    /// # Errors
    /// Names the invalid argument and the correct form.
    pub fn parse_all(texts: &[String]) -> Result<OutputChoices<'_>, String> {
        let variables = environment();
        let mut all = OutputChoices::default();
        for text in texts.iter().filter(|text| !text.is_empty()) {
            match text.split_once('=').unwrap_or((text, "")) {
                ("web-dashboard", settings) => {
                    all.dashboard.get_or_insert(settings);
                }
                _ => {
                    let choice = OutputChoice::parse(text, Variables::new(&variables))?;
                    all.choices.push(choice);
                }
            }
        }
        Ok(all)
    }

    /// Parses one `NAME=ARGUMENT`. Monitoring systems have more settings in k6's environment variables.
    ///
    /// # Errors
    /// If the output is unknown, or if its settings are invalid.
    pub fn parse(text: &str, variables: Variables<'_>) -> Result<OutputChoice, String> {
        let (name, argument) = text.split_once('=').unwrap_or((text, ""));
        if let Some(receiver) = Receiver::parse(name, argument, variables)? {
            return Ok(OutputChoice::Sent(Box::new(receiver)));
        }
        let spec = OutputSpec::parse(text).map_err(|error| error.to_string())?;
        Ok(OutputChoice::Written(spec))
    }

    /// Parses `--traces-output`. `None` if no traces are requested.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn traces(text: &str) -> Result<Option<OutputChoice>, String> {
        let receiver = Receiver::of_traces(text, Variables::new(&environment()))?;
        Ok(receiver.map(|receiver| OutputChoice::Sent(Box::new(receiver))))
    }

    /// The share of requests that are traced, if this output receives traces.
    pub fn traced(&self) -> Option<f64> {
        match self {
            OutputChoice::Written(_) => None,
            OutputChoice::Sent(receiver) => receiver.traced(),
        }
    }

    /// The description of the output in a run's banner.
    pub fn describe(&self) -> String {
        match self {
            OutputChoice::Written(spec) => spec.describe(),
            OutputChoice::Sent(receiver) => receiver.describe(),
        }
    }
}

/// The environment variables that are valid UTF-8.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
