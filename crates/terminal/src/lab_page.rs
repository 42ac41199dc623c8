//! The live page of a lab.

use plimsoll_lab::Lab;
use plimsoll_lab::run::Step;
use plimsoll_lab::run::order::order;
use plimsoll_lab::run::store::Store;
use plimsoll_live::{CellRuns, CellsPage, PageSources};

use crate::live_page;

/// Serves the page if it is requested.
///
/// # Errors
/// If an address is invalid or in use.
pub(crate) fn open(
    flag: Option<&str>,
    lab: &Lab,
    seed: u64,
    store: &Store,
) -> Result<Option<CellsPage>, String> {
    let sources = PageSources {
        flag,
        ..PageSources::default()
    };
    let Some(page) = live_page::page(sources).map_err(|refusal| refusal.message)? else {
        return Ok(None);
    };
    let turns = order(lab, seed);
    let chosen = lab.cells.iter().enumerate().filter(|(_, cell)| cell.chosen);
    let cells = chosen.map(|(place, cell)| {
        let turns = || turns.iter().filter(|turn| turn.cell == place);
        let finished = turns().filter(|turn| store.facts(cell.number, turn.run).is_some());
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        CellRuns {
            number: cell.number,
            name: cell.name.clone(),
            finished: count(finished.count()),
            all: count(turns().count()),
        }
    });
    Ok(Some(CellsPage::new(&page, &lab.title, cells.collect())))
}

pub(crate) fn show(page: &mut CellsPage, step: Step<'_>) {
    match step {
        Step::Now(line) | Step::Done(line) => page.now(line),
        Step::Measured {
            cell,
            text,
            figures,
            time,
        } => page.measured(cell.number, figures.to_owned(), format!("{text} ({time})")),
    }
}
