//! Networks that the kernel emulates: a network namespace for the generator, and queues that delay
//! and limit the packets that enter and leave it.

mod namespace;
mod queue;

pub use namespace::{Inside, Network};

use crate::problem::Problem;
use crate::resolve::{Implementation, Lab, Link};

/// The kernel networks of the cells to run, without duplicates.
fn of(lab: &Lab) -> Vec<&Link> {
    let mut links: Vec<&Link> = Vec::new();
    let chosen = lab.cells.iter().filter(|cell| cell.chosen);
    for link in chosen.filter_map(|cell| cell.link.as_ref()) {
        if link.by == Implementation::Kernel && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

/// Creates each network of the lab once and removes it again. So a lab whose networks cannot be
/// created fails before it starts anything.
///
/// # Errors
/// If something is missing. The message contains the location in the lab file and a fix.
pub fn check(lab: &Lab) -> Result<(), Vec<Problem>> {
    let problems: Vec<Problem> = of(lab)
        .into_iter()
        .filter_map(|link| {
            let why = Network::make(link).err()?;
            Some(link.place.problem(why))
        })
        .collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}
