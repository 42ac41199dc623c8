//! Every key of a lab file.

mod conclusions;
mod loads;
mod processes;

pub use conclusions::*;
pub use loads::*;
pub use processes::*;

use super::shape::Kind::{
    Count, Either, Many, Named, Number, Percent, Rate, Table, Text, Time, When,
};
use super::shape::{Key, Kind, Shape};

const fn key(name: &'static str, kind: Kind, default: &'static str, says: &'static str) -> Key {
    Key {
        name,
        kind,
        default,
        says,
    }
}

const WHEN: Key = key(
    "when",
    When,
    "always",
    "The cells for which the table holds: for each axis the value or values.",
);

const CPUS: Key = key(
    "cpus",
    Many(&Count),
    "any",
    "The processors that it is pinned to, from 0.",
);

const WITHIN: Key = key(
    "within",
    Time,
    "30s",
    "How long that may take before it is an error.",
);

const ENVIRONMENT: Key = key(
    "environment",
    Named(&Text),
    "none",
    "Environment variables besides those of the lab itself.",
);

/// The whole file.
pub static FILE: Shape = Shape {
    name: "a lab file",
    says: "A lab file is TOML. Its tables:",
    keys: &[
        key(
            "include",
            Many(&Text),
            "none",
            "Files whose tables come before this one's; relative to this file.",
        ),
        key("lab", Table(&LAB), "required", "What the lab is about."),
        key(
            "forms",
            Table(&FORMS),
            "see there",
            "What `--quick` and `--full` change.",
        ),
        key(
            "axes",
            Named(&Either(&Many(&Text), &Many(&Table(&AXIS)))),
            "one cell",
            "The matrix: each axis with its values. The cells are their combinations, named after them.",
        ),
        key(
            "exclude",
            Many(&When),
            "none",
            "Cells that there are not: all with these values.",
        ),
        key(
            "variables",
            Many(&VARIABLE),
            "none",
            "Names for texts, to be used in braces anywhere. Besides its names it may have `when`.",
        ),
        key(
            "certificates",
            Many(&Table(&CERTIFICATES)),
            "none",
            "Makes a certificate authority, a server's and a client's certificate for each variant.",
        ),
        key(
            "place",
            Many(&Table(&PLACE)),
            "`near`",
            "Distances between the generator and the systems.",
        ),
        key(
            "service",
            Many(&Table(&SERVICE)),
            "none",
            "What the systems need, started before them, in the order of the file.",
        ),
        key(
            "system",
            Many(&Table(&SYSTEM)),
            "none",
            "What is measured: started, awaited and stopped for each variant, in the order of the file.",
        ),
        key(
            "seed",
            Many(&Table(&SEED)),
            "none",
            "Data, put in through the system's own interface once it is ready, and checked.",
        ),
        key(
            "sanity",
            Many(&Table(&SANITY)),
            "the load, once",
            "What must work before a cell is measured.",
        ),
        key("load", Many(&Table(&LOAD)), "required", "The load."),
        key(
            "observe",
            Many(&Table(&OBSERVE)),
            "see there",
            "What is looked at besides the load.",
        ),
        key(
            "objective",
            Many(&Table(&OBJECTIVE)),
            "none",
            "What is to hold, and is judged with its interval.",
        ),
        key(
            "compare",
            Many(&Table(&COMPARE)),
            "every axis against its first value",
            "Which cells are compared.",
        ),
        key(
            "published",
            Many(&Table(&PUBLISHED)),
            "none",
            "Figures of the document that the lab goes back to, to stand beside the measured ones.",
        ),
        key(
            "avoids",
            Many(&Table(&AVOIDS)),
            "none",
            "What that document got wrong, and why it cannot happen here.",
        ),
    ],
};

const VARIABLE: Kind = Named(&Either(&Text, &When));

/// `[lab]`
pub static LAB: Shape = Shape {
    name: "[lab]",
    says: "What the lab is about.",
    keys: &[
        key("title", Text, "required", "The title of the report."),
        key("question", Text, "empty", "What the lab asks."),
        key("source", Text, "none", "The document that it goes back to."),
        key(
            "keep",
            Count,
            "4",
            "How many variants may be up at a time. Those that nobody measures stay idle; beyond this number the one unused for longest is stopped, and later started anew.",
        ),
        key("pause", Time, "500ms", "How long to wait between two runs."),
    ],
};

/// `[forms]`
pub static FORMS: Shape = Shape {
    name: "[forms]",
    says: "The three forms differ in durations, repeats and the share of cells, never in what a cell means.",
    keys: &[
        key("quick", Table(&QUICK), "see there", "`--quick`."),
        key(
            "standard",
            Table(&STANDARD),
            "the load's own",
            "Without a flag.",
        ),
        key("full", Table(&FULL), "see there", "`--full`."),
    ],
};

const SHARE: Key = key(
    "share",
    Number,
    "1",
    "The share of the cells that are run, above 0 and at most 1, spread over the matrix.",
);
const ONLY: Key = key(
    "only",
    Many(&When),
    "all cells",
    "Only cells with these values are run; of several tables one has to hold.",
);

/// `[forms.quick]`
pub static QUICK: Shape = Shape {
    name: "[forms.quick]",
    says: "What `--quick` takes instead of the load's own.",
    keys: &[
        key("duration", Time, "2s", "How long is measured."),
        key("warmup", Time, "1s", "How long before that."),
        key("repeats", Count, "1", "How often each cell is run."),
        SHARE,
        ONLY,
    ],
};

/// `[forms.standard]`
pub static STANDARD: Shape = Shape {
    name: "[forms.standard]",
    says: "What holds without a flag, instead of the load's own.",
    keys: &[
        key("duration", Time, "the load's", "How long is measured."),
        key("warmup", Time, "the load's", "How long before that."),
        key(
            "repeats",
            Count,
            "the load's",
            "How often each cell is run.",
        ),
        SHARE,
        ONLY,
    ],
};

/// `[forms.full]`
pub static FULL: Shape = Shape {
    name: "[forms.full]",
    says: "What `--full` takes instead of the load's own.",
    keys: &[
        key("duration", Time, "60s", "How long is measured."),
        key("warmup", Time, "10s", "How long before that."),
        key("repeats", Count, "5", "How often each cell is run."),
        SHARE,
        ONLY,
    ],
};

/// An axis with conditions.
pub static AXIS: Shape = Shape {
    name: "of an axis",
    says: "An axis is a list of values; or, where it is not there for all cells, a table or a list of tables. Where none of them holds, the cell does not have the axis. `when` may name axes that stand before.",
    keys: &[key("values", Many(&Text), "required", "The values."), WHEN],
};

/// `[[place]]`
pub static PLACE: Shape = Shape {
    name: "[[place]]",
    says: "A distance, imitated by `plimsoll link`, a relay that delays and paces bytes both ways. `near` is loopback, without a relay. The load and the sanity request go through the relay; seeds and readiness do not. The place of a cell is `place` of `[load]`.",
    keys: &[
        key(
            "name",
            Text,
            "required",
            "Its name, as `place` of `[load]` or a value of the axis `place` says it.",
        ),
        key("round-trip", Time, "0ms", "There and back."),
        key(
            "jitter",
            Time,
            "0ms",
            "How far the round trip strays to both sides.",
        ),
        key(
            "rate",
            Rate,
            "as much as comes",
            "What each direction carries.",
        ),
        key("loss", Percent, "0%", "The share of packets that are lost."),
        CPUS,
        WHEN,
    ],
};

/// All shapes, in the order in which the reference tells them.
pub static SHAPES: &[&Shape] = &[
    &FILE,
    &LAB,
    &AXIS,
    &FORMS,
    &QUICK,
    &STANDARD,
    &FULL,
    &PLACE,
    &SYSTEM,
    &READY,
    &CAPTURE,
    &SERVICE,
    &CERTIFICATES,
    &SEED,
    &SANITY,
    &EXPECT,
    &LOAD,
    &HTTP,
    &GRPC,
    &WORK,
    &OBSERVE,
    &OBJECTIVE,
    &COMPARE,
    &PUBLISHED,
    &AVOIDS,
];
