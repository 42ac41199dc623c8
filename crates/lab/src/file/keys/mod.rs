//! Every key of a lab file.

mod conclusions;
mod loads;
mod processes;

pub use conclusions::*;
pub use loads::*;
pub use processes::*;

use super::shape::Kind::{
    Count, Either, Many, Named, Number, OneOf, Percent, Rate, Table, Text, Time, When,
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
    "The cells to which the table applies: one or more values for each axis.",
);

const CPUS: Key = key(
    "cpus",
    Many(&Count),
    "any",
    "Processors to which it is pinned, counted from 0.",
);

const WITHIN: Key = key("within", Time, "30s", "Time limit.");

const RESTARTS: Key = key(
    "restarts",
    Count,
    "3",
    "Number of times that each cell is measured, each time with restarted systems and services.",
);
const REPEATS: Key = key(
    "repeats",
    Count,
    "1",
    "Number of runs of each cell in each restart, without restarting the systems.",
);

const ENVIRONMENT: Key = key(
    "environment",
    Named(&Text),
    "none",
    "Environment variables in addition to the lab's own.",
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
            "Files whose tables precede those of this file; relative to this file.",
        ),
        key(
            "lab",
            Table(&LAB),
            "required",
            "Title, question and defaults of the lab.",
        ),
        key(
            "forms",
            Table(&FORMS),
            "see there",
            "Changes that `--quick` and `--full` make.",
        ),
        key(
            "axes",
            Named(&Either(&Many(&Text), &Many(&Table(&AXIS)))),
            "one cell",
            "The matrix: each axis with its values. The cells are the combinations of these values and are named after them.",
        ),
        key(
            "words",
            Named(&Named(&Text)),
            "the values themselves",
            "Names for the values in a report: for each axis, a table of values and their words, such as `wire = { h2 = \"HTTP/2\" }`.",
        ),
        key(
            "exclude",
            Many(&When),
            "none",
            "Combinations to leave out: all cells with these values.",
        ),
        key(
            "variables",
            Many(&VARIABLE),
            "none",
            "Named strings, for use in braces anywhere. The table may also contain `when`.",
        ),
        key(
            "certificates",
            Many(&Table(&CERTIFICATES)),
            "none",
            "Creates a certificate authority, a server certificate and a client certificate for each variant.",
        ),
        key(
            "place",
            Many(&Table(&PLACE)),
            "`near`",
            "Networks between the generator and the systems.",
        ),
        key(
            "service",
            Many(&Table(&SERVICE)),
            "none",
            "Dependencies of the systems, started before them, in the order of the file.",
        ),
        key(
            "system",
            Many(&Table(&SYSTEM)),
            "none",
            "The measured systems. For each variant they are started in the order of the file, awaited, and stopped.",
        ),
        key(
            "seed",
            Many(&Table(&SEED)),
            "none",
            "Data that is written through the system's own interface when the system is ready, and then checked.",
        ),
        key(
            "sanity",
            Many(&Table(&SANITY)),
            "the load, once",
            "A check that must pass before a cell is measured.",
        ),
        key("load", Many(&Table(&LOAD)), "required", "The load."),
        key(
            "observe",
            Many(&Table(&OBSERVE)),
            "see there",
            "Observations in addition to the load.",
        ),
        key(
            "objective",
            Many(&Table(&OBJECTIVE)),
            "none",
            "Conditions on figures, judged with their intervals.",
        ),
        key(
            "compare",
            Many(&Table(&COMPARE)),
            "every axis against its first value",
            "The comparisons of cells.",
        ),
        key(
            "table",
            Many(&Table(&TABLE)),
            "a table for each set of figures",
            "Tables of the report.",
        ),
        key(
            "question",
            Many(&Table(&QUESTION)),
            "none",
            "Questions of the lab, and statements of the document that it repeats. The report begins with them.",
        ),
        key(
            "published",
            Many(&Table(&PUBLISHED)),
            "none",
            "Figures of the document that the lab repeats, shown next to the measured ones.",
        ),
        key(
            "avoids",
            Many(&Table(&AVOIDS)),
            "none",
            "Errors of that document, and the reasons why they cannot happen here.",
        ),
    ],
};

const VARIABLE: Kind = Named(&Either(&Text, &When));

/// `[lab]`
pub static LAB: Shape = Shape {
    name: "[lab]",
    says: "Title, question and defaults of the lab.",
    keys: &[
        key("title", Text, "required", "The title of the report."),
        key(
            "question",
            Text,
            "empty",
            "The question that the lab answers.",
        ),
        key("source", Text, "none", "The document that the lab repeats."),
        key(
            "keep",
            Count,
            "4",
            "Number of variants that may run at the same time. In each restart, variants are started in random groups of this size, and the cells of a group run in random order. Variants that are not being measured stay idle.",
        ),
        key("pause", Time, "500ms", "Pause between two runs."),
    ],
};

/// `[forms]`
pub static FORMS: Shape = Shape {
    name: "[forms]",
    says: "The three forms differ in durations, restarts, repeats and the share of cells, never in what a cell means.",
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
    "Share of the cells to run, greater than 0 and at most 1, spread over the matrix.",
);
const ONLY: Key = key(
    "only",
    Many(&When),
    "all cells",
    "Run only cells with these values. Of several tables, one must match.",
);

/// `[forms.quick]`
pub static QUICK: Shape = Shape {
    name: "[forms.quick]",
    says: "Values of `--quick`, instead of the load's own.",
    keys: &[
        key("duration", Time, "2s", "Duration of the measurement."),
        key(
            "warmup",
            Time,
            "1s",
            "Duration of the warm-up before the measurement.",
        ),
        key("restarts", Count, "1", RESTARTS.says),
        key("repeats", Count, "1", REPEATS.says),
        SHARE,
        ONLY,
    ],
};

/// `[forms.standard]`
pub static STANDARD: Shape = Shape {
    name: "[forms.standard]",
    says: "Values without a flag, instead of the load's own.",
    keys: &[
        key(
            "duration",
            Time,
            "the load's",
            "Duration of the measurement.",
        ),
        key(
            "warmup",
            Time,
            "the load's",
            "Duration of the warm-up before the measurement.",
        ),
        key("restarts", Count, "the load's", RESTARTS.says),
        key("repeats", Count, "the load's", REPEATS.says),
        SHARE,
        ONLY,
    ],
};

/// `[forms.full]`
pub static FULL: Shape = Shape {
    name: "[forms.full]",
    says: "Values of `--full`, instead of the load's own.",
    keys: &[
        key("duration", Time, "60s", "Duration of the measurement."),
        key(
            "warmup",
            Time,
            "10s",
            "Duration of the warm-up before the measurement.",
        ),
        key("restarts", Count, "5", RESTARTS.says),
        key("repeats", Count, "the load's", REPEATS.says),
        SHARE,
        ONLY,
    ],
};

/// An axis with conditions.
pub static AXIS: Shape = Shape {
    name: "of an axis",
    says: "An axis is a list of values. If not all cells have it, it is a table or a list of tables. A cell to which none of them applies does not have the axis. `when` may name axes that come earlier in the file.",
    keys: &[key("values", Many(&Text), "required", "The values."), WHEN],
};

/// `[[place]]`
pub static PLACE: Shape = Shape {
    name: "[[place]]",
    says: "A network between the generator and the systems. `near` is loopback. The load and the sanity request go through the network; seeds and readiness checks do not. `place` of `[load]` selects the place of a cell.",
    keys: &[
        key(
            "name",
            Text,
            "required",
            "Its name, as used in `place` of `[load]` or as a value of the axis `place`.",
        ),
        key(
            "by",
            OneOf(&["relay", "kernel"]),
            "relay",
            "Implementation of the network. `relay`: a process (`plimsoll link`) delays and limits the bytes in both directions. It works everywhere, but connecting takes no round trip. `kernel`: the generator runs in a separate network namespace, and the kernel delays and limits the packets in both directions. It needs root and iproute2. Delay, jitter and loss also need a kernel with netem; a rate alone needs tbf, which all common kernels have. The lab checks this before it starts anything. The kernel counts whole packets, so the data of one TCP stream is at most 95 % of the rate. All traffic from the generator to this host goes through the network, and the generator reaches no other host.",
        ),
        key("round-trip", Time, "0ms", "Round trip."),
        key("jitter", Time, "0ms", "Jitter (± around the round trip)."),
        key("rate", Rate, "unlimited", "Bandwidth of each direction."),
        key("loss", Percent, "0%", "Share of packets that are lost."),
        key(
            "host",
            Text,
            "this host",
            "`ssh:` and a destination for ssh, such as `ssh:me@machine`. The systems and services with a command run on that host. The load goes to the host's address, not through SSH. The host's key must be known, and connecting must not require a password. The lab stops the processes at the end; they also stop if the connection is lost. The report shows the hardware, the kernel and the CPU use of the host.",
        ),
        key(
            "address",
            Text,
            "the address to which ssh connects",
            "With `host`: the address to which the load connects.",
        ),
        key(
            "program",
            Text,
            "the lab copies it",
            "With `host`: the path of plimsoll on that host. By default the lab copies this program to `~/.cache/plimsoll/programs` on the host, and `plimsoll-serve` if a command needs it.",
        ),
        key(
            "ssh-config",
            Text,
            "the user's own",
            "With `host`: a configuration file for ssh (`ssh -F`); relative to the lab file.",
        ),
        CPUS,
        WHEN,
    ],
};

/// All shapes, in the order of the reference documentation.
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
    &TABLE,
    &QUESTION,
    &AVOIDS,
];
