//! Parses the outputs of a run: `--out`.

use plimsoll_output::output_csv::TimeFormat;
use plimsoll_run::{OutputChoice, OutputChoices, OutputRequest, Refusal};

/// Parses these arguments of `--out`. Also returns the settings of k6's `web-dashboard`, which requests the live page.
///
/// # Errors
/// The invalid argument or variable, and the correct form.
pub fn requested(texts: &[String]) -> Result<(OutputRequest, Option<&str>), Refusal> {
    let OutputChoices { choices, dashboard } =
        OutputChoice::parse_all(texts).map_err(Refusal::other)?;
    let request = OutputRequest {
        choices,
        csv_time: TimeFormat::from_environment().map_err(Refusal::config)?,
        stdout: || Box::new(std::io::stdout()),
    };
    Ok((request, dashboard))
}
