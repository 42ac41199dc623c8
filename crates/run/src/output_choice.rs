//! The destination of all samples of a run: `--out`.

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

/// The arguments of all `--out`.
#[derive(Clone, Debug, Default)]
pub struct OutputChoices<'a> {
    pub choices: Vec<OutputChoice>,
    /// The settings of k6's `web-dashboard`, which requests the live page.
    pub dashboard: Option<&'a str>,
}

impl OutputChoice {
    /// Parses the arguments of all `--out`.
    ///
    /// # Errors
    /// The invalid one, and how to write it.
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

    /// Parses `NAME=ARGUMENT` as `--out` has it. Monitoring systems have more settings in k6's environment variables.
    ///
    /// # Errors
    /// When there is no such output, or what is wrong with its settings.
    pub fn parse(text: &str, variables: Variables<'_>) -> Result<OutputChoice, String> {
        let (name, argument) = text.split_once('=').unwrap_or((text, ""));
        if let Some(receiver) = Receiver::parse(name, argument, variables)? {
            return Ok(OutputChoice::Sent(Box::new(receiver)));
        }
        let spec = OutputSpec::parse(text).map_err(|error| error.to_string())?;
        Ok(OutputChoice::Written(spec))
    }

    /// Parses `--traces-output`; `None` if there shall be no traces.
    ///
    /// # Errors
    /// What is wrong with its settings.
    pub fn traces(text: &str) -> Result<Option<OutputChoice>, String> {
        let receiver = Receiver::of_traces(text, Variables::new(&environment()))?;
        Ok(receiver.map(|receiver| OutputChoice::Sent(Box::new(receiver))))
    }

    /// The share of requests that it gets traces of, if it gets traces.
    pub fn traced(&self) -> Option<f64> {
        match self {
            OutputChoice::Written(_) => None,
            OutputChoice::Sent(receiver) => receiver.traced(),
        }
    }

    /// The description of the output in the banner of a run.
    pub fn describe(&self) -> String {
        match self {
            OutputChoice::Written(spec) => spec.describe(),
            OutputChoice::Sent(receiver) => receiver.describe(),
        }
    }
}

/// The environment variables that are text.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
