//! The outputs that a run is requested to write.

#[cfg(feature = "scripts")]
use std::io::Write;

#[cfg(feature = "scripts")]
use plimsoll_output::output_csv::TimeFormat;

#[cfg(feature = "scripts")]
use crate::output_choice::OutputChoice;

/// The outputs that receive all samples of a run. A build without scripts has none.
pub struct OutputRequest {
    #[cfg(feature = "scripts")]
    pub choices: Vec<OutputChoice>,
    #[cfg(feature = "scripts")]
    pub csv_time: TimeFormat,
    /// Opens stdout for outputs that need it.
    #[cfg(feature = "scripts")]
    pub stdout: fn() -> Box<dyn Write + Send>,
}

impl OutputRequest {
    /// Whether any output is requested.
    #[cfg(feature = "scripts")]
    pub(crate) fn has_any(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Whether any output is requested.
    #[cfg(not(feature = "scripts"))]
    pub(crate) fn has_any(&self) -> bool {
        false
    }
}

/// No outputs.
impl Default for OutputRequest {
    fn default() -> Self {
        OutputRequest {
            #[cfg(feature = "scripts")]
            choices: Vec::new(),
            #[cfg(feature = "scripts")]
            csv_time: TimeFormat::default(),
            #[cfg(feature = "scripts")]
            stdout: || Box::new(std::io::sink()),
        }
    }
}
