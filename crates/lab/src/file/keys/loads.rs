//! Keys of what is done to it, and of what has to work before.

use super::super::shape::Kind::{Count, Flag, Many, Named, Number, OneOf, Table, Text, Time};
use super::super::shape::{Key, Shape};
use super::{CPUS, ENVIRONMENT, WHEN, WITHIN, key};

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

const INCLUDE_CONNECTING: Key = key(
    "include-connecting",
    Flag,
    "false",
    "Open the connections of fixed work within its makespan, instead of before it.",
);

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
            OneOf(&["kept", "fresh", "shared"]),
            "kept",
            "`kept`: one for each user. `fresh`: a new one for each request. `shared`: one for all users of fixed work, over HTTP/2 or HTTP/3.",
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
            OneOf(&["kept", "fresh", "shared"]),
            "kept",
            "`kept`: one for each user. `fresh`: a new one for each call. `shared`: one for all users.",
        ),
        INCLUDE_CONNECTING,
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
            "A list of targets as vegeta reads it, each in turn, at `rate`; a template, so that `{NAME.url}` may stand in it.",
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
            "A command line of any tool; `tool` says what it prints. `plimsoll find --json …` is a search for a limit, which becomes the cell's answer.",
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
            "latency",
            Text,
            "the duration of requests or calls",
            "The trend of a script that is its latency, such as `http_req_total`; its samples are then what is counted as requests.",
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
    says: "Every process of systems and services, and the generator, is looked at: processor time, memory, threads, context switches, open files. Bytes on the network are those that the load counted, since Linux counts none for a process.",
    keys: &[
        key("every", Time, "1s", "How often."),
        key(
            "link",
            Flag,
            "true",
            "Whether connect time, round trip and throughput of one TCP stream are measured before each run, through the relay of a place or over loopback.",
        ),
        WHEN,
    ],
};
