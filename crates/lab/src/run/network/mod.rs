//! Networks that the kernel makes: a network namespace for the generator, and queues that delay and
//! limit what enters and leaves it.

mod namespace;
mod queue;

pub use namespace::{Inside, Network};

use crate::problem::Problem;
use crate::resolve::{Lab, Link, MadeBy};

/// The networks of the cells to run that the kernel makes, each once.
fn of(lab: &Lab) -> Vec<&Link> {
    let mut links: Vec<&Link> = Vec::new();
    let chosen = lab.cells.iter().filter(|cell| cell.chosen);
    for link in chosen.filter_map(|cell| cell.link.as_ref()) {
        if link.by == MadeBy::Kernel && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

/// Makes each network of the lab once and removes it again, so that a lab that cannot have its
/// networks fails before it starts anything.
///
/// # Errors
/// If something is missing; the message has the location in the lab file and a fix.
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
