//! Every key of a lab file.

use super::shape::Kind::{
    Count, Either, Flag, Many, Named, Number, OneOf, Percent, Rate, Table, Text, Time, When,
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

/// `[certificates]`
pub static CERTIFICATES: Shape = Shape {
    name: "[certificates]",
    says: "`{certificates.ca}`, `{certificates.server}`, `{certificates.server-key}`, `{certificates.client}` and `{certificates.client-key}` are the files, `{certificates.directory}` is where they are.",
    keys: &[
        key(
            "names",
            Many(&Text),
            "localhost, 127.0.0.1",
            "What the server is called.",
        ),
        WHEN,
    ],
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
        WHEN,
    ],
};

/// `ready`
pub static READY: Shape = Shape {
    name: "ready",
    says: "When a process is ready. Exactly one of `http`, `tcp`, `log` and `json`; `plimsoll serve` has `json` by default, all else `tcp`.",
    keys: &[
        key(
            "http",
            Text,
            "none",
            "A path on its port, or a whole URL, that has to answer with a status from 200 to 299.",
        ),
        key(
            "tcp",
            Text,
            "its own port",
            "The name of a port of its own, a port, or an address, where connections have to be taken up.",
        ),
        key("log", Text, "none", "A text that has to be in its output."),
        key(
            "json",
            Flag,
            "false",
            "Its first line of output is a JSON object; `{NAME.field}` are its fields.",
        ),
        WITHIN,
    ],
};

/// A captured value of a process.
pub static CAPTURE: Shape = Shape {
    name: "capture",
    says: "A value that is known only once a system is ready: `capture = { list = { http = \"/aggregation/tests\", json = \"/status_lists/0\" } }` makes it `{NAME.list}`.",
    keys: &[
        key(
            "http",
            Text,
            "none",
            "A path on its port, or a whole URL, that is asked.",
        ),
        key(
            "json",
            Text,
            "the whole answer",
            "Where in the answer, as a JSON pointer (RFC 6901).",
        ),
    ],
};

/// `[[system]]`
pub static SYSTEM: Shape = Shape {
    name: "[[system]]",
    says: "A process that is measured.",
    keys: &[
        key("name", Text, "required", "Its name."),
        key(
            "command",
            Text,
            "required",
            "The command line, words apart by blanks, quoted as in a shell; no shell runs it. `plimsoll` is this very program.",
        ),
        key("directory", Text, "a private one", "Where it runs."),
        key(
            "port",
            Count,
            "any free one",
            "Its port, `{port}` in its own table and `{NAME.port}` in others.",
        ),
        key(
            "ports",
            Many(&Text),
            "none",
            "Names of further ports, `{port.x}` in its own table and `{NAME.port.x}` in others. Their numbers are any free ones.",
        ),
        key(
            "files",
            Named(&Text),
            "none",
            "Files that are written into its directory: the name, and the template that it is made from, relative to the lab file.",
        ),
        key("ready", Table(&READY), "see there", "When it is ready."),
        key(
            "capture",
            Named(&Table(&CAPTURE)),
            "none",
            "Values to be had from it once it is ready.",
        ),
        ENVIRONMENT,
        CPUS,
        key(
            "metrics",
            Text,
            "none",
            "A path on its port, or a whole URL, with metrics for Prometheus; kept before and after each run.",
        ),
        key(
            "version",
            Text,
            "see there",
            "A command that prints its version. Without one, what is known of the program is used.",
        ),
        key(
            "user",
            Text,
            "the lab's own",
            "Whom it runs as, if the lab runs as root.",
        ),
        WHEN,
    ],
};

/// `[[service]]`
pub static SERVICE: Shape = Shape {
    name: "[[service]]",
    says: "A process that a system needs. All keys of a system, and these:",
    keys: &[
        key("name", Text, "required", "Its name."),
        key(
            "kind",
            OneOf(&["postgres", "redis", "nginx", "haproxy", "caddy", "command"]),
            "command",
            "What it is. All but `command` are started from the machine's own packages, in a private directory, and know by themselves when they are ready.",
        ),
        key(
            "url",
            Text,
            "none",
            "One that is there already, instead of starting one. The lab never empties it.",
        ),
        key(
            "program",
            Text,
            "where packages put it",
            "The path of the program.",
        ),
        key(
            "settings",
            Named(&Text),
            "none",
            "Settings of postgres (`max_connections = 200`) or redis (`maxmemory = \"1gb\"`).",
        ),
        key(
            "fsync",
            OneOf(&["always", "everysec", "no"]),
            "always",
            "redis: when its append-only file is flushed.",
        ),
        key(
            "database",
            Text,
            "plimsoll",
            "postgres: the name of the empty database that is made; `{NAME.url}` is its address.",
        ),
        key(
            "extensions",
            Many(&Text),
            "none",
            "postgres: extensions that are made in it, such as `postgis`.",
        ),
        key(
            "config",
            Text,
            "required for these",
            "nginx, haproxy, caddy: the template of the configuration, relative to the lab file.",
        ),
        key(
            "command",
            Text,
            "required for `command`",
            "As with a system.",
        ),
        key("directory", Text, "a private one", "As with a system."),
        key("port", Count, "any free one", "As with a system."),
        key("ports", Many(&Text), "none", "As with a system."),
        key("files", Named(&Text), "none", "As with a system."),
        key("ready", Table(&READY), "by its kind", "As with a system."),
        key(
            "capture",
            Named(&Table(&CAPTURE)),
            "none",
            "As with a system.",
        ),
        ENVIRONMENT,
        CPUS,
        key("metrics", Text, "none", "As with a system."),
        key("version", Text, "by its kind", "As with a system."),
        key(
            "user",
            Text,
            "one that the program accepts",
            "As with a system.",
        ),
        WHEN,
    ],
};

/// `[seed]`
pub static SEED: Shape = Shape {
    name: "[seed]",
    says: "Exactly one of `script` and `command`. What it prints as a line of JSON, a script by `console.log(JSON.stringify({…}))`, becomes variables: `{seed.x}`, or by its own name.",
    keys: &[
        key("name", Text, "seed", "Its name."),
        key(
            "script",
            Text,
            "none",
            "A k6 script, run by `plimsoll run`; relative to the lab file.",
        ),
        key("command", Text, "none", "A command line."),
        ENVIRONMENT,
        key(
            "expect",
            Named(&Text),
            "none",
            "What has to come out: names of the script's counters, or of what it printed, with their values.",
        ),
        key(
            "within",
            Time,
            "10m",
            "How long that may take before it is an error.",
        ),
        WHEN,
    ],
};

/// What a request is to be answered with.
pub static EXPECT: Shape = Shape {
    name: "expect",
    says: "What the answer has to be.",
    keys: &[
        key(
            "status",
            Count,
            "200",
            "The status of HTTP, or the code of gRPC (0).",
        ),
        key(
            "contains",
            Text,
            "anything",
            "A text that has to be in the body.",
        ),
        key(
            "json",
            Named(&Text),
            "anything",
            "JSON pointers (RFC 6901) and the values that have to be there.",
        ),
    ],
};

/// `[sanity]`
pub static SANITY: Shape = Shape {
    name: "[sanity]",
    says: "Before each cell: one iteration of the load's script with every check passed, or one request of the load with the expected answer. This table says otherwise.",
    keys: &[
        key(
            "script",
            Text,
            "the load's",
            "A k6 script of which one iteration is run; every check has to pass, and there has to be one.",
        ),
        key(
            "command",
            Text,
            "none",
            "A command that has to end with status 0.",
        ),
        key(
            "expect",
            Table(&EXPECT),
            "status 200",
            "What one request of the load has to be answered with.",
        ),
        ENVIRONMENT,
        WITHIN,
        WHEN,
    ],
};

/// `http` of a load.
pub static HTTP: Shape = Shape {
    name: "http",
    says: "One request, over and over, by `plimsoll http`.",
    keys: &[
        key("url", Text, "required", "The address."),
        key("method", Text, "GET", "The method."),
        key("headers", Named(&Text), "none", "Header fields."),
        key(
            "body",
            Text,
            "none",
            "The body; `@FILE` reads it from a file, relative to the lab file.",
        ),
        key(
            "connections",
            OneOf(&["kept", "fresh"]),
            "kept",
            "Whether connections are kept, or each request has a new one.",
        ),
        key("insecure", Flag, "false", "Accept any certificate."),
        key("cert", Text, "none", "The client's certificate."),
        key("key", Text, "none", "Its key."),
    ],
};

/// `grpc` of a load.
pub static GRPC: Shape = Shape {
    name: "grpc",
    says: "One call, over and over, by `plimsoll grpc`.",
    keys: &[
        key("address", Text, "required", "Host and port."),
        key("call", Text, "required", "`package.Service/Method`."),
        key(
            "proto",
            Text,
            "the server's reflection",
            "The description, relative to the lab file.",
        ),
        key(
            "data",
            Text,
            "{}",
            "The message as JSON; `@FILE` reads it from a file.",
        ),
        key("metadata", Named(&Text), "none", "Metadata."),
        key(
            "connections",
            OneOf(&["kept", "fresh"]),
            "kept",
            "Whether connections are kept, or each call has a new one.",
        ),
        key("tls", Flag, "false", "Speak TLS."),
        key("insecure", Flag, "false", "Accept any certificate."),
        key(
            "size",
            Text,
            "none",
            "Instead of `data`: a message with this many bytes of payload, such as `4KiB`, in its field `data`.",
        ),
    ],
};

/// `work` of a load.
pub static WORK: Shape = Shape {
    name: "work",
    says: "An amount of work instead of a duration: its figures are how long all of it took, and its rate.",
    keys: &[
        key("workers", Count, "required", "Users at a time."),
        key("loops", Count, "required", "How often each does it."),
    ],
};

/// `[load]`
pub static LOAD: Shape = Shape {
    name: "[load]",
    says: "Exactly one of `script`, `http`, `targets`, `grpc`, `throughput` and `command`. Without `rate` the model is closed: `users` send their next request when the last is answered.",
    keys: &[
        key(
            "script",
            Text,
            "none",
            "A k6 script; relative to the lab file.",
        ),
        key("http", Table(&HTTP), "none", "One request, over and over."),
        key(
            "targets",
            Text,
            "none",
            "A list of targets as vegeta reads it, each in turn, at `rate`.",
        ),
        key("grpc", Table(&GRPC), "none", "One call, over and over."),
        key(
            "throughput",
            OneOf(&["tcp", "udp"]),
            "none",
            "How much one stream carries, after iperf3; `to` says where.",
        ),
        key(
            "command",
            Text,
            "none",
            "A command line of any tool; `tool` says what it prints.",
        ),
        key(
            "to",
            Text,
            "none",
            "throughput: the address of an iperf3 server.",
        ),
        key(
            "reverse",
            Flag,
            "false",
            "throughput: from the server to the generator.",
        ),
        key(
            "work",
            Table(&WORK),
            "none",
            "An amount of work, with `http` or `grpc`.",
        ),
        key(
            "tool",
            OneOf(&["plimsoll", "k6", "wrk", "vegeta", "iperf3"]),
            "plimsoll",
            "Who makes the load: k6 runs `script`, wrk `http`, vegeta `targets`, iperf3 `throughput`. They have to be installed; only what they print is known of such a run.",
        ),
        key("program", Text, "found in PATH", "The path of that tool."),
        key(
            "users",
            Count,
            "the script's own",
            "Virtual users, in the closed model; connections of `http` and `grpc`.",
        ),
        key(
            "rate",
            Number,
            "closed model",
            "Requests per second, in the open model. A script gets it as `__ENV.RATE`.",
        ),
        key("duration", Time, "10s", "How long is measured."),
        key(
            "warmup",
            Time,
            "2s",
            "How long before that; it is cut off. What still looks like a warm-up is cut off too (MSER-5), and told.",
        ),
        key("repeats", Count, "3", "How often each cell is run."),
        key(
            "environment",
            Named(&Text),
            "none",
            "Variables: `__ENV.X` of a script. `DURATION`, `WARMUP`, `USERS` and `RATE` are there by themselves.",
        ),
        key(
            "arguments",
            Many(&Text),
            "none",
            "Further flags of the command that makes the load.",
        ),
        key(
            "protocol",
            OneOf(&["HTTP/1.1", "HTTP/2", "HTTP/3"]),
            "any",
            "What has to be negotiated: `http` is run with the flag for it, and another protocol in the answers is an error of the cell.",
        ),
        key(
            "place",
            Text,
            "`{place}` where there is that axis, else `near`",
            "From where.",
        ),
        CPUS,
        key(
            "within",
            Time,
            "the whole run and a minute",
            "When a run that does not end is ended.",
        ),
        WHEN,
    ],
};

/// `[observe]`
pub static OBSERVE: Shape = Shape {
    name: "[observe]",
    says: "Every process of systems and services is looked at: processor time, memory, threads, context switches, open files.",
    keys: &[
        key("every", Time, "1s", "How often."),
        key(
            "link",
            Flag,
            "true",
            "Whether connect time and round trip are measured before each run.",
        ),
        WHEN,
    ],
};

/// `[[objective]]`
pub static OBJECTIVE: Shape = Shape {
    name: "[[objective]]",
    says: "Exactly one of `at-most` and `at-least`. It is kept if it holds for the whole interval, broken if for none of it, else undecided.",
    keys: &[
        key(
            "metric",
            Text,
            "required",
            "`latency` with `p`, or a figure such as `requests_per_second`, `failed_share`, `cpu_seconds_per_thousand`, `makespan`, `throughput`.",
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
