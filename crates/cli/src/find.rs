//! `plimsoll find`: the highest rate that meets an objective.

use plimsoll_output::Paint;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::search_run::SearchRun;

use crate::args::{FindArgs, GlobalArgs};

/// Searches, and prints what was found.
pub fn find(args: &FindArgs, global: &GlobalArgs) -> Exit {
    let search = SearchRun {
        settings: args.settings(),
        command: args.command.clone(),
        report: args.report.request(),
        page: args.web.web.clone(),
        is_json: args.json,
        is_quiet: global.quiet,
        paint: Paint::new(!global.no_color()),
    };
    let exit = search.run();
    exit.unwrap_or_else(|refusal| Exit::refuse(&refusal))
}
