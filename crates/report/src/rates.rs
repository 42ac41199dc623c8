//! The rate at which figures were measured: CPU time per request includes idle cost, which many requests share.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::Cell;

/// The name of the figure.
const RATE: &str = "requests_per_second";

/// ` at 10,000 requests/s`, ` at 99 to 27,500 requests/s`: the rates of these cells; empty if one has none.
pub fn format_rates<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    let rate = |cell: &'a Cell| cell.figure(RATE);
    let rates: Option<Vec<_>> = cells.map(rate).collect();
    let mut rates = rates.unwrap_or_default();
    rates.sort_by(|one, other| one.value.total_cmp(&other.value));
    let print = |figure: &plimsoll_results::lab::Figure| {
        // Whole requests are precise enough.
        let place = Place::of(figure.value, figure.interval).at_most(0);
        place.print(figure.value)
    };
    let (Some(min), Some(max)) = (
        rates.first().map(|one| print(one)),
        rates.last().map(|one| print(one)),
    ) else {
        return String::new();
    };
    match min == max {
        true => format!(" at {min} requests/s"),
        false => format!(" at {min} to {max} requests/s"),
    }
}
