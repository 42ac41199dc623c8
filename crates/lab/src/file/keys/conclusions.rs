//! Keys of what is concluded.

use super::super::shape::Kind::{Either, Flag, Many, Number, Percent, Text, Time};
use super::super::shape::Shape;
use super::{WHEN, key};

/// `[[objective]]`
pub static OBJECTIVE: Shape = Shape {
    name: "[[objective]]",
    says: "Exactly one of `at-most` and `at-least`. It is kept if it holds for the whole interval, broken if for none of it, else undecided.",
    keys: &[
        key(
            "metric",
            Text,
            "required",
            "`latency` with `p`, or a figure such as `requests_per_second`, `failed_share`, `cpu_seconds_per_thousand`, `makespan`, `payload_megabits_per_second`, `throughput`.",
        ),
        key(
            "p",
            Number,
            "none",
            "latency: the percentile: 50, 90, 95, 99 or 99.9.",
        ),
        key(
            "at-most",
            Either(&Time, &Number),
            "none",
            "The limit: a time for latency and makespan, else a number.",
        ),
        key(
            "at-least",
            Either(&Time, &Number),
            "none",
            "As `at-most`, the other way.",
        ),
        WHEN,
    ],
};

/// `[[compare]]`
pub static COMPARE: Shape = Shape {
    name: "[[compare]]",
    says: "Cells that differ in one axis alone, each against the base.",
    keys: &[
        key("axis", Text, "required", "The axis."),
        key(
            "base",
            Text,
            "its first value",
            "The value that the others are compared with.",
        ),
        key(
            "against",
            Many(&Text),
            "all others",
            "The values that are compared with it.",
        ),
        key(
            "figures",
            Many(&Text),
            "the headline figures",
            "Which figures.",
        ),
        key(
            "noise",
            Percent,
            "not known",
            "What the same differs from itself by, such as `10%`: nothing smaller is called a difference.",
        ),
        key(
            "primary",
            Flag,
            "false",
            "The lab is made to answer it: all primary comparisons are corrected together (Holm); of others, the figures of each pair of cells.",
        ),
        WHEN,
    ],
};

/// `[[published]]`
pub static PUBLISHED: Shape = Shape {
    name: "[[published]]",
    says: "A published figure of the cells that `when` chooses.",
    keys: &[
        key(
            "figure",
            Text,
            "required",
            "The figure it stands beside, such as `latency_p95`.",
        ),
        key(
            "value",
            Number,
            "required",
            "The value, in that figure's unit.",
        ),
        key("note", Text, "empty", "What to know before comparing."),
        WHEN,
    ],
};

/// `[[avoids]]`
pub static AVOIDS: Shape = Shape {
    name: "[[avoids]]",
    says: "An error of the published document.",
    keys: &[
        key("wrong", Text, "required", "What was wrong."),
        key("avoided", Text, "required", "Why it cannot happen here."),
    ],
};
