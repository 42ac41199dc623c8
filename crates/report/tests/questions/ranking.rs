//! The words that rank the values of a question.

use super::*;

/// Asks which value of an axis is best, for the cells whose names contain this text.
pub fn question(result: &LabResult, axis: &str, cells: &str) -> Question {
    let values = result.axes.iter().find(|one| one.name == axis);
    let cells = result.cells.iter().filter(|cell| cell.name.contains(cells));
    Question {
        text: "Which one is faster?".into(),
        figure: Some("latency_p50".into()),
        axis: Some(axis.into()),
        values: values.expect("an axis").values.clone(),
        cells: cells.map(|cell| cell.name.clone()).collect(),
        ..Question::default()
    }
}

/// Ranks the stores by speed in words, for the near cells or for both places.
fn ranking(medians: [(f64, f64, f64); 4], cells: &str) -> String {
    let mut result = result(medians);
    result.questions = vec![question(&result, "store", cells)];
    let text = answer(&result).swap_remove(0);
    let end = text.find(": median").expect("the figures");
    text[..end].to_owned()
}

#[test]
fn the_words_claim_no_more_than_the_figures() {
    let [near, far, slow_near, slow_far] = MEDIANS;
    assert_eq!(ranking(MEDIANS, "near"), "Sqlite is faster than pg");
    assert_eq!(
        ranking([slow_near, far, near, slow_far], "near"),
        "Pg is faster than sqlite"
    );
    // Equal figures, with intervals within 5 % and with wide ones.
    let narrow = (0.99, 1.0, 1.01);
    assert_eq!(
        ranking([narrow, far, narrow, far], "near"),
        "No clear difference between sqlite and pg"
    );
    let wide = (0.5, 1.1, 2.4);
    assert_eq!(
        ranking([near, far, wide, far], "near"),
        "No clear difference between sqlite and pg"
    );
    // Groups that decide the question in the same way share a sentence. Other groups have their own; those with a difference
    // come first.
    assert_eq!(
        ranking(MEDIANS, ""),
        "Near and far: sqlite is faster than pg"
    );
    assert_eq!(
        ranking([near, far, slow_near, (7.0, 8.1, 9.4)], ""),
        "Near: sqlite is faster than pg; far: no clear difference"
    );
    assert_eq!(
        ranking([near, far, (0.5, 1.1, 2.4), slow_far], ""),
        "Far: sqlite is faster than pg; near: no clear difference"
    );
}

/// A place in which only one of both stores has a valid figure compares nothing.
#[test]
fn a_group_of_one_value_is_left_out() {
    let mut result = result(MEDIANS);
    let far = result
        .cells
        .iter_mut()
        .rfind(|cell| cell.name.contains("far"));
    far.expect("a cell").verdict = "suspect".into();
    result.questions = vec![question(&result, "store", "")];
    let text = answer(&result).swap_remove(0);
    assert!(
        text.starts_with("Sqlite is faster than pg: median in ms"),
        "{text}"
    );
    assert!(
        text.ends_with("(2.00 times, 1.64 to 2.44) (1 left out because of a suspect measurement)."),
        "{text}"
    );
}

/// Three stores a, b and c with these figures, and the answer to the question which one is best.
fn of_three(medians: [(f64, f64, f64); 3], figure: &str) -> String {
    let mut result = result([MEDIANS[0]; 4]);
    let (axis, names) = (&mut result.axes[0], ["a", "b", "c"]);
    axis.values = names.map(str::to_owned).to_vec();
    result.cells.truncate(3);
    for ((cell, name), (low, value, high)) in result.cells.iter_mut().zip(names).zip(medians) {
        cell.name = format!("store={name} place=near");
        cell.place = vec![
            ("store".into(), name.into()),
            ("place".into(), "near".into()),
        ];
        cell.figures[0].name = figure.into();
        cell.figures[0].value = value;
        cell.figures[0].interval = Some((low, high));
    }
    let mut declared = question(&result, "store", "");
    declared.figure = Some(figure.into());
    result.questions = vec![declared];
    answer(&result).swap_remove(0)
}

/// Each tier differs from the next with certainty, and no order is claimed within a tier.
#[test]
fn three_values_are_ranked_in_tiers() {
    let ranked = |medians: [(f64, f64, f64); 3], figure: &str| {
        let text = of_three(medians, figure);
        text.split_once(": ").expect("figures").0.to_owned()
    };
    let (one, two, four) = ((0.9, 1.0, 1.1), (1.8, 2.0, 2.2), (3.8, 4.0, 4.2));
    assert_eq!(
        ranked([two, one, four], "latency_p50"),
        "B is fastest, then a, then c"
    );
    // More requests per second are better.
    assert_eq!(
        ranked([two, one, four], "requests_per_second"),
        "C is fastest, then a, then b"
    );
    assert_eq!(
        ranked([(0.8, 1.1, 1.3), one, four], "latency_p50"),
        "A and b (order uncertain) are fastest, c slowest"
    );
    assert_eq!(
        ranked([four, one, (3.0, 3.9, 5.0)], "cpu_time_per_request"),
        "B uses the least CPU time, a and c (order uncertain) the most"
    );
    // The one in the middle is certainly better than the last, but the first is not certainly better than either.
    assert_eq!(
        ranked([(0.5, 1.0, 5.0), two, four], "latency_p50"),
        "No clear difference between a, b and c"
    );
}

/// Each value that certainly differs from the first one has its ratio to it, with the interval.
#[test]
fn three_values_have_their_ratios() {
    let (one, two, four) = ((0.9, 1.0, 1.1), (1.8, 2.0, 2.2), (3.8, 4.0, 4.2));
    let figures = |medians: [(f64, f64, f64); 3]| {
        let text = of_three(medians, "latency_p50");
        text.rsplit_once(": ").expect("figures").1.to_owned()
    };
    assert_eq!(
        figures([two, one, four]),
        "a 2.00, b 1.00 (0.50 times, 0.41 to 0.61), c 4.00 (2.00 times, 1.73 to 2.33)."
    );
    // The second value may be equal to the first one.
    assert_eq!(
        figures([one, (0.7, 1.1, 1.8), four]),
        "a 1.00, b 1.10, c 4.00 (4.00 times, 3.45 to 4.67)."
    );
}
