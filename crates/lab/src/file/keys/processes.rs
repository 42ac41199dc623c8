//! Keys of what is started.

use super::super::shape::Kind::{Count, Flag, Many, Named, OneOf, Table, Text};
use super::super::shape::Shape;
use super::{CPUS, ENVIRONMENT, WHEN, WITHIN, key};

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
            "counts",
            Flag,
            "true",
            "Whether its processor time is part of `cpu_seconds_per_thousand`; what only stands behind the measured system should not be. It is looked at all the same.",
        ),
        key(
            "metrics",
            Text,
            "`/metrics` of `plimsoll serve`, else none",
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
        key("counts", Flag, "true", "As with a system."),
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
