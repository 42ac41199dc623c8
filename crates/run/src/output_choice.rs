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

impl OutputChoice {
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

    /// The description of the output in the banner of a run.
    pub fn describe(&self) -> String {
        match self {
            OutputChoice::Written(spec) => spec.describe(),
            OutputChoice::Sent(receiver) => receiver.describe(),
        }
    }
}
