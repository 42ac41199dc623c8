//! Keys of processes.

use super::super::shape::Kind::{Count, Flag, Many, Named, OneOf, Table, Text};
use super::super::shape::Shape;
use super::{CPUS, ENVIRONMENT, WHEN, WITHIN, key};

/// `[certificates]`
pub static CERTIFICATES: Shape = Shape {
    name: "[certificates]",
    says: "`{certificates.ca}`, `{certificates.server}`, `{certificates.server-key}`, `{certificates.client}` and `{certificates.client-key}` are the paths of the files; `{certificates.directory}` is their directory.",
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
    says: "The condition for a process to be ready. Exactly one of `http`, `tcp`, `log` and `json`; the default is `json` for `plimsoll serve`, otherwise `tcp`.",
    keys: &[
        key(
            "http",
            Text,
            "none",
            "A path on its port, or a complete URL, that must respond with a status from 200 to 299.",
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
            "A string that its output must contain.",
        ),
        key(
            "json",
            Flag,
            "false",
            "Its first line of output must be a JSON object, whose fields are available as `{NAME.field}`.",
        ),
        WITHIN,
    ],
};

/// A captured value of a process.
pub static CAPTURE: Shape = Shape {
    name: "capture",
    says: "A value that is known only when a system is ready: `capture = { list = { http = \"/aggregation/tests\", json = \"/status_lists/0\" } }` makes it available as `{NAME.list}`.",
    keys: &[
        key(
            "http",
            Text,
            "none",
            "A path on its port, or a complete URL, to request.",
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
            "URL of a running service to measure instead of starting one. The lab does not start, restart or observe it, and the report states that.",
        ),
        key(
            "command",
            Text,
            "required without `url`",
            "The command line: words separated by spaces and quoted as in a shell, but executed without a shell. `plimsoll` is this program.",
        ),
        key("directory", Text, "a private one", "Its working directory."),
        key(
            "port",
            Count,
            "any free one",
            "Its port: `{port}` in its own table, and `{NAME.port}` in others.",
        ),
        key(
            "ports",
            Many(&Text),
            "none",
            "Names of additional ports: `{port.x}` in its own table, and `{NAME.port.x}` in others. The lab chooses free port numbers.",
        ),
        key(
            "files",
            Named(&Text),
            "none",
            "Files to write into its directory: the name, and the path of the template, relative to the lab file.",
        ),
        key(
            "ready",
            Table(&READY),
            "see there",
            "The condition for it to be ready.",
        ),
        key(
            "capture",
            Named(&Table(&CAPTURE)),
            "none",
            "Values to read from it when it is ready.",
        ),
        ENVIRONMENT,
        CPUS,
        key(
            "counts",
            Flag,
            "true",
            "Whether its CPU time is part of `cpu_time_per_request`. Set it to false for a process that only supports the measured system. The process is observed in either case.",
        ),
        key(
            "metrics",
            Text,
            "`/metrics` for `plimsoll serve`, otherwise none",
            "A path on its port, or a complete URL, with Prometheus metrics. The lab saves them before and after each run.",
        ),
        key(
            "version",
            Text,
            "see there",
            "A command that prints its version. By default, the lab uses the program's known version command.",
        ),
        key(
            "user",
            Text,
            "the lab's own",
            "The user that runs it, if the lab runs as root.",
        ),
        WHEN,
    ],
};

/// `[[service]]`
pub static SERVICE: Shape = Shape {
    name: "[[service]]",
    says: "A process that a system needs. It accepts all keys of a system, and these:",
    keys: &[
        key("name", Text, "required", "Its name."),
        key(
            "kind",
            OneOf(&["postgres", "redis", "nginx", "haproxy", "caddy", "command"]),
            "command",
            "The kind of service. All kinds except `command` use the programs that are installed on the machine, in a private directory, and need no `ready`.",
        ),
        key(
            "url",
            Text,
            "none",
            "URL of an existing service to use instead of starting one. The lab never deletes its data.",
        ),
        key(
            "program",
            Text,
            "the path in its package",
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
            "postgres: extensions to create in that database, such as `postgis`.",
        ),
        key(
            "config",
            Text,
            "required for nginx, haproxy and caddy",
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
            "a user that the program accepts",
            "As for a system.",
        ),
        WHEN,
    ],
};
