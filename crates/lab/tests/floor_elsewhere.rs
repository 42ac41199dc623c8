//! Simulated labs in which one cell near was measured twice, and cells far are compared: equal cells
//! are rarely called different, and a difference that counts is found.

use plimsoll_lab::conclude::same_cell::limits;
use plimsoll_results::lab::{Cell, Figure, Floor, LinkFigures, SameCell};
use plimsoll_stats::Random;
use plimsoll_stats::comparison::{Limits, Outcome, Paired, holm, noise_floor};

const FIGURE: &str = "latency_p95";
/// Number of simulated labs per value. It gives a share of 5 % a standard error of half a
/// percentage point.
const LABS: usize = 2_000;
/// The time near, in milliseconds.
const NEAR: f64 = 0.33;
/// The time that the line adds far.
const LINE: f64 = 26.4;
/// Number of primary comparisons of a lab.
const COMPARISONS: usize = 6;

/// How times vary from restart to restart, as standard deviations.
#[derive(Clone, Copy)]
struct Noise {
    /// Of the machine's part of the time, as a share.
    machine: f64,
    /// Of the line's part, as a share.
    line: f64,
    /// Of an addition in milliseconds that a cell keeps for all restarts, which its own restarts
    /// do not show.
    kept: f64,
}

/// Restarts vary as in the published report about payloads.
const USUAL: Noise = Noise {
    machine: 0.15,
    line: 0.002,
    kept: 0.0,
};

/// The times of a cell in each restart.
fn cell(random: &mut Random, restarts: usize, line: f64, extra: f64, noise: Noise) -> Vec<f64> {
    let kept = noise.kept * random.normal().abs();
    let machine = |random: &mut Random| NEAR * (noise.machine * random.normal()).exp();
    let line = |random: &mut Random| (line + extra) * (noise.line * random.normal()).exp();
    (0..restarts)
        .map(|_| machine(random) + line(random) + kept)
        .collect()
}

fn pairs(one: &[f64], other: &[f64]) -> Vec<(f64, f64)> {
    one.iter().copied().zip(other.iter().copied()).collect()
}

/// The cell of a result.
fn written(place: &str, times: &[f64]) -> Cell {
    let logs = times.iter().map(|time| time.ln()).sum::<f64>();
    Cell {
        link: Some(LinkFigures {
            name: place.to_owned(),
            ..LinkFigures::default()
        }),
        figures: vec![Figure {
            name: FIGURE.to_owned(),
            value: (logs / times.len() as f64).exp(),
            ..Figure::default()
        }],
        ..Cell::default()
    }
}

/// The cell near that was measured twice.
fn same_cell(random: &mut Random, restarts: usize, noise: Noise) -> SameCell {
    let [one, copy] = [(); 2].map(|()| cell(random, restarts, 0.0, 0.0, noise));
    SameCell {
        cell: String::new(),
        copy: written("near", &copy),
        floors: vec![Floor {
            figure: FIGURE.to_owned(),
            ratio: 1.0,
            interval: (1.0, 1.0),
            share: noise_floor(&pairs(&one, &copy)).expect("enough restarts"),
        }],
        method: String::new(),
    }
}

/// The limits of a comparison in the far place.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// The limits that the lab declares.
    Lab,
    /// The share that was measured near.
    Share,
    /// None: only the restarts of the cells decide.
    Restarts,
}

/// The outcomes of comparisons far. The second cell of each takes `extra` milliseconds more.
fn lab(
    random: &mut Random,
    restarts: usize,
    extra: [f64; COMPARISONS],
    noise: Noise,
    rule: Rule,
) -> Vec<Outcome> {
    let same = same_cell(random, restarts, noise);
    let tests = extra.map(|extra| {
        let one = cell(random, restarts, LINE, 0.0, noise);
        let other = cell(random, restarts, LINE, extra, noise);
        let cells = [written("far", &one), written("far", &other)];
        let (_, of_lab) = limits(FIGURE, None, Some(&same), &[(&cells[0], &cells[1])]);
        let limits = match rule {
            Rule::Lab => of_lab,
            Rule::Share => Limits::with_foreign_floor(None, same.floor(FIGURE)),
            Rule::Restarts => Limits::of_ratio(None),
        };
        (
            Paired::ratios(&pairs(&one, &other)).expect("enough restarts"),
            limits,
        )
    });
    let p = holm(&tests.map(|(test, _)| test.p));
    let tests = tests.into_iter().zip(p);
    tests
        .map(|((test, limits), p)| test.decide(p, limits).outcome)
        .collect()
}

/// The percentage of labs for which `holds` is true.
fn share(
    restarts: usize,
    extra: [f64; COMPARISONS],
    noise: Noise,
    rule: Rule,
    holds: impl Fn(&[Outcome]) -> bool,
) -> f64 {
    let mut random = Random::new(11);
    let held = (0..LABS).filter(|_| holds(&lab(&mut random, restarts, extra, noise, rule)));
    held.count() as f64 / LABS as f64 * 100.0
}

/// The percentage of labs of equal cells in which a comparison shows a difference.
fn share_of_wrong_outcomes(restarts: usize, noise: Noise, rule: Rule) -> f64 {
    let is_different = |one: &Outcome| matches!(one, Outcome::Larger | Outcome::Smaller);
    share(restarts, [0.0; COMPARISONS], noise, rule, |all| {
        all.iter().any(is_different)
    })
}

/// The percentage of labs that find that the second cell of the first comparison takes longer.
fn found(restarts: usize, extra: f64, rule: Rule) -> f64 {
    let mut all = [0.0; COMPARISONS];
    all[0] = extra;
    share(restarts, all, USUAL, rule, |all| {
        all.first() == Some(&Outcome::Larger)
    })
}

#[test]
fn equal_cells_elsewhere_are_rarely_called_different() {
    for restarts in [3, 5, 8] {
        for (machine, line) in [(0.15, 0.002), (0.02, 0.002), (0.15, 0.05), (0.5, 0.01)] {
            let noise = Noise {
                machine,
                line,
                ..USUAL
            };
            let share = share_of_wrong_outcomes(restarts, noise, Rule::Lab);
            assert!(
                share <= 5.0,
                "{restarts} restarts, machine {machine}, line {line}: {share:.1} %"
            );
        }
    }
}

/// What a cell keeps for all its restarts is in no interval. Without a floor, most labs would call it a difference.
#[test]
fn equal_cells_with_delays_that_restarts_do_not_show_are_rarely_called_different() {
    let noise = Noise {
        machine: 0.05,
        line: 0.0005,
        kept: 0.1,
    };
    for restarts in [3, 5] {
        let [far, without] =
            [Rule::Lab, Rule::Restarts].map(|rule| share_of_wrong_outcomes(restarts, noise, rule));
        assert!(
            far <= 5.0 && without > 40.0,
            "{restarts} restarts: {far:.1} %, without the floor {without:.1} %"
        );
    }
}

/// 81 against 53 ms exceeds a floor of 0.2 ms, and is less than the share that this is near.
#[test]
fn differences_elsewhere_are_found_as_often_as_before_or_more() {
    for restarts in [3, 5] {
        for extra in [1.0, 3.0, 5.0, 27.0] {
            let [lab, share] = [Rule::Lab, Rule::Share].map(|rule| found(restarts, extra, rule));
            assert!(lab >= share, "{restarts} restarts, {extra} ms");
            assert!(
                extra < 3.0 || lab > 99.0,
                "{restarts} restarts, {extra} ms: {lab:.1} %"
            );
        }
    }
}
