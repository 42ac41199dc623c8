//! The text printed before a run starts: the banner, the script, its outputs and its scenarios.

use std::time::Duration;

use plimsoll_units::duration;

use crate::paint::Paint;

/// The test that is about to start.
#[derive(Clone, Debug)]
pub struct Header {
    /// Plimsoll's version.
    pub version: String,
    /// The script, as named on the command line.
    pub script: String,
    /// A description of each output.
    pub outputs: Vec<String>,
    /// The share of the test that this instance runs, from 0 to 1.
    pub share: f64,
    /// Maximum number of users at any time.
    pub users_max: u32,
    /// Maximum duration of the run, including graceful stop.
    pub longest: Duration,
    /// The scenarios, in any order.
    pub scenarios: Vec<HeaderScenario>,
}

/// One scenario of the test.
#[derive(Clone, Debug)]
pub struct HeaderScenario {
    pub name: String,
    /// When the scenario starts.
    pub start_time: Duration,
    /// Its description in one sentence.
    pub description: String,
}

/// The Plimsoll line: the mark on a ship's hull that shows how heavily the ship may safely be loaded.
const BANNER: [&str; 5] = [
    r"        .-----.",
    r"       /       \",
    r"  ----|---------|----    plimsoll",
    r"       \       /",
    r"        '-----'",
];

/// The banner between empty lines.
pub fn banner(version: &str, paint: Paint) -> String {
    let mut lines = BANNER.map(str::to_owned);
    if let Some(middle) = lines.get_mut(2) {
        middle.push_str(&format!(" {version}"));
    }
    format!("\n{}\n\n", paint.figure(&lines.join("\n")))
}

/// Describes the run in k6's layout: execution, script, outputs and scenarios.
pub fn plan(header: &Header, paint: Paint) -> String {
    let outputs = if header.outputs.is_empty() {
        "-".to_owned()
    } else {
        header.outputs.join(", ")
    };
    let count = header.scenarios.len();
    let summary = format!(
        "({:.2}%) {count} scenario{}, {} max VUs, {} max duration (incl. graceful stop):",
        header.share * 100.0,
        if count == 1 { "" } else { "s" },
        header.users_max,
        duration::format(tenths(header.longest)),
    );
    let mut scenarios: Vec<_> = header.scenarios.iter().collect();
    scenarios.sort_by(|a, b| {
        a.start_time
            .cmp(&b.start_time)
            .then_with(|| a.name.cmp(&b.name))
    });
    let scenarios: String = scenarios
        .iter()
        .map(|scenario| {
            format!(
                "              * {}: {}\n",
                scenario.name, scenario.description
            )
        })
        .collect();
    format!(
        "     execution: {}\n        script: {}\n        output: {}\n\n     scenarios: {}\n{scenarios}\n",
        paint.figure("local"),
        paint.figure(&header.script),
        paint.figure(&outputs),
        paint.figure(&summary),
    )
}

/// Rounds to a tenth of a second, half up, as k6 does.
fn tenths(time: Duration) -> Duration {
    let tenths = (time.as_millis() + 50) / 100;
    Duration::from_millis(u64::try_from(tenths * 100).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_listed_in_the_order_of_their_start() {
        let scenario = |name: &str, start_time, description: &str| HeaderScenario {
            name: name.to_owned(),
            start_time: Duration::from_secs(start_time),
            description: description.to_owned(),
        };
        let header = Header {
            version: "1.2.3".to_owned(),
            script: "prog.js".to_owned(),
            outputs: vec!["csv (file.csv)".to_owned(), "json (a.json)".to_owned()],
            share: 1.0 / 3.0,
            users_max: 205,
            longest: Duration::from_secs(636),
            scenarios: vec![
                scenario("late", 6, "1 iterations for each of 1 VUs"),
                scenario("two", 0, "12 looping VUs for 5s"),
                scenario("car", 0, "20.00 iterations/s for 4s"),
            ],
        };
        let expected = "     execution: local
        script: prog.js
        output: csv (file.csv), json (a.json)

     scenarios: (33.33%) 3 scenarios, 205 max VUs, 10m36s max duration (incl. graceful stop):
              * car: 20.00 iterations/s for 4s
              * two: 12 looping VUs for 5s
              * late: 1 iterations for each of 1 VUs

";
        assert_eq!(plan(&header, Paint::OFF), expected);
    }

    #[test]
    fn the_banner_names_the_version() {
        let text = banner("1.2.3", Paint::OFF);
        assert!(
            text.contains("plimsoll 1.2.3\n") && text.starts_with('\n') && text.ends_with("\n\n")
        );
    }
}
