//! Keys of the load, of seeds, and of the checks before a run.

use super::super::shape::Kind::{Count, Flag, Many, Named, Number, OneOf, Table, Text, Time};
use super::super::shape::{Key, Shape};
use super::{CPUS, ENVIRONMENT, REPEATS, RESTARTS, WHEN, WITHIN, key};

/// `[seed]`
pub static SEED: Shape = Shape {
    name: "[seed]",
    says: "Exactly one of `script` and `command`. A line of JSON in its output (from a script: `console.log(JSON.stringify({…}))`) defines variables: `{seed.x}`, or `{NAME.x}` for a seed with a name.",
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
            "Expected results: names of the script's counters or of printed values, and their values.",
        ),
        key("within", Time, "10m", "Time limit."),
        WHEN,
    ],
};

/// The expected response to a request.
pub static EXPECT: Shape = Shape {
    name: "expect",
    says: "The expected response.",
    keys: &[
        key(
            "status",
            Count,
            "200",
            "The HTTP status, or the gRPC code (0).",
        ),
        key(
            "contains",
            Text,
            "anything",
            "A string that the body must contain.",
        ),
        key(
            "json",
            Named(&Text),
            "anything",
            "JSON pointers (RFC 6901) and the expected values.",
        ),
    ],
};

/// `[sanity]`
pub static SANITY: Shape = Shape {
    name: "[sanity]",
    says: "By default, before each cell, the lab runs one iteration of the load's script, in which every check must pass, or sends one request of the load, which must get the expected response. This table changes that check.",
    keys: &[
        key(
            "script",
            Text,
            "the load's",
            "A k6 script, of which one iteration runs. It must contain at least one check, and every check must pass.",
        ),
        key(
            "command",
            Text,
            "none",
            "A command that must exit with status 0.",
        ),
        key(
            "expect",
            Table(&EXPECT),
            "status 200",
            "Expected response to one request of the load.",
        ),
        ENVIRONMENT,
        WITHIN,
        WHEN,
    ],
};

const INCLUDE_CONNECTING: Key = key(
    "include-connecting",
    Flag,
    "false",
    "Open the connections of fixed work within its makespan instead of before it.",
);

/// `http` of a load.
pub static HTTP: Shape = Shape {
    name: "http",
    says: "One request, repeated by `plimsoll http`.",
    keys: &[
        key("url", Text, "required", "The address."),
        key("method", Text, "GET", "The method."),
        key("headers", Named(&Text), "none", "Headers."),
        key(
            "body",
            Text,
            "none",
            "The body; `@FILE` reads it from a file, relative to the lab file.",
        ),
        key(
            "body-lines",
            Text,
            "none",
            "A file with one body on each line, sent round-robin; relative to the lab file. It is a template, so it may contain `{NAME.url}`. By default, only the first line is sent before the measurement, as the sanity request.",
        ),
        key(
            "connections",
            OneOf(&["kept", "fresh", "shared"]),
            "kept",
            "Connections. `kept`: one for each user. `fresh`: a new one for each request. `shared`: one for all users of fixed work, over HTTP/2 or HTTP/3.",
        ),
        INCLUDE_CONNECTING,
        key("insecure", Flag, "false", "Accept any certificate."),
        key("cert", Text, "none", "The client's certificate."),
        key("key", Text, "none", "Its key."),
    ],
};

/// `grpc` of a load.
pub static GRPC: Shape = Shape {
    name: "grpc",
    says: "One call, repeated by `plimsoll grpc`.",
    keys: &[
        key("address", Text, "required", "Host and port."),
        key("call", Text, "required", "`package.Service/Method`."),
        key(
            "proto",
            Text,
            "the server's reflection",
            "The `.proto` file, relative to the lab file.",
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
            OneOf(&["kept", "fresh", "shared"]),
            "kept",
            "Connections. `kept`: one for each user. `fresh`: a new one for each call. `shared`: one for all users.",
        ),
        INCLUDE_CONNECTING,
        key("tls", Flag, "false", "Use TLS."),
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
    says: "A fixed amount of work instead of a duration. Its figures are the makespan and the rate.",
    keys: &[
        key("workers", Count, "required", "Concurrent users."),
        key("loops", Count, "required", "Repetitions by each user."),
    ],
};

/// `[load]`
pub static LOAD: Shape = Shape {
    name: "[load]",
    says: "Exactly one of `script`, `http`, `targets`, `grpc`, `throughput` and `command`. Without `rate` the model is closed: each of the `users` sends its next request when it has received the previous response.",
    keys: &[
        key(
            "script",
            Text,
            "none",
            "A k6 script; relative to the lab file.",
        ),
        key("http", Table(&HTTP), "none", "One request, repeated."),
        key(
            "targets",
            Text,
            "none",
            "A target list in vegeta's format, sent round-robin at `rate`. It is a template, so it may contain `{NAME.url}`.",
        ),
        key("grpc", Table(&GRPC), "none", "One call, repeated."),
        key(
            "throughput",
            OneOf(&["tcp", "udp"]),
            "none",
            "Throughput of one stream, measured like iperf3; `to` is the server.",
        ),
        key(
            "command",
            Text,
            "none",
            "A command line of any tool; `tool` names its output format. `plimsoll find --json …` searches for a limit, which becomes the cell's result.",
        ),
        key(
            "to",
            Text,
            "none",
            "For `throughput`: address of an iperf3 server.",
        ),
        key(
            "reverse",
            Flag,
            "false",
            "For `throughput`: from the server to the generator.",
        ),
        key(
            "work",
            Table(&WORK),
            "none",
            "A fixed amount of work, with `http` or `grpc`.",
        ),
        key(
            "tool",
            OneOf(&["plimsoll", "k6", "wrk", "vegeta", "iperf3"]),
            "plimsoll",
            "The load generator: k6 runs `script`, wrk `http`, vegeta `targets`, iperf3 `throughput`. It must be installed. The lab uses only its printed output.",
        ),
        key("program", Text, "found in PATH", "Path of that tool."),
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
            "Requests per second, in the open model. A script receives it as `__ENV.RATE`.",
        ),
        key("duration", Time, "10s", "Duration of the measurement."),
        key(
            "warmup",
            Time,
            "2s",
            "Duration of the warm-up before the measurement, which is excluded. Further seconds that look like a warm-up (MSER-5) are also excluded, and reported.",
        ),
        RESTARTS,
        REPEATS,
        key(
            "until",
            Text,
            "none",
            "A figure and a precision, such as `latency_p95 ±5%`. A cell is measured until the interval of this figure is that narrow; `restarts` is then the maximum. The interval is wider than with a fixed number of restarts, to keep its 95 % confidence although it is checked after each restart.",
        ),
        key(
            "environment",
            Named(&Text),
            "none",
            "Variables: `__ENV.X` of a script. `DURATION`, `WARMUP`, `USERS` and `RATE` are always set.",
        ),
        key(
            "arguments",
            Many(&Text),
            "none",
            "Additional flags of the command that generates the load.",
        ),
        key(
            "protocol",
            OneOf(&["HTTP/1.1", "HTTP/2", "HTTP/3"]),
            "any",
            "The protocol to negotiate: `http` runs with the flag for it, and a response over another protocol is an error of the cell.",
        ),
        key(
            "latency",
            Text,
            "the duration of requests or calls",
            "The trend of a script to use as its latency, such as `http_req_total`. Samples of a trend of the script itself then count as requests.",
        ),
        key(
            "place",
            Text,
            "`{place}` if that axis exists, otherwise `near`",
            "Place of the generator.",
        ),
        CPUS,
        key(
            "within",
            Time,
            "the duration of the run and a minute",
            "Time limit after which an unfinished run is stopped.",
        ),
        WHEN,
    ],
};

/// `[observe]`
pub static OBSERVE: Shape = Shape {
    name: "[observe]",
    says: "The lab observes every process of systems and services, and the generator: CPU time, memory, threads, context switches, open files. Network bytes are counted by the load, because Linux does not count them per process.",
    keys: &[
        key("every", Time, "1s", "Interval."),
        key(
            "link",
            Flag,
            "true",
            "Whether to measure connect time, round trip and the throughput of one TCP stream before each run, through the relay of a place or over loopback.",
        ),
        WHEN,
    ],
};
