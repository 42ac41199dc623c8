//! The live page of a run: `--web`, k6's variables for its dashboard, and the config file.

use plimsoll_live::{LivePage, PageSources, PageTitle, WebRequest};
use plimsoll_report::ReportFile;
use plimsoll_run::{Listener, Refusal};

use crate::messages::{print_message, print_stderr};

/// Serves the page of a run if it is requested, and prints its URL.
///
/// # Errors
/// If an address is invalid or in use.
pub fn open(
    sources: PageSources<'_>,
    title: PageTitle,
) -> Result<Option<Box<dyn Listener>>, Refusal> {
    let page = page(sources)?;
    let listener = page.map(|page| page.listener(title));
    listener.transpose().map_err(Refusal::other)
}

/// Serves the page if it is requested, and prints its URL.
///
/// # Errors
/// If an address is invalid or in use.
pub fn page(sources: PageSources<'_>) -> Result<Option<LivePage>, Refusal> {
    let Some(wanted) = WebRequest::of(sources, &variable).map_err(Refusal::config)? else {
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
pub fn export(sources: PageSources<'_>) -> Result<Option<ReportFile>, String> {
    // Port -1 serves no page, but still exports the report.
    let is_requested = sources.request_page(variable("K6_WEB_DASHBOARD").as_deref())?;
    let file = variable("K6_WEB_DASHBOARD_EXPORT").filter(|file| !file.is_empty());
    let file = file.filter(|_| is_requested);
    let file = file.map(|file| ReportFile::parse(&file)).transpose();
    file.map_err(|error| format!("K6_WEB_DASHBOARD_EXPORT: {error}"))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
