//! The parts of k6's API that exist in Plimsoll and those that do not, for the test of the type files and for
//! `docs/guide/from-k6.md`.

/// A module, and notes about it.
pub struct Module {
    pub name: &'static str,
    /// Whether the whole module exists. If not, none of its names exist.
    pub exists: bool,
    pub note: &'static str,
}

const fn module(name: &'static str, note: &'static str) -> Module {
    Module {
        name,
        exists: true,
        note,
    }
}

/// All modules with types.
pub const MODULES: &[Module] = &[
    module("k6", ""),
    module(
        "k6/browser",
        "Chromium or Chrome, which must be installed. One process serves all users of a run; each iteration has its own \
         browser context.",
    ),
    module(
        "k6/crypto",
        "`k6/crypto/x509` and the global `crypto` (WebCrypto, with elliptic curves and RSA) exist too.",
    ),
    module("k6/data", ""),
    module("k6/encoding", ""),
    module("k6/execution", ""),
    module("k6/experimental/csv", ""),
    module("k6/experimental/fs", ""),
    module(
        "k6/experimental/streams",
        "Also writable streams, `pipeTo` and `ByteLengthQueuingStrategy`, which k6 lacks.",
    ),
    module("k6/html", ""),
    module("k6/http", "Also HTTP/3 and Unix sockets, by flags."),
    module("k6/metrics", ""),
    module("k6/net/grpc", ""),
    module("k6/options", "Types of the options only."),
    module(
        "k6/secrets",
        "Sources: `file`, `mock` and `url` (each secret is fetched once).",
    ),
    module("k6/timers", ""),
    module("k6/websockets", ""),
    module("k6/ws", ""),
];

/// Types whose values scripts pass as arguments, or that only describe functions and data. A module does not provide
/// values for their members.
pub const INPUTS: &[&str] = &[
    "k6 Checker",
    "k6 Checkers",
    "k6 JSONArray",
    "k6 JSONObject",
    "k6/browser CPUProfile",
    "k6/browser ContentLoadOptions",
    "k6/browser Cookie",
    "k6/browser ElementClickOptions",
    "k6/browser ElementHandleOptions",
    "k6/browser ElementHandlePointerOptions",
    "k6/browser ElementStateFilter",
    "k6/browser EventSequenceOptions",
    "k6/browser File",
    "k6/browser KeyboardModifierOptions",
    "k6/browser KeyboardPressOptions",
    "k6/browser LocatorFilterOptions",
    "k6/browser LocatorOptions",
    "k6/browser MouseClickOptions",
    "k6/browser MouseDownUpOptions",
    "k6/browser MouseMultiClickOptions",
    "k6/browser NavigationOptions",
    "k6/browser NetworkProfile",
    "k6/browser NewBrowserContextOptions",
    "k6/browser PollingOptions",
    "k6/browser Rect",
    "k6/browser RequestFailure",
    "k6/browser ResourceTiming",
    "k6/browser ScreenshotOptions",
    "k6/browser SecurityDetailsObject",
    "k6/browser SelectOptionsObject",
    "k6/browser StrictnessOptions",
    "k6/browser TimeoutOptions",
    "k6/experimental/csv Options",
    "k6/experimental/streams QueuingStrategy",
    "k6/experimental/streams UnderlyingSource",
    "k6/html Handler",
    "k6/html Mapper",
    "k6/html Tester",
    "k6/http CookieJarCookies",
    "k6/http CookieOptions",
    "k6/http ExpectedStatusesCallback",
    "k6/http ExpectedStatusesObject",
    "k6/http HttpURL",
    "k6/http ObjectBatchRequest",
    "k6/http ObjectRefinedBatchRequest",
    "k6/http Params",
    "k6/http RefinedParams",
    "k6/http StructuredRequestBody",
    "k6/net/grpc ConnectParams",
    "k6/net/grpc Params",
    "k6/net/grpc TLSParams",
    "k6/options BaseScenario",
    "k6/options Certificate",
    "k6/options CloudOptions",
    "k6/options CollectorOptions",
    "k6/options ConstantArrivalRateScenario",
    "k6/options ConstantVUsScenario",
    "k6/options ObjectThreshold",
    "k6/options Options",
    "k6/options PerVUIterationsScenario",
    "k6/options RampingArrivalRateScenario",
    "k6/options RampingVUsScenario",
    "k6/options ScenarioOptions",
    "k6/options SharedIterationsScenario",
    "k6/options Stage",
    "k6/websockets BlobOptions",
    "k6/websockets Params",
    "k6/ws Executor",
    "k6/ws Params",
];

/// Names in the type files that the real k6 does not have either. They are errors in the type files.
pub const ERRORS: &[(&str, &str)] = &[
    ("k6/html Attribute", "not exported, only returned"),
    ("k6/html Element", "not exported, only returned"),
    ("k6/html NodeType", "not exported"),
    ("k6/html NodeType.*", "not exported"),
    ("k6/html Selection", "not exported, only returned"),
    ("k6/html *Element", "not exported, only returned"),
    ("k6/http FileData", "not exported, only returned"),
    ("k6/http SSL_3_0", "removed from k6"),
    ("k6/http ResponseCookie.httpOnly", "it is `http_only`"),
    ("k6/http ResponseCookie.maxAge", "it is `max_age`"),
    ("k6/metrics Metric", "not exported: the base of all metrics"),
    ("k6/net/grpc HealthCheckResponse.Status", "it is `status`"),
    ("k6/crypto Hasher", "not exported, only returned"),
    ("k6/experimental/fs File", "not exported, only returned"),
    ("k6/websockets WebSocket.CONNECTING", "not in k6"),
    ("k6/websockets WebSocket.OPEN", "not in k6"),
    ("k6/websockets WebSocket.CLOSING", "not in k6"),
    ("k6/websockets WebSocket.CLOSED", "not in k6"),
    ("k6/ws Socket", "not exported, only passed"),
    ("k6/ws WebSocketError", "not exported, only passed"),
];

/// An extension of k6 that works without a custom build.
pub struct Extension {
    pub name: &'static str,
    /// Its exports.
    pub names: &'static [&'static str],
    pub note: &'static str,
}

const fn extension(
    name: &'static str,
    names: &'static [&'static str],
    note: &'static str,
) -> Extension {
    Extension { name, names, note }
}

/// All of these extensions.
pub const EXTENSIONS: &[Extension] = &[
    extension(
        "k6/x/dns",
        &["resolve", "lookup"],
        "Records A and AAAA. No cache: each call is a query.",
    ),
    extension(
        "k6/x/mqtt",
        &["Client", "QoS"],
        "MQTT 3.1.1 over TCP and TLS, not over WebSocket. `publish`, `subscribe` and `unsubscribe` return before the broker \
         has responded; their failures are `error` events. A client does not connect again on its own. Metrics: \
         `mqtt_connecting`, `mqtt_messages_sent`, `mqtt_messages_received`, `mqtt_publish_duration` (until the \
         acknowledgement), `mqtt_errors`.",
    ),
    extension(
        "k6/x/redis",
        &["Client"],
        "Also with TLS (`rediss://`, `socket.tls`); without clusters and sentinels. `k6/experimental/redis` is its old name.",
    ),
    extension(
        "k6/x/sql",
        &["open", "query", "exec"],
        "PostgreSQL (`k6/x/sql/driver/postgres`), MySQL and MariaDB (`…/mysql`) and SQLite (`…/sqlite3`), not SQL Server and \
         others. A database is one connection for each user. As with k6's driver, texts of MySQL are arrays of numbers; \
         here they also read as text. Metrics, which k6's extension lacks: `sql_query_duration`, `sql_query_failed`.",
    ),
    extension(
        "k6/x/sse",
        &["open"],
        "Also over HTTP/2 and HTTP/3; a stream is an HTTP request with its metrics. In addition to `sse_event`: \
         `sse_time_to_first_event` and `sse_event_gap`, from the arrival times.",
    ),
    extension("k6/x/tcp", &["Socket"], "With and without TLS."),
    extension(
        "k6/x/udp",
        &[
            "connect",
            "connectLocalAddress",
            "write",
            "writeLn",
            "writeln",
            "read",
            "close",
        ],
        "The functions of the extensions with this name. `read(connection, size, timeout)` waits for at most 10 s unless the \
         script says otherwise. Metrics: `udp_datagrams_sent`, `udp_datagrams_received`, `udp_response_time`, `udp_timeouts`, \
         `udp_errors`.",
    ),
];

/// Features that work, in addition to the modules.
pub const WORKS: &[&str] = &[
    "ES modules, CommonJS, JSON, TypeScript (types are stripped), `https://` modules (cached; `plimsoll vendor` writes copies with digests), packages in `node_modules`, import maps (`--import-map`).",
    "All executors, also `externally-controlled`; options of scripts, flags, variables and `~/.config/k6/config.json`; thresholds, groups, tags, `handleSummary`, both summaries and `--summary-export`.",
    "`run`, `archive`, `inspect`, `deps`, `features`, `new`, `version`, exit statuses, and the outputs JSON, CSV, InfluxDB, Prometheus and OpenTelemetry.",
];

/// Intended differences.
pub const DIFFERS: &[&str] = &[
    "Messages of Plimsoll itself and of the JavaScript engine have other words; names of errors and exit statuses are k6's.",
    "`http_req_response_time` measures from the scheduled start, and the verdict below the summary judges whether the figures can be trusted.",
    "Arrival rates take `arrivals: 'poisson'` (also `gamma:SHAPE`, `on-off:ON/OFF` and `trace:FILE`) as an additional key of a scenario; `--arrivals` does the same for `--rate`. k6 refuses the key.",
    "`plimsoll/data` has a `Feeder`, which gives each row of a table to one iteration or to one user, on whatever machine. k6 has no such module.",
    "With `ext: { plimsoll: { userSteps: true } }` in its options, each user calls the exported functions `setupVU(data)` and `teardownVU(data)` before its first and after its last iteration. k6 ignores the option.",
    "HTML elements have the methods of all element types; in k6 a method of another type does not exist. In functions passed to `filter()`, `is()` and `not()`, `attr()` returns the value; in k6 it returns an array of the value and whether the attribute exists.",
    "`k6/browser` starts one Chromium when a script first uses it, and gives every iteration its own browser context; k6 starts one Chromium per iteration. Web vitals that can still change are recorded when their document is left or its page is closed, and only the last value counts.",
    "WebCrypto follows the standard where k6 has errors: RSA-OAEP keys can wrap other keys, ECDH keys can derive keys, the properties of keys are read-only, `digest()` hashes the bytes that a view shows, and AES-GCM takes vectors and tags of every length.",
    "A request without a method is sent as `GET` and has the tag `method=GET`; k6 leaves the tag empty. All of an escaped password is masked in the tags `url` and `name`; k6 shows a part of it.",
    "With digest authentication, a request that the server accepts without a challenge has not failed, and one that it refuses without a challenge is not sent again.",
    "In `k6/websockets`, a `Blob` can be sent and be a part of another one, handlers read as they were set, `onerror` is called for frames that break the protocol, and a session has a duration even if its last handler fails.",
    "`csv.parse()` reads a file from its start each time; in k6 a second call with other options starts at the end and finds nothing.",
    "`TextEncoder`, `TextDecoder`, `require()` of JSON, imports without the extension of the file, named groups of regular expressions and other parts of the language exist that k6 lacks. Scripts can add properties to a response. `String(f)` shows the code of a function only in files of at most 64 KiB, and in scripts that use `k6/browser`.",
    "`inspect` warns of options that cannot run, and options that make no sense (a percentile above 100, a negative duration) are refused. Every command ends with 104 if it does not know a flag or an argument is missing, and k6 with 255. `deps` requires no custom build for the extensions that exist here.",
    "A file of secrets may have blank lines and comments. No output shows a secret that a script has read: not the log, as in k6, and neither samples, names of checks and groups, summaries, records and reports, nor what `handleSummary` returns. An archive lacks the options in which the script uses a secret: `plimsoll run` takes them from the script, and k6 runs it without them.",
];

/// Missing features, besides modules.
pub const MISSING: &[&str] = &[
    "Of `k6/browser`: traces, and frames of other sites in processes of their own. A method of Playwright that k6 does not have throws an error that names it.",
    "`--features async-metric-context`, with which k6 versions after 2.2 keep tags and groups across `await`: `group()` and `check()` refuse async functions, as in k6 without it.",
    "Extensions other than those above, and k6's cloud.",
];

/// The scripts of one area that were written before Plimsoll ran them.
pub struct Compared {
    pub name: &'static str,
    pub cases: usize,
    /// How many of them behaved as in k6 when Plimsoll first ran them.
    pub at_first: usize,
}

const fn compared(name: &'static str, cases: usize, at_first: usize) -> Compared {
    Compared {
        name,
        cases,
        at_first,
    }
}

/// All areas of `cases/` that contain such scripts.
pub const COMPARED: &[Compared] = &[
    compared("archive", 2, 2),
    compared("checks", 4, 3),
    compared("command", 17, 12),
    compared("console", 4, 4),
    compared("crypto", 22, 13),
    compared("csv", 24, 17),
    compared("data", 7, 4),
    compared("encoding", 3, 2),
    compared("execution", 7, 5),
    compared("executor", 7, 7),
    compared("fs", 7, 5),
    compared("groups", 2, 2),
    compared("grpc", 5, 3),
    compared("html", 55, 30),
    compared("http", 63, 31),
    compared("language", 6, 3),
    compared("lifecycle", 7, 7),
    compared("metrics", 7, 4),
    compared("modules", 9, 6),
    compared("open", 3, 2),
    compared("options", 65, 53),
    compared("output", 4, 4),
    compared("scripts", 39, 38),
    compared("secrets", 21, 18),
    compared("streams", 29, 19),
    compared("summary", 5, 5),
    compared("thresholds", 7, 4),
    compared("timers", 4, 2),
    compared("tls", 1, 1),
    compared("typescript", 2, 2),
    compared("websockets", 44, 31),
    compared("ws", 9, 8),
    compared("x509", 8, 6),
];
