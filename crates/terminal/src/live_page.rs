//! The live page of a run: `--web`, and k6's variables for its dashboard.

use plimsoll_live::{LivePage, PageTitle, WebRequest};
use plimsoll_report::ReportFile;
use plimsoll_run::{Listener, Refusal};

use crate::messages::{print_message, print_stderr};

/// Serves the page of a run if it is requested, and prints its URL. `flag` is the argument of `--web`, and `output`
/// that of k6's `--out web-dashboard`.
///
/// # Errors
/// If an address is invalid or in use.
pub fn open(
    flag: Option<&str>,
    output: Option<&str>,
    title: PageTitle,
) -> Result<Option<Box<dyn Listener>>, Refusal> {
    let page = page(flag, output)?;
    let listener = page.map(|page| page.listener(title));
    listener.transpose().map_err(Refusal::other)
}

/// Serves the page if it is requested, and prints its URL.
///
/// # Errors
/// If an address is invalid or in use.
pub fn page(flag: Option<&str>, output: Option<&str>) -> Result<Option<LivePage>, Refusal> {
    let variable = |name: &str| std::env::var(name).ok();
    let wanted = WebRequest::of(flag, output, &variable);
    let Some(wanted) = wanted.map_err(Refusal::config)? else {
        return Ok(None);
    };
    let page = LivePage::open(&wanted.address, wanted.flag).map_err(Refusal::config)?;
    // `print_message` would mask the token.
    print_stderr(&format!("live page: {}\n", page.url()));
    if wanted.is_opened {
        page.open_in_browser()
            .unwrap_or_else(|error| print_message(&error));
    }
    Ok(Some(page))
}

/// The report that `K6_WEB_DASHBOARD_EXPORT` requests, if the page is also requested.
///
/// # Errors
/// If the variable does not name a file that a report can be written to.
pub fn export(flag: Option<&str>) -> Result<Option<ReportFile>, String> {
    let variable = |name: &str| std::env::var(name).ok();
    // Port -1 serves no page, but still exports the report.
    let is_true = |value: String| matches!(&*value.to_lowercase(), "true" | "1" | "t");
    let is_requested = flag.is_some() || variable("K6_WEB_DASHBOARD").is_some_and(is_true);
    let file = variable("K6_WEB_DASHBOARD_EXPORT").filter(|file| !file.is_empty());
    let file = file.filter(|_| is_requested);
    let file = file.map(|file| ReportFile::parse(&file)).transpose();
    file.map_err(|error| format!("K6_WEB_DASHBOARD_EXPORT: {error}"))
}
