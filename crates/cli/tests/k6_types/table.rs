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
        "Needs an installed Chromium or Chrome. All users of a run share one browser process, and each iteration has its own browser context.",
    ),
    module(
        "k6/crypto",
        "`k6/crypto/x509` and the global `crypto` (WebCrypto, including elliptic curves and RSA) also exist.",
    ),
    module("k6/data", ""),
    module("k6/encoding", ""),
    module("k6/execution", ""),
    module("k6/experimental/csv", ""),
    module("k6/experimental/fs", ""),
    module(
        "k6/experimental/streams",
        "Also provides writable streams, `pipeTo` and `ByteLengthQueuingStrategy`, which k6 lacks.",
    ),
    module("k6/html", ""),
    module(
        "k6/http",
        "Command-line flags enable HTTP/3 and Unix sockets.",
    ),
    module("k6/metrics", ""),
    module("k6/net/grpc", ""),
    module("k6/options", "Contains only the types of the options."),
    module(
        "k6/secrets",
        "Sources: `file`, `mock` and `url`, which fetches each secret once.",
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
        "A and AAAA records. Results are not cached: each call sends a query.",
    ),
    extension(
        "k6/x/mqtt",
        &["Client", "QoS"],
        "MQTT 3.1.1 over TCP and TLS, but not over WebSocket. `publish`, `subscribe` and `unsubscribe` return before the broker responds, and report failures as `error` events. A client does not reconnect automatically. Metrics: `mqtt_connecting`, `mqtt_messages_sent`, `mqtt_messages_received`, `mqtt_publish_duration` (until the acknowledgement), `mqtt_errors`.",
    ),
    extension(
        "k6/x/redis",
        &["Client"],
        "Supports TLS (`rediss://`, `socket.tls`), but not clusters or sentinels. The old name `k6/experimental/redis` works too.",
    ),
    extension(
        "k6/x/sql",
        &["open", "query", "exec"],
        "Supports PostgreSQL (`k6/x/sql/driver/postgres`), MySQL and MariaDB (`…/mysql`) and SQLite (`…/sqlite3`), but not SQL Server or other databases. Each user has one connection for each database that it opens. As with k6's driver, MySQL returns strings as arrays of numbers; in Plimsoll, these arrays also convert to text. Metrics that k6's extension lacks: `sql_query_duration`, `sql_query_failed`.",
    ),
    extension(
        "k6/x/sse",
        &["open"],
        "Works over HTTP/2 and HTTP/3, too. A stream is an HTTP request and records the same metrics. Metrics in addition to `sse_event`: `sse_time_to_first_event` and `sse_event_gap`, computed from arrival times.",
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
        "Has the functions of the k6 extensions with this name. `read(connection, size, timeout)` waits for at most 10 s by default. Metrics: `udp_datagrams_sent`, `udp_datagrams_received`, `udp_response_time`, `udp_timeouts`, `udp_errors`.",
    ),
];

/// Features that work, in addition to the modules.
pub const WORKS: &[&str] = &[
    "ES modules, CommonJS, JSON, TypeScript (types are stripped), `https://` modules (cached; `plimsoll vendor` writes copies with digests), packages in `node_modules`, and import maps (`--import-map`).",
    "All executors, including `externally-controlled`; options from scripts, flags, environment variables and `~/.config/k6/config.json`; thresholds, groups, tags, `handleSummary`, both summary formats and `--summary-export`.",
    "The commands `run`, `archive`, `inspect`, `deps`, `features`, `new` and `version`, with k6's exit statuses; the outputs JSON, CSV, InfluxDB, Prometheus and OpenTelemetry.",
];

/// Intended differences.
pub const DIFFERS: &[&str] = &[
    "Messages from Plimsoll and from the JavaScript engine are worded differently. Error names and exit statuses are the same as in k6.",
    "The metric `http_req_response_time` is measured from the scheduled start of the request. The verdict below the summary states whether you can trust the figures.",
    "Arrival-rate scenarios accept the key `arrivals`: `'poisson'`, `'gamma:SHAPE'`, `'on-off:ON/OFF'` or `'trace:FILE'`. The flag `--arrivals` does the same for `--rate`. k6 rejects the key.",
    "The module `plimsoll/data` exports `Feeder`, which assigns each row of a table to one iteration or to one user, even if the run is distributed over several machines. k6 has no such module.",
    "With the option `ext: { plimsoll: { userSteps: true } }`, each user calls the exported function `setupVU(data)` before its first iteration and `teardownVU(data)` after its last one. k6 ignores the option.",
    "HTML elements have the methods of all element types. In k6, each element has only the methods of its own type. In functions passed to `filter()`, `is()` and `not()`, `attr()` returns the value; in k6, it returns an array with the value and whether the attribute exists.",
    "`k6/browser` starts one Chromium process when a script first uses it, and gives each iteration its own browser context. k6 starts one Chromium process for each iteration. Web vitals that can still change are recorded when the browser leaves the document or closes the page, and only the last value is recorded. The variables `K6_BROWSER_IGNORE_DEFAULT_ARGS`, `K6_BROWSER_SCREENSHOTS_OUTPUT`, `K6_BROWSER_TRACES_METADATA` and `K6_BROWSER_LOG*` have no effect.",
    "WebCrypto follows the standard where k6 deviates from it: RSA-OAEP keys can wrap other keys, ECDH keys can derive keys, the properties of keys are read-only, `digest()` hashes only the bytes of the given view, and AES-GCM accepts initialization vectors and tags of all lengths.",
    "Percentiles of metrics with more than about 1,000 values are approximate, with an error of about 0.1 %. The maximum of a gauge is the largest value that was added; in k6, it is never below 0.",
    "A TLS handshake may take at most 60 s, even if the request's timeout is longer.",
    "A boolean environment variable without a value counts as not set; k6 rejects some of them.",
    "With `--http-debug`, the log shows the headers that are sent, with masked passwords and tokens unless `--show-secrets` is given. k6 also shows `Accept-Encoding: gzip`, which it does not send.",
    "A request without a method is sent as `GET` and has the tag `method=GET`; k6 leaves the tag empty. The default `User-Agent` names Plimsoll and its version. If the password in a URL contains escaped characters, the tags `url` and `name` mask all of it; k6 shows a part.",
    "With digest authentication, a request that the server accepts without a challenge does not count as failed. A request that the server rejects without a challenge is not sent again.",
    "In `k6/websockets`, scripts can send a `Blob` and create a `Blob` from others; reading a handler property returns the handler that was set; `onerror` is called for frames that violate the protocol; and the session duration is recorded even if the last handler fails.",
    "`csv.parse()` reads a file from the start each time. In k6, a second call with other options starts at the end of the file and finds nothing.",
    "Features that k6 lacks include `TextEncoder`, `TextDecoder`, `require()` of JSON files, imports without a file extension and named groups in regular expressions. Scripts can add properties to a response. `String(f)` returns the code of a function only in files of at most 64 KiB and in scripts that use `k6/browser`.",
    "With `--features async-metric-context`, code after `await`, reactions of promises, timers and handlers of `k6/websockets`, gRPC streams and `k6/browser` run with the tags and the group of their registration, and `group()` accepts async functions, as in k6 2.3. Samples do not get k6's tags with the names of features.",
    "`inspect` warns about options that cannot run. Invalid option values, such as a percentile above 100 or a negative duration, are rejected. For an unknown flag or a missing argument, the exit status is 104; in k6, it is 255. `deps` does not request a custom build for the extensions listed above.",
    "The log shows values that look like credentials, such as the token after `Bearer`, only with `--show-secrets`. A secrets file may contain blank lines and comments. No output shows a secret that a script has read: k6 masks secrets only in the log; Plimsoll also masks them in samples, names of checks and groups, summaries, records, reports and the result of `handleSummary`. An archive does not contain options whose values use a secret: `plimsoll run` reads them from the script, and k6 runs the archive without them.",
];

/// Missing features, besides modules.
pub const MISSING: &[&str] = &[
    "In `k6/browser`: traces, and cross-site frames that run in a separate process. A call to a Playwright method that k6 does not have throws an error that contains the method's name.",
    "The log cannot be sent to Loki.",
    "Extensions other than those listed above, and k6's cloud service.",
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
