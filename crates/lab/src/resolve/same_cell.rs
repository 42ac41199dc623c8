//! The cell that is measured twice (A/A), under two names. It shows how much equal cells differ
//! because of the machine alone.

use plimsoll_stats::comparison::MIN_PAIRS;

use super::design::{cells_of, pairs};
use super::{Cell, Lab};

/// The suffix that distinguishes the name of the copy.
const SECOND: &str = " (second time)";

impl Lab {
    /// The cells of the matrix, without the copy.
    pub fn matrix(&self) -> &[Cell] {
        match self.cells.split_last() {
            Some((last, before)) if last.copy_of.is_some() => before,
            _ => &self.cells,
        }
    }

    /// The copy of a cell, and the original cell.
    pub fn same_cell(&self) -> Option<(&Cell, &Cell)> {
        let copy = self.cells.last()?;
        Some((self.cells.get(copy.copy_of?)?, copy))
    }

    /// The variant with the same setup as this one. Only one of the two may run at a time, because both
    /// may use the same port.
    pub fn twin_of(&self, variant: usize) -> Option<usize> {
        let (cell, copy) = self.same_cell()?;
        match variant {
            _ if variant == copy.variant => Some(cell.variant),
            _ if variant == cell.variant => Some(copy.variant),
            _ => None,
        }
    }

    /// The reason why no cell is measured twice although cells are compared.
    pub fn why_no_same_cell(&self) -> Option<String> {
        let most = bases(self).map(|(_, pairs)| pairs).max()?;
        self.same_cell().is_none().then(|| {
            format!(
                "no cell was measured twice, so the difference that the machine alone makes is not known: that needs \
                 at least {MIN_PAIRS} restarts, and there {} {most}",
                if most == 1 { "is" } else { "are" }
            )
        })
    }
}

/// The bases of comparisons whose noise is not known, with their number of pairs. Primary
/// comparisons are first.
fn bases(lab: &Lab) -> impl Iterator<Item = (usize, usize)> {
    let of = |primary: bool| {
        let compared = lab.compared.iter();
        compared.filter(move |one| one.primary == primary && one.noise.is_none())
    };
    of(true).chain(of(false)).flat_map(|compared| {
        let cells = cells_of(lab, compared).into_iter();
        cells.filter_map(|(base, other)| {
            let (_, count) = pairs(&lab.cells.get(base)?.load, &lab.cells.get(other)?.load);
            Some((base, count))
        })
    })
}

/// Adds a copy of the base of the first comparison to the cells, with its own variant.
pub(super) fn add(lab: &mut Lab) {
    let enough = bases(lab).find(|(_, pairs)| *pairs >= MIN_PAIRS);
    let Some((at, cell)) = enough.and_then(|(at, _)| Some((at, lab.cells.get(at)?))) else {
        return;
    };
    let Some(setup) = lab.variants.get(cell.variant).cloned() else {
        return;
    };
    let copy = Cell {
        number: lab.cells.len() + 1,
        name: format!("{}{SECOND}", cell.name),
        copy_of: Some(at),
        variant: lab.variants.len(),
        ..cell.clone()
    };
    lab.variants.push(setup);
    lab.cells.push(copy);
}
