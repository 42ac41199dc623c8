//! A line whose rate the lab declares: reaching it is a result and no reason to doubt one.

use std::collections::BTreeMap;

use plimsoll_results::lab::Repeat;
use plimsoll_verdict::IN_TRANSIT;

use crate::resolve::Cell;

/// A share of the declared rate that only payload on a full line reaches: headers and framing take up to 5 %.
const REACHED: f64 = 0.9;

/// Accepts that the network limited a run with fixed work, if that is all that the generator doubts, and the payload took
/// at least 90 % of the rate of a line that the lab declares. The generator doubts it because it cannot know whether the
/// network is part of what is measured; here the place says so. Below that rate, something else may be the limit.
pub fn accept(cell: &Cell, figures: &BTreeMap<String, f64>, repeat: &mut Repeat) {
    let line = cell.link.as_ref().and_then(|link| link.rate);
    let payload = figures.get("payload_megabits_per_second");
    let (Some(line), Some(payload)) = (line, payload) else {
        return;
    };
    let generator = &mut repeat.generator;
    let only_this = generator
        .reasons
        .iter()
        .all(|(cause, text)| cause == "network" && text.starts_with(IN_TRANSIT));
    let reached = *payload >= line as f64 / 1e6 * REACHED;
    if generator.verdict == "suspect" && only_this && reached {
        generator.verdict = "valid".to_owned();
        for (_, text) in &mut generator.reasons {
            *text += ", whose rate the lab declares";
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict of a run that carried this many Mbit/s over a line of this many, with these further doubts.
    fn verdict(payload: f64, line: Option<u64>, further: &[(&str, &str)]) -> String {
        let text = "[lab]\ntitle = \"a\"\nquestion = \"b\"\n\
             [[place]]\nname = \"far\"\nround-trip = \"20ms\"\nRATE\n\
             [[system]]\nname = \"s\"\ncommand = \"true\"\nready = { log = \"x\" }\n\
             [load]\nhttp = { url = \"http://127.0.0.1/\" }\nplace = \"far\"\n";
        let rate = line.map_or_else(String::new, |line| format!("rate = \"{line}Mbit/s\""));
        let text = text.replace("RATE", &rate);
        let document =
            crate::file::Document::of_text("lab.toml".as_ref(), &text).expect("a document");
        let lab = crate::Lab::of(document, crate::Which::Standard).expect("a lab");
        let figures = BTreeMap::from([("payload_megabits_per_second".to_owned(), payload)]);
        let mut repeat = Repeat::default();
        repeat.generator.verdict = "suspect".to_owned();
        let doubt = (
            "network".to_owned(),
            format!("{IN_TRANSIT} 97% of the service time"),
        );
        repeat.generator.reasons.push(doubt);
        for (cause, text) in further {
            repeat
                .generator
                .reasons
                .push(((*cause).to_owned(), (*text).to_owned()));
        }
        accept(lab.cells.first().expect("a cell"), &figures, &mut repeat);
        repeat.generator.verdict
    }

    #[test]
    fn a_full_line_is_accepted_if_it_is_declared_and_nothing_else_is_wrong() {
        assert_eq!(verdict(928.0, Some(930), &[]), "valid");
        assert_eq!(verdict(928.0, None, &[]), "suspect");
        assert_eq!(
            verdict(700.0, Some(930), &[]),
            "suspect",
            "the line was not full"
        );
        let late = [(
            "client",
            "one in a hundred of the generator's own timers was late",
        )];
        assert_eq!(verdict(928.0, Some(930), &late), "suspect");
        let lost = [("network", "604 of 20716 TCP segments were retransmitted")];
        assert_eq!(verdict(928.0, Some(930), &lost), "suspect");
    }
}
