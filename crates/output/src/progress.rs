//! Renders progress during a test: a line for the run, and a bar for each scenario.
//!
//! Everything here is a pure function of a [`ProgressView`].

use std::time::Duration;

use crate::fixed_width::fixed_width;
use crate::paint::{Paint, spaces, width};

/// The state of a run at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressView {
    /// The current phase.
    pub phase: Phase,
    /// The time since the run began.
    pub elapsed: Duration,
    /// Maximum duration of the run, including graceful stop. Determines the width of times.
    pub longest: Duration,
    /// Users that are running iterations.
    pub users_active: u32,
    /// Initialized users.
    pub users_initialized: u32,
    /// Maximum number of users. Determines the width of user counts.
    pub users_max: u32,
    pub iterations_complete: u64,
    pub iterations_interrupted: u64,
    /// The scenarios, in display order.
    pub scenarios: Vec<ScenarioView>,
}

/// The phase of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Initialization, with its own progress bar.
    Init {
        /// A description, such as `Starting outputs`.
        what: String,
        /// Progress, 0 to 1.
        done: f64,
    },
    /// Waiting for the command that starts the run.
    Paused,
    /// The script's `setup`.
    SetUp,
    /// Scenarios.
    Running,
    /// The script's `teardown`.
    TearDown,
}

/// The state of a scenario at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioView {
    pub name: String,
    pub status: Status,
    /// Progress, 0 to 1.
    pub done: f64,
    /// Text to the right of the bar, before [`right`](Self::right): users.
    pub left: String,
    /// Columns to the right of the bar: time and amounts.
    pub right: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not started.
    Waiting,
    Running,
    /// Starts no more iterations, and waits for the running ones.
    Stopping,
    /// Finished.
    Done,
    Interrupted,
}

impl Status {
    fn mark(self, paint: Paint) -> String {
        match self {
            Status::Waiting => "•".to_owned(),
            Status::Running => " ".to_owned(),
            Status::Stopping => "↓".to_owned(),
            Status::Done => paint.good("✓"),
            Status::Interrupted => paint.bad("✗"),
        }
    }
}

/// Maximum width of a bar between its brackets.
const MAX_BAR_WIDTH: usize = 38;

/// Minimum width of a bar. In less space, a percentage is shown.
const MIN_BAR_WIDTH: usize = 7;

/// Maximum length of a scenario's name. Longer names are cut.
const MAX_NAME_WIDTH: usize = 30;

/// Renders the view as lines. The first line is empty.
///
/// Bars are as wide as `columns` allow. If the space is too narrow, or without a terminal (`None`), percentages replace
/// them.
pub fn lines(view: &ProgressView, columns: Option<usize>, paint: Paint) -> Vec<String> {
    let bar = columns.and_then(|columns| {
        let without = render(view, Some(0), Paint::OFF);
        // The first two lines have no bar, or a bar within other text.
        let longest = without.iter().skip(2).map(|line| width(line)).max()?;
        // The last column stays empty, because some terminals wrap when it is written.
        let space = columns.saturating_sub(longest + 1).min(MAX_BAR_WIDTH);
        (space >= MIN_BAR_WIDTH).then_some(space)
    });
    render(view, bar, paint)
}

/// Renders with bars of that width, or with percentages.
fn render(view: &ProgressView, bar_width: Option<usize>, paint: Paint) -> Vec<String> {
    let mut lines = vec![String::new()];
    let names: Vec<_> = view
        .scenarios
        .iter()
        .map(|scenario| cut_name(&scenario.name))
        .collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let whole = |title: &str, what: &str, done| {
        let title = format!("{title}{}", spaces(name_width.saturating_sub(width(title))));
        format!("{title}   [{}] {what}", bar(done, bar_width, paint))
    };
    match &view.phase {
        Phase::Init { what, done } => {
            lines.push(whole("Init", what, *done).trim_end().to_owned());
        }
        Phase::Paused => lines.push(whole("Run", "paused", 1.0)),
        Phase::SetUp => lines.push(whole("Run", "setup()", 1.0)),
        Phase::TearDown => lines.push(whole("Run", "teardown()", 1.0)),
        Phase::Running => lines.push(run_line(view)),
    }
    // Before scenarios run, they have no progress to show.
    let started = matches!(view.phase, Phase::Running | Phase::TearDown);
    let columns = Columns::of(&view.scenarios);
    for (scenario, name) in view.scenarios.iter().zip(&names) {
        let name = format!("{name}{}", spaces(name_width - width(name)));
        let (status, done, texts) = if started {
            (
                scenario.status.mark(paint),
                scenario.done,
                columns.texts(scenario),
            )
        } else {
            (" ".to_owned(), 0.0, String::new())
        };
        lines.push(format!(
            "{name} {status} [{}]{texts}",
            bar(done, bar_width, paint)
        ));
    }
    lines
}

fn run_line(view: &ProgressView) -> String {
    let digits = view.users_max.to_string().len();
    format!(
        "running ({}), {:0digits$}/{:0digits$} VUs, {} complete and {} interrupted iterations",
        fixed_width(view.elapsed, view.longest),
        view.users_active,
        view.users_initialized,
        view.iterations_complete,
        view.iterations_interrupted,
    )
}

fn bar(done: f64, bar_width: Option<usize>, paint: Paint) -> String {
    let done = if done.is_finite() {
        done.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let Some(bar_width) = bar_width else {
        return format!(" {:3.0}% ", done * 100.0);
    };
    let filled = (done * bar_width as f64) as usize;
    let full = match filled {
        0 => String::new(),
        _ if filled == bar_width => "=".repeat(filled),
        _ => "=".repeat(filled - 1) + ">",
    };
    let rest = "-".repeat(bar_width.saturating_sub(filled));
    format!("{full}{}", paint.dim(&rest))
}

fn cut_name(name: &str) -> String {
    if width(name) <= MAX_NAME_WIDTH {
        return name.to_owned();
    }
    let kept: String = name.chars().take(MAX_NAME_WIDTH - 3).collect();
    kept + "..."
}

/// The widths of the columns to the right of the bars.
struct Columns {
    left: usize,
    right: Vec<usize>,
}

impl Columns {
    fn of(scenarios: &[ScenarioView]) -> Columns {
        let mut right: Vec<usize> = Vec::new();
        for scenario in scenarios {
            for (place, text) in scenario.right.iter().enumerate() {
                match right.get_mut(place) {
                    Some(column) => *column = width(text).max(*column),
                    None => right.push(width(text)),
                }
            }
        }
        // Nothing follows the last column.
        right.pop();
        let left = scenarios
            .iter()
            .map(|scenario| width(&scenario.left))
            .max()
            .unwrap_or(0);
        Columns { left, right }
    }

    fn texts(&self, scenario: &ScenarioView) -> String {
        let pad = |text: &str, column: usize| spaces(column.saturating_sub(width(text)));
        let mut texts = format!(" {}{} ", scenario.left, pad(&scenario.left, self.left));
        for (place, text) in scenario.right.iter().enumerate() {
            texts.push_str(&format!(" {text}"));
            if let Some(column) = self.right.get(place) {
                texts.push_str(&format!("{} ", pad(text, *column)));
            }
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> ProgressView {
        let scenario = |name: &str, status, done, left: &str, right: &[&str]| ScenarioView {
            name: name.to_owned(),
            status,
            done,
            left: left.to_owned(),
            right: right.iter().map(|&text| text.to_owned()).collect(),
        };
        ProgressView {
            phase: Phase::Running,
            elapsed: Duration::from_millis(2_512),
            longest: Duration::from_secs(636),
            users_active: 40,
            users_initialized: 65,
            users_max: 205,
            iterations_complete: 179,
            iterations_interrupted: 0,
            scenarios: vec![
                scenario(
                    "a_very_long_scenario_name_that_goes_beyond_thirty",
                    Status::Running,
                    0.5,
                    "2 VUs",
                    &["00m02.5s/10m0s", "12/24 iters, 12 per VU"],
                ),
                scenario("cv", Status::Running, 0.499, "12 VUs", &["2.5s/5s"]),
                scenario(
                    "car2",
                    Status::Done,
                    1.0,
                    "0/3 VUs",
                    &["4s", "1.50 iters/s"],
                ),
                scenario("stuck", Status::Stopping, 1.0, "1 VUs", &["2s"]),
                scenario(
                    "cut",
                    Status::Interrupted,
                    0.23,
                    "008/020 VUs",
                    &["1.5s/4s"],
                ),
                scenario("late", Status::Waiting, 0.0, "waiting", &["3.5s"]),
            ],
        }
    }

    #[test]
    fn a_wide_terminal_shows_bars() {
        let expected = "
running (00m02.5s), 040/065 VUs, 179 complete and 0 interrupted iterations
a_very_long_scenario_name_t...   [==================>-------------------] 2 VUs        00m02.5s/10m0s  12/24 iters, 12 per VU
cv                               [=================>--------------------] 12 VUs       2.5s/5s        |
car2                           ✓ [======================================] 0/3 VUs      4s              1.50 iters/s
stuck                          ↓ [======================================] 1 VUs        2s             |
cut                            ✗ [=======>------------------------------] 008/020 VUs  1.5s/4s        |
late                           • [--------------------------------------] waiting      3.5s           |";
        // The `|` characters mark trailing spaces, which an editor might strip.
        assert_eq!(
            lines(&view(), Some(130), Paint::OFF).join("\n"),
            expected.replace('|', "")
        );
    }

    #[test]
    fn bars_become_narrower_to_leave_space_for_text() {
        let car2 = |columns| lines(&view(), Some(columns), Paint::OFF)[4].clone();
        let text = "0/3 VUs      4s              1.50 iters/s";
        let name = "car2                           ✓";
        assert_eq!(car2(110), format!("{name} [{}] {text}", "=".repeat(22)));
        assert_eq!(car2(95), format!("{name} [=======] {text}"));
        assert_eq!(car2(94), format!("{name} [ 100% ] {text}"));
    }

    #[test]
    fn percentages_are_shown_on_narrow_terminals_and_without_one() {
        let narrow = lines(&view(), Some(90), Paint::OFF);
        assert_eq!(narrow, lines(&view(), None, Paint::OFF));
        assert_eq!(
            narrow[2],
            "a_very_long_scenario_name_t...   [  50% ] 2 VUs        00m02.5s/10m0s  12/24 iters, 12 per VU"
        );
        assert_eq!(
            narrow[6].trim_end(),
            "cut                            ✗ [  23% ] 008/020 VUs  1.5s/4s"
        );
    }

    #[test]
    fn a_lone_column_is_not_padded() {
        let mut view = view();
        view.scenarios.retain(|scenario| scenario.right.len() == 1);
        let lines = lines(&view, None, Paint::OFF);
        assert!(
            lines.iter().all(|line| line.trim_end() == line),
            "{lines:#?}"
        );
    }

    #[test]
    fn before_scenarios_run_their_bars_are_empty() {
        let mut view = view();
        view.scenarios.truncate(1);
        view.scenarios[0].name = "default".to_owned();
        view.phase = Phase::SetUp;
        let expected = ["", "Run       [ 100% ] setup()", "default   [   0% ]"];
        assert_eq!(lines(&view, None, Paint::OFF), expected);
        view.phase = Phase::Init {
            what: String::new(),
            done: 0.0,
        };
        assert_eq!(lines(&view, None, Paint::OFF)[1], "Init      [   0% ]");
    }
}
