//! Groups the problems of cells by cause, so cells that fail for the same reason are reported
//! together.

use crate::problem::Problem;

/// Problems, and the cells in which each occurred.
#[derive(Clone, Debug, Default)]
pub struct ProblemsByCause(Vec<One>);

#[derive(Clone, Debug)]
struct One {
    key: String,
    problem: Problem,
    cells: Vec<String>,
}

impl ProblemsByCause {
    pub fn add(&mut self, problem: Problem, cell: &str) {
        let key = format!("{:?} {}", problem.place, cause(&problem.message, cell));
        match self.0.iter_mut().find(|one| one.key == key) {
            Some(one) if one.cells.iter().any(|known| known == cell) => {}
            Some(one) => one.cells.push(cell.to_owned()),
            None => self.0.push(One {
                key,
                problem,
                cells: vec![cell.to_owned()],
            }),
        }
    }

    /// One problem per cause: that of the first cell, followed by the names of the other cells.
    pub fn problems(self) -> Vec<Problem> {
        self.0
            .into_iter()
            .map(|one| {
                let mut problem = one.problem;
                // The first cell's message already contains its name.
                if let Some(others) = one.cells.get(1..).filter(|others| !others.is_empty()) {
                    problem.message += &format!(" (the same with {})", names(others));
                }
                problem
            })
            .collect()
    }
}

fn names(cells: &[String]) -> String {
    const MAX_NAMES: usize = 4;
    let first: Vec<&str> = cells.iter().take(MAX_NAMES).map(String::as_str).collect();
    let first = first.join("; ");
    match cells.len().saturating_sub(MAX_NAMES) {
        0 => first,
        more => format!("{first}; and {more} more"),
    }
}

/// A message without the parts that differ between cells: the cell's name, numbers such as ports,
/// and the command line.
fn cause(message: &str, cell: &str) -> String {
    let message = match cell {
        "" => message.to_owned(),
        name => message.replace(name, "…"),
    };
    let message = message
        .split_once("run it by hand:")
        .map_or(message.as_str(), |(before, _)| before);
    let mut cause = String::with_capacity(message.len());
    for letter in message.chars() {
        match letter {
            '0'..='9' if cause.ends_with('#') => {}
            '0'..='9' => cause.push('#'),
            other => cause.push(other),
        }
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cause_is_reported_once_with_its_cells() {
        let mut problems = ProblemsByCause::default();
        let problem = |cell: &str, port: u16, code: u8| {
            Problem::nowhere(format!(
                "the load of {cell} ended with {code}: 127.0.0.1:{port} refuses; run it by hand: x --y {cell}"
            ))
        };
        for (at, cell) in ["a=1", "a=2", "a=2", "a=3"].into_iter().enumerate() {
            problems.add(problem(cell, 4000 + at as u16, 1), cell);
        }
        problems.add(Problem::nowhere("something else"), "a=1");
        let problems = problems.problems();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0]
                .message
                .ends_with("--y a=1 (the same with a=2; a=3)"),
            "{}",
            problems[0].message
        );
        assert_eq!(problems[1].message, "something else");
    }

    #[test]
    fn only_a_few_of_many_cells_are_named() {
        let mut problems = ProblemsByCause::default();
        for at in 0..9 {
            problems.add(Problem::nowhere("no"), &format!("n={at}"));
        }
        let problems = problems.problems();
        assert!(
            problems[0].message.contains("n=4; and 4 more)"),
            "{}",
            problems[0].message
        );
    }
}
