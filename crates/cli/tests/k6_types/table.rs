//! The parts of k6's API that exist here and those that do not, for the test of the type files and for `docs/guide/from-k6.md`.

/// A module, and what to know about it.
pub struct Module {
    pub name: &'static str,
    /// Whether all of it exists; otherwise none of its names.
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
    module("k6/experimental/streams", ""),
    module("k6/html", ""),
    module("k6/http", "Also HTTP/3 and Unix sockets, by flags."),
    module("k6/metrics", ""),
    module("k6/net/grpc", ""),
    module("k6/options", "Types of the options only."),
    module(
        "k6/secrets",
        "Sources: `file` and `mock`. The log does not show secrets that a script has read.",
    ),
    module("k6/timers", ""),
    module("k6/websockets", ""),
    module("k6/ws", ""),
];

/// Types whose values scripts pass in, or that only describe functions and data: their members are not values that a
/// module provides.
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

/// Symbols of the type files that the real k6 does not have either: errors of the type files.
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
    (
        "k6/browser Worker.url",
        "page.workers() is empty, see what is missing",
    ),
    ("k6/crypto Hasher", "not exported, only returned"),
    ("k6/experimental/fs File", "not exported, only returned"),
    ("k6/websockets WebSocket.CONNECTING", "not in k6"),
    ("k6/websockets WebSocket.OPEN", "not in k6"),
    ("k6/websockets WebSocket.CLOSING", "not in k6"),
    ("k6/websockets WebSocket.CLOSED", "not in k6"),
    ("k6/ws Socket", "not exported, only passed"),
    ("k6/ws WebSocketError", "not exported, only passed"),
];

/// Features that work, besides the modules.
pub const WORKS: &[&str] = &[
    "ES modules, CommonJS, JSON, TypeScript (types are stripped), `https://` modules (cached), packages in `node_modules`, import maps (`--import-map`).",
    "All executors, also `externally-controlled`; options of scripts, flags, variables and `~/.config/k6/config.json`; thresholds, groups, tags, `handleSummary`, both summaries and `--summary-export`.",
    "`run`, `archive`, `inspect`, `new`, `version`, exit statuses, and the outputs JSON, CSV, InfluxDB, Prometheus and OpenTelemetry.",
];

/// Intended differences.
pub const DIFFERS: &[&str] = &[
    "Messages of Plimsoll itself and of the JavaScript engine have other words; names of errors and exit statuses are k6's.",
    "`http_req_response_time` measures from the scheduled start, and the verdict below the summary judges whether the figures can be trusted.",
    "Arrival rates take `arrivals: 'poisson'` (also `gamma:SHAPE` and `on-off:ON/OFF`) as an additional key of a scenario; `--arrivals` does the same for `--rate`. k6 refuses the key.",
    "HTML elements have the methods of all element types; in k6 a method of another type does not exist.",
    "`k6/browser` starts one Chromium when a script first uses it, and gives every iteration a browser context of its own; k6 starts one Chromium per iteration. Web vitals that can still change are recorded when their document is left or its page is closed, and only the last value counts.",
    "The keys of WebCrypto follow the standard where k6 has errors: RSA-OAEP keys can wrap other keys, and ECDH keys can derive keys.",
];

/// Missing features, besides modules.
pub const MISSING: &[&str] = &[
    "Of `k6/browser`: traces, the list of a page's workers (`page.workers()` is empty), and frames of other sites in processes of their own. A method of Playwright that k6 does not have throws an error that names it.",
    "Extensions other than `k6/x/redis`, and k6's cloud. Of `k6/x/redis`: clusters, sentinels and TLS.",
    "The commands `deps` and `features`.",
    "Secrets from URLs.",
];
