//! Keys of processes.

use super::super::shape::Kind::{Count, Flag, Many, Named, OneOf, Table, Text};
use super::super::shape::Shape;
use super::{CPUS, ENVIRONMENT, WHEN, WITHIN, key};

/// `[certificates]`
pub static CERTIFICATES: Shape = Shape {
    name: "[certificates]",
    says: "`{certificates.ca}`, `{certificates.server}`, `{certificates.server-key}`, `{certificates.client}` and `{certificates.client-key}` are the files; `{certificates.directory}` is their directory.",
    keys: &[
        key(
            "names",
            Many(&Text),
            "localhost, 127.0.0.1",
            "Names and addresses of the server.",
        ),
        WHEN,
    ],
};

/// `ready`
pub static READY: Shape = Shape {
    name: "ready",
    says: "When a process is ready. Exactly one of `http`, `tcp`, `log` and `json`; the default is `json` for `plimsoll serve`, otherwise `tcp`.",
    keys: &[
        key(
            "http",
            Text,
            "none",
            "A path on its port, or a whole URL, that must respond with a status from 200 to 299.",
        ),
        key(
            "tcp",
            Text,
            "its own port",
            "The name of one of its ports, a port, or an address, that must accept connections.",
        ),
        key(
            "log",
            Text,
            "none",
            "A text that must appear in its output.",
        ),
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
    says: "A value that is known only once a system is ready: `capture = { list = { http = \"/aggregation/tests\", json = \"/status_lists/0\" } }` makes it available as `{NAME.list}`.",
    keys: &[
        key(
            "http",
            Text,
            "none",
            "A path on its port, or a whole URL, to request.",
        ),
        key(
            "json",
            Text,
            "the whole response",
            "Position in the response, as a JSON pointer (RFC 6901).",
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
            "url",
            Text,
            "none",
            "URL of a service that is already running, to measure instead of starting one. The lab does not start, restart or observe it, and the report says so.",
        ),
        key(
            "command",
            Text,
            "required without `url`",
            "The command line: words separated by spaces and quoted as in a shell, but run without a shell. `plimsoll` is this program itself.",
        ),
        key("directory", Text, "a private one", "Its working directory."),
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
            "Names of further ports, `{port.x}` in its own table and `{NAME.port.x}` in others. Free numbers are chosen.",
        ),
        key(
            "files",
            Named(&Text),
            "none",
            "Files written into its directory: the name, and the template to fill in, relative to the lab file.",
        ),
        key(
            "ready",
            Table(&READY),
            "see there",
            "Condition for being ready.",
        ),
        key(
            "capture",
            Named(&Table(&CAPTURE)),
            "none",
            "Values to read from it once it is ready.",
        ),
        ENVIRONMENT,
        CPUS,
        key(
            "counts",
            Flag,
            "true",
            "Whether its CPU time is part of `cpu_time_per_request`. Set it to false for a process that is only behind the measured system. The process is observed either way.",
        ),
        key(
            "metrics",
            Text,
            "`/metrics` of `plimsoll serve`, else none",
            "A path on its port, or a whole URL, with Prometheus metrics; saved before and after each run.",
        ),
        key(
            "version",
            Text,
            "see there",
            "A command that prints its version. Without one, the program's known version command is used.",
        ),
        key(
            "user",
            Text,
            "the lab's own",
            "User to run it as, if the lab runs as root.",
        ),
        WHEN,
    ],
};

/// `[[service]]`
pub static SERVICE: Shape = Shape {
    name: "[[service]]",
    says: "A process that a system needs. It takes all keys of a system, and these:",
    keys: &[
        key("name", Text, "required", "Its name."),
        key(
            "kind",
            OneOf(&["postgres", "redis", "nginx", "haproxy", "caddy", "command"]),
            "command",
            "Kind of service. All but `command` use the programs installed on the machine, in a private directory, and need no `ready`.",
        ),
        key(
            "url",
            Text,
            "none",
            "URL of an existing service to use instead of starting one. The lab never empties it.",
        ),
        key(
            "program",
            Text,
            "where packages put it",
            "Path of the program.",
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
            "postgres: name of the empty database to create; `{NAME.url}` is its address.",
        ),
        key(
            "extensions",
            Many(&Text),
            "none",
            "postgres: extensions to create in it, such as `postgis`.",
        ),
        key(
            "config",
            Text,
            "required for these",
            "nginx, haproxy, caddy: template of the configuration, relative to the lab file.",
        ),
        key(
            "command",
            Text,
            "required for `command`",
            "As for a system.",
        ),
        key("directory", Text, "a private one", "As for a system."),
        key("port", Count, "any free one", "As for a system."),
        key("ports", Many(&Text), "none", "As for a system."),
        key("files", Named(&Text), "none", "As for a system."),
        key("ready", Table(&READY), "by its kind", "As for a system."),
        key(
            "capture",
            Named(&Table(&CAPTURE)),
            "none",
            "As for a system.",
        ),
        ENVIRONMENT,
        CPUS,
        key("counts", Flag, "true", "As for a system."),
        key("metrics", Text, "none", "As for a system."),
        key("version", Text, "by its kind", "As for a system."),
        key(
            "user",
            Text,
            "one that the program accepts",
            "As for a system.",
        ),
        WHEN,
    ],
};
