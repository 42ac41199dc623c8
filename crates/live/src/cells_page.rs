//! The page of a lab, with its finished and remaining cells.

use crate::live_page::LivePage;
use crate::steps::{Mark, Row, Steps};
use crate::steps_page::StepsPage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRuns {
    /// The number of the cell in the lab.
    pub number: usize,
    pub name: String,
    pub finished: u32,
    pub all: u32,
}

/// Shows one row per cell.
pub struct CellsPage {
    page: StepsPage,
    cells: Vec<CellRuns>,
}

impl CellsPage {
    /// Shows the cells. Some may already have runs from before the lab was resumed.
    pub fn new(page: &LivePage, title: &str, cells: Vec<CellRuns>) -> CellsPage {
        let steps = Steps {
            title: "Cells".to_owned(),
            columns: ["cell", "runs", "latest figures"]
                .map(str::to_owned)
                .to_vec(),
            rows: cells.iter().map(|cell| cell.row(String::new())).collect(),
            ..Steps::default()
        };
        CellsPage {
            page: page.steps(title, steps),
            cells,
        }
    }

    /// Shows the current activity.
    pub fn now(&mut self, text: &str) {
        let done = self.done();
        self.page
            .update(done, |steps| text.clone_into(&mut steps.now));
    }

    /// Shows that a run of a cell has ended, with its figures.
    pub fn measured(&mut self, number: usize, figures: String, text: String) {
        let found = self.cells.iter_mut().position(|cell| cell.number == number);
        let Some((place, cell)) = found.and_then(|at| Some((at, self.cells.get_mut(at)?))) else {
            return;
        };
        cell.finished += 1;
        let row = cell.row(figures);
        let done = self.done();
        self.page.update(done, |steps| {
            steps.now = text;
            if let Some(shown) = steps.rows.get_mut(place) {
                *shown = row;
            }
        });
    }

    /// Shows the conclusions, and ends the event streams of all viewers.
    pub fn end(self, conclusions: Vec<String>) {
        self.page
            .end("completed", |steps| steps.result = conclusions);
    }

    /// The finished share of all runs, from 0 to 1.
    fn done(&self) -> Option<f64> {
        let sum = |count: fn(&CellRuns) -> u32| self.cells.iter().map(count).sum::<u32>();
        let (finished, all) = (sum(|cell| cell.finished), sum(|cell| cell.all));
        Some(f64::from(finished.min(all)) / f64::from(all.max(1)))
    }
}

impl CellRuns {
    fn row(&self, figures: String) -> Row {
        Row {
            cells: vec![
                self.name.clone(),
                format!("{} of {}", self.finished, self.all),
                figures,
            ],
            mark: if self.finished >= self.all {
                Mark::Good
            } else {
                Mark::None
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web_address::WebAddress;

    #[test]
    fn runs_are_counted_for_each_cell() {
        let address = WebAddress::default().with_port(0);
        let page = LivePage::open(&address, "--web").unwrap();
        let cell = |number, finished| CellRuns {
            number,
            name: format!("cell {number}"),
            finished,
            all: 2,
        };
        let mut cells = CellsPage::new(&page, "a lab", vec![cell(4, 0), cell(7, 1)]);
        assert_eq!(cells.done(), Some(0.25));
        cells.measured(7, "12 ms".to_owned(), "[2/4]".to_owned());
        cells.measured(99, String::new(), String::new());
        assert_eq!(cells.done(), Some(0.5));
        assert_eq!(cells.cells[1].row(String::new()).mark, Mark::Good);
        assert_eq!(cells.cells[0].row(String::new()).mark, Mark::None);
    }
}
