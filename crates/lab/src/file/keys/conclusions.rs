//! Keys of objectives, comparisons and published figures.

use super::super::shape::Kind::{Either, Flag, Many, Number, OneOf, Percent, Text, Time};
use super::super::shape::Shape;
use super::{WHEN, key};

/// `[[objective]]`
pub static OBJECTIVE: Shape = Shape {
    name: "[[objective]]",
    says: "Exactly one of `at-most` and `at-least`. It is met if the whole interval is within the limit, missed if none of it is, and otherwise undecided. The value of one run of less than ten seconds has no interval: it decides, unless it is within 10 % of the limit.",
    keys: &[
        key(
            "metric",
            Text,
            "required",
            "`latency` with `p`, or a figure such as `requests_per_second`, `failed_share`, `cpu_time_per_request`, `makespan`, `payload_megabits_per_second`, `throughput`.",
        ),
        key(
            "p",
            Number,
            "none",
            "For `latency`: the percentile, 50, 90, 95, 99 or 99.9.",
        ),
        key(
            "at-most",
            Either(&Time, &Number),
            "none",
            "Upper limit: a time for latency and makespan, otherwise a number.",
        ),
        key(
            "at-least",
            Either(&Time, &Number),
            "none",
            "Lower limit, like `at-most`.",
        ),
        WHEN,
    ],
};

/// `[[compare]]`
pub static COMPARE: Shape = Shape {
    name: "[[compare]]",
    says: "Comparisons of cells that differ only in one axis, each with the base.",
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
            "The values to compare with it.",
        ),
        key(
            "figures",
            Many(&Text),
            "the headline figures",
            "Figures to compare.",
        ),
        key(
            "noise",
            Percent,
            "not known",
            "Variation between runs of the same variant, such as `10%`. The report does not call anything smaller a difference.",
        ),
        key(
            "primary",
            Flag,
            "false",
            "The lab exists for this comparison. All primary comparisons are corrected together (Holm); for others, the figures of each pair of cells are.",
        ),
        WHEN,
    ],
};

/// `[[published]]`
pub static PUBLISHED: Shape = Shape {
    name: "[[published]]",
    says: "A published figure of the cells that `when` selects.",
    keys: &[
        key(
            "figure",
            Text,
            "required",
            "The measured figure to show it next to, such as `latency_p95`.",
        ),
        key(
            "value",
            Number,
            "required",
            "Its value, in that figure's unit.",
        ),
        key("note", Text, "empty", "Caveats for the comparison."),
        WHEN,
    ],
};

/// `[[table]]`
pub static TABLE: Shape = Shape {
    name: "[[table]]",
    says: "A table of the report, with axis values as rows and columns. Exactly one of `figures` and `buckets`. Axes with several values that are neither rows nor columns become rows.",
    keys: &[
        key(
            "title",
            Text,
            "required",
            "The title: the question that the table answers.",
        ),
        key(
            "rows",
            Many(&Text),
            "the other axes",
            "Axes whose values name the rows.",
        ),
        key(
            "columns",
            Many(&Text),
            "none",
            "Axes whose values name the columns.",
        ),
        key(
            "figures",
            Many(&Text),
            "none",
            "Figures to show, such as `latency_p95`; `share_within_objective` is the share of requests within the limit of an objective.",
        ),
        key(
            "unit",
            Text,
            "the figure's own",
            "Unit to show the figures in, such as `s` for a time in ms, `MB/s` for Mbit/s, or `CPU ms`.",
        ),
        key(
            "buckets",
            Many(&Time),
            "none",
            "Upper edges of latency buckets; the table shows the share of requests in each.",
        ),
        key(
            "note",
            Text,
            "none",
            "Information that readers of the table need, such as the durability of the compared stores.",
        ),
        WHEN,
    ],
};

/// `[[question]]`
pub static QUESTION: Shape = Shape {
    name: "[[question]]",
    says: "A question of the lab or a statement of the document that it repeats. The report begins with the answer: a verdict on what is expected, and the figures. Exactly one of `asks` and `says`.",
    keys: &[
        key("asks", Text, "none", "A question of the lab."),
        key(
            "says",
            Text,
            "none",
            "A statement of the document that the lab repeats.",
        ),
        key(
            "figure",
            Text,
            "none: not tested",
            "The figure that decides it, such as `latency_p95`.",
        ),
        key(
            "axis",
            Text,
            "none: each cell counts alone",
            "The axis whose values are compared.",
        ),
        key(
            "values",
            Many(&Text),
            "all",
            "The values of that axis, with the base first. For `expect`, and for limits of a ratio or a difference, two.",
        ),
        key(
            "expect",
            OneOf(&["larger", "smaller", "not-smaller", "not-larger", "same"]),
            "none",
            "The expected relation of the second value to the first.",
        ),
        key(
            "of",
            OneOf(&["value", "ratio", "difference"]),
            "`ratio` with an axis, `value` without",
            "The quantity that `at-least` and `at-most` limit: the figure, the second value divided by the first, or the second minus the first.",
        ),
        key("at-least", Number, "no limit", "Lower limit."),
        key("at-most", Number, "no limit", "Upper limit."),
        key(
            "limits-from",
            Text,
            "chosen by the lab",
            "The source of the limits, such as `the document's SLA`.",
        ),
        key(
            "yes",
            Text,
            "the question",
            "The answer to a question with an expectation if it is true of all cells: a sentence without its period.",
        ),
        key(
            "no",
            Text,
            "the question",
            "The answer to the question if it is true of none.",
        ),
        key(
            "topic",
            Text,
            "none",
            "The scope of the answer to a question without an expectation, such as `on new connections`. The report adds which value is best.",
        ),
        key(
            "note",
            Text,
            "none",
            "Information that readers of the figures need.",
        ),
        WHEN,
    ],
};

/// `[[avoids]]`
pub static AVOIDS: Shape = Shape {
    name: "[[avoids]]",
    says: "An error of the published document.",
    keys: &[
        key("wrong", Text, "required", "The error."),
        key(
            "avoided",
            Text,
            "required",
            "The reason why it cannot happen here.",
        ),
    ],
};
