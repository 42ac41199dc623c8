//! The headings under which k6 lists metrics.

/// The heading of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    WebSocket,
}

impl Category {
    /// All categories, in display order.
    pub const ALL: [Category; 8] = [
        Category::Custom,
        Category::Http,
        Category::Execution,
        Category::Network,
        Category::Browser,
        Category::WebVitals,
        Category::Grpc,
        Category::WebSocket,
    ];

    /// The text of the heading.
    pub fn title(self) -> &'static str {
        match self {
            Category::Custom => "CUSTOM",
            Category::Http => "HTTP",
            Category::Execution => "EXECUTION",
            Category::Network => "NETWORK",
            Category::Browser => "BROWSER",
            Category::WebVitals => "WEB_VITALS",
            Category::Grpc => "GRPC",
            Category::WebSocket => "WEBSOCKET",
        }
    }

    /// Chooses the category by the start of the name, as in k6: a script's `iterations_x` is listed under EXECUTION.
    pub fn of(name: &str) -> Category {
        const PREFIXES: [(&str, Category); 19] = [
            ("http_req_duration", Category::Http),
            ("http_req_failed", Category::Http),
            ("http_reqs", Category::Http),
            ("http_req_blocked", Category::Http),
            ("http_req_connecting", Category::Http),
            ("http_req_receiving", Category::Http),
            ("http_req_sending", Category::Http),
            ("http_req_tls_handshaking", Category::Http),
            ("http_req_waiting", Category::Http),
            ("iterations", Category::Execution),
            ("iteration_duration", Category::Execution),
            ("dropped_iterations", Category::Execution),
            ("vus", Category::Execution),
            ("data_sent", Category::Network),
            ("data_received", Category::Network),
            ("browser_web_vital_", Category::WebVitals),
            ("browser_", Category::Browser),
            ("grpc_", Category::Grpc),
            ("ws_", Category::WebSocket),
        ];
        PREFIXES
            .iter()
            .find(|(beginning, _)| name.starts_with(beginning))
            .map_or(Category::Custom, |(_, category)| *category)
    }
}
