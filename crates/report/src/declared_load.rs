//! The load of a cell as the lab declares it.

use plimsoll_results::lab::{Cell, LabResult};
use serde_json::Value;

/// A load that is one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Requests per second, whatever the system does.
    Rate(f64),
    /// Users, each of which waits for its response.
    Users(f64),
}

impl Load {
    /// The number of requests per second or of users.
    pub fn number(self) -> f64 {
        match self {
            Load::Rate(number) | Load::Users(number) => number,
        }
    }
}

/// The declared load of a cell; `None` if it is another one, such as fixed work.
pub fn load_of_cell(result: &LabResult, cell: &Cell) -> Option<Load> {
    let mut cells = result.effective.get("cells")?.as_array()?.iter();
    let named = |one: &&Value| one.get("name").and_then(Value::as_str) == Some(&cell.name);
    let load = cells.find(named)?.get("load")?;
    let number = |key: &str| load.get(key).and_then(Value::as_f64);
    match (number("rate"), number("users")) {
        (Some(rate), _) => Some(Load::Rate(rate)),
        (None, users) => Some(Load::Users(users?)),
    }
}
