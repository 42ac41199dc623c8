//! The live page of a run: `--web`, and k6's variables for its dashboard.

use std::process::{Command, Stdio};

use plimsoll_live::{LivePage, PageTitle, WebRequest};
use plimsoll_run::{Listener, Refusal};
use plimsoll_terminal::messages::{say, talk};

use crate::args::WebArgs;

/// Serves the page of a run if it is requested, and prints its address. `output` is the argument of
/// k6's `--out web-dashboard`, if that was given.
///
/// # Errors
/// If an address is wrong or in use.
pub fn open(
    args: &WebArgs,
    output: Option<&str>,
    title: PageTitle,
) -> Result<Option<Box<dyn Listener>>, Refusal> {
    let page = page(args, output)?;
    let listener = page.map(|page| page.listener(title));
    listener.transpose().map_err(Refusal::other)
}

/// Serves the page if it is requested, and prints its address.
///
/// # Errors
/// If an address is wrong or in use.
pub fn page(args: &WebArgs, output: Option<&str>) -> Result<Option<LivePage>, Refusal> {
    let variable = |name: &str| std::env::var(name).ok();
    let wanted = WebRequest::of(args.web.as_deref(), output, &variable);
    let Some(wanted) = wanted.map_err(Refusal::config)? else {
        return Ok(None);
    };
    let page = LivePage::open(&wanted.address, wanted.flag).map_err(Refusal::config)?;
    // Not through `say`, which hides tokens.
    talk(&format!("live page: {}\n", page.url()));
    if wanted.is_opened {
        show_in_browser(page.url());
    }
    Ok(Some(page))
}

fn show_in_browser(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        say(&format!("cannot open a browser with {program}: {error}"));
    }
}
