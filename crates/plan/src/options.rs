//! All options of a run, for one layer or for merged layers.
//!
//! A table lists each option with its field, its type, its key in scripts, and its environment variable. Reading,
//! writing and merging are generated from the table. The format of each type is in [`crate::option_value`].

pub(crate) mod flags;
mod listed;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use plimsoll_address::{CipherSuite, HostPattern, IpPool, IpRange};

use crate::dns::DnsOptions;
use crate::error::{Errors, Fault, Warning, excerpt};
use crate::hosts::Hosts;
use crate::option_value::{Fields, Findings, OptionValue, Reader, kind_of};
use crate::scenario::ScenarioOptions;
use crate::segment::{Segment, SegmentSequence};
use crate::stage::StageOption;
use crate::threshold::ThresholdOptions;
use crate::tls::{TlsAuth, TlsVersions};

pub use listed::{
    Figure, GivenTimeUnit, HttpDebug, Protocol, SystemTag, SystemTags, TimeUnit, TrendStat,
    parse_tag, parse_trend_stats,
};

macro_rules! options {
    ($( $(#[$doc:meta])* $field:ident: $type:ty, $key:literal, $env:expr, $shown:ident; )*) => {
        /// All options of a run. Unset options are `None`.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Options {
            $( $(#[$doc])* pub $field: Option<$type>, )*
        }

        impl Options {
            /// The keys that a script may use, in the order in which they are shown.
            pub const KEYS: &'static [&'static str] = &[ $( $key, )* ];

            fn read_key(&mut self, key: &str, value: &Value, reader: &mut Reader<'_>) {
                // As in k6, only `cloud` keeps a null.
                if value.is_null() && key != "cloud" {
                    return;
                }
                match key {
                    $( $key => self.$field = <$type as OptionValue>::from_json(value, reader), )*
                    _ => {}
                }
            }

            fn read_variables(&mut self, variables: &BTreeMap<String, String>, errors: &mut Errors) {
                $(
                    let name: Option<&str> = $env;
                    if let Some(name) = name
                        && let Some(text) = variables.get(name).filter(|text| !text.is_empty())
                    {
                        match <$type as OptionValue>::from_text(text) {
                            Ok(value) => self.$field = Some(value),
                            Err(message) => errors.push(name, message),
                        }
                    }
                )*
            }

            /// The environment variable of the option with this key.
            pub(crate) fn variable_of(key: &str) -> Option<&'static str> {
                match key {
                    $( $key => $env, )*
                    _ => None,
                }
            }

            /// Merges `upper` into these options; its values take precedence.
            pub(crate) fn overlay(&mut self, upper: Options) {
                $(
                    if let Some(value) = upper.$field {
                        self.$field = Some(match self.$field.take() {
                            Some(lower) => OptionValue::merge_over(value, lower),
                            None => value,
                        });
                    }
                )*
            }

            /// The options with k6's names, in k6's order. Unset options are `null`. This is the output of `inspect`.
            pub fn to_json(&self) -> Value {
                let mut object = Map::new();
                $( options!(@show $shown, object, $key, self.$field); )*
                Value::Object(object)
            }

            /// Only the options that are set, with the same names. These consolidated values are written back into the
            /// script's own `options`.
            pub fn to_script_json(&self) -> Value {
                let mut object = Map::new();
                $(
                    if let Some(value) = &self.$field && !CLI_ONLY.contains(&$key) {
                        object.insert($key.to_owned(), OptionValue::to_json(value));
                    }
                )*
                Value::Object(object)
            }
        }
    };
    (@show always, $object:ident, $key:literal, $value:expr) => {
        $object.insert($key.to_owned(), $value.as_ref().map_or(Value::Null, OptionValue::to_json));
    };
    (@show if_set, $object:ident, $key:literal, $value:expr) => {
        if let Some(value) = &$value {
            $object.insert($key.to_owned(), OptionValue::to_json(value));
        }
    };
    (@show filled, $object:ident, $key:literal, $value:expr) => {
        let filled = $value.as_ref().filter(|list| !list.is_empty());
        $object.insert($key.to_owned(), filled.map_or(Value::Null, OptionValue::to_json));
    };
    (@show dns, $object:ident, $key:literal, $value:expr) => {
        $object.insert($key.to_owned(), $value.clone().unwrap_or_default().to_json());
    };
    (@show never, $object:ident, $key:literal, $value:expr) => {};
}

options! {
    /// Start paused and wait to be resumed.
    paused: bool, "paused", Some("K6_PAUSED"), always;
    /// Users of the shortcut scenario.
    vus: i64, "vus", Some("K6_VUS"), always;
    /// Duration of the shortcut scenario.
    duration: Duration, "duration", Some("K6_DURATION"), always;
    /// Iterations of the shortcut scenario, shared among its users.
    iterations: i64, "iterations", Some("K6_ITERATIONS"), always;
    /// Stages of the shortcut scenario.
    stages: Vec<StageOption>, "stages", Some("K6_STAGES"), always;
    /// Scenarios by name.
    scenarios: BTreeMap<String, ScenarioOptions>, "scenarios", None, always;
    /// The part of the test that this instance runs.
    execution_segment: Segment, "executionSegment", None, always;
    /// The boundaries of all parts.
    execution_segment_sequence: SegmentSequence, "executionSegmentSequence", None, always;
    /// Skip `setup()`.
    no_setup: bool, "noSetup", Some("K6_NO_SETUP"), always;
    /// Time limit of `setup()`.
    setup_timeout: Duration, "setupTimeout", Some("K6_SETUP_TIMEOUT"), always;
    /// Skip `teardown()`.
    no_teardown: bool, "noTeardown", Some("K6_NO_TEARDOWN"), always;
    /// Time limit of `teardown()`.
    teardown_timeout: Duration, "teardownTimeout", Some("K6_TEARDOWN_TIMEOUT"), always;
    /// Time limit of `handleSummary()`.
    handle_summary_timeout: Duration, "handleSummaryTimeout", Some("K6_HANDLE_SUMMARY_TIMEOUT"), if_set;
    /// Maximum requests per second, over all users.
    rps: i64, "rps", Some("K6_RPS"), always;
    /// Name resolution.
    dns: DnsOptions, "dns", Some("K6_DNS"), dns;
    /// Redirects to follow before the 3xx response itself is returned.
    max_redirects: i64, "maxRedirects", Some("K6_MAX_REDIRECTS"), always;
    /// The `User-Agent` header.
    user_agent: String, "userAgent", Some("K6_USER_AGENT"), always;
    /// Maximum number of concurrent requests of one `batch()`.
    batch: i64, "batch", Some("K6_BATCH"), always;
    /// Maximum number of concurrent requests of one `batch()` to one host.
    batch_per_host: i64, "batchPerHost", Some("K6_BATCH_PER_HOST"), always;
    /// Log requests and responses.
    http_debug: HttpDebug, "httpDebug", Some("K6_HTTP_DEBUG"), always;
    /// Accept any certificate.
    insecure_skip_tls_verify: bool, "insecureSkipTLSVerify", Some("K6_INSECURE_SKIP_TLS_VERIFY"), always;
    /// Cipher suites to offer, with their names in Go.
    tls_cipher_suites: Vec<CipherSuite>, "tlsCipherSuites", Some("K6_TLS_CIPHER_SUITES"), filled;
    /// TLS versions to offer.
    tls_version: TlsVersions, "tlsVersion", None, always;
    /// Client certificates.
    tls_auth: Vec<TlsAuth>, "tlsAuth", Some("K6_TLSAUTH"), always;
    /// Failed requests throw an exception instead of logging a warning.
    throw: bool, "throw", Some("K6_THROW"), always;
    /// Thresholds by metric.
    thresholds: BTreeMap<String, Vec<ThresholdOptions>>, "thresholds", Some("K6_THRESHOLDS"), always;
    /// IP addresses that must not be connected to.
    blacklist_ips: Vec<IpRange>, "blacklistIPs", Some("K6_BLACKLIST_IPS"), always;
    /// Host names that must not be connected to.
    block_hostnames: Vec<HostPattern>, "blockHostnames", Some("K6_BLOCK_HOSTNAMES"), always;
    /// Host names with fixed addresses, without DNS.
    hosts: Hosts, "hosts", None, always;
    /// Open a new connection for every request.
    no_connection_reuse: bool, "noConnectionReuse", Some("K6_NO_CONNECTION_REUSE"), always;
    /// Open new connections for every iteration.
    no_vu_connection_reuse: bool, "noVUConnectionReuse", Some("K6_NO_VU_CONNECTION_REUSE"), always;
    /// Minimum duration of an iteration. A faster iteration sleeps for the rest of this time.
    min_iteration_duration: Duration, "minIterationDuration", Some("K6_MIN_ITERATION_DURATION"), always;
    /// Passed through for the cloud.
    cloud: Value, "cloud", None, if_set;
    /// Passed through; `ext.plimsoll` is also used.
    ext: Value, "ext", None, always;
    /// The statistics that a summary shows for a trend.
    summary_trend_stats: Vec<TrendStat>, "summaryTrendStats", Some("K6_SUMMARY_TREND_STATS"), always;
    /// The time unit of a summary. If unset, the summary chooses the best-fitting unit.
    summary_time_unit: GivenTimeUnit, "summaryTimeUnit", Some("K6_SUMMARY_TIME_UNIT"), always;
    /// The system tags of samples.
    system_tags: SystemTags, "systemTags", Some("K6_SYSTEM_TAGS"), always;
    /// Tags for every sample of the run.
    tags: BTreeMap<String, String>, "tags", Some("K6_TAGS"), always;
    /// Ignored. Accepted for compatibility.
    metric_samples_buffer_size: i64, "metricSamplesBufferSize", Some("K6_METRIC_SAMPLES_BUFFER_SIZE"), always;
    /// Users keep their cookies between iterations.
    no_cookies_reset: bool, "noCookiesReset", Some("K6_NO_COOKIES_RESET"), always;
    /// Read response bodies, but do not keep them.
    discard_response_bodies: bool, "discardResponseBodies", Some("K6_DISCARD_RESPONSE_BODIES"), always;
    /// The destination of `console` output. If unset, it is the log.
    console_output: String, "consoleOutput", Some("K6_CONSOLE_OUTPUT"), never;
    /// The local addresses that users connect from.
    local_ips: IpPool, "localIPs", Some("K6_LOCAL_IPS"), never;
    /// The HTTP protocol to use. In scripts it is `ext: { plimsoll: { protocol: "h2c" } }`, so that k6 can still run
    /// the script.
    protocol: Protocol, "protocol", Some("PLIMSOLL_PROTOCOL"), never;
    /// Maximum number of connections of a user per host. In scripts it is in `ext.plimsoll`, like the options after it.
    connections_per_user: i64, "connectionsPerUser", Some("PLIMSOLL_CONNECTIONS_PER_USER"), never;
    /// Maximum number of concurrent requests on one HTTP/2 connection.
    streams_per_connection: i64, "streamsPerConnection", Some("PLIMSOLL_STREAMS_PER_CONNECTION"), never;
    /// The Unix socket for all connections.
    unix_socket: String, "unixSocket", Some("PLIMSOLL_UNIX_SOCKET"), never;
    /// Users call `setupVU` and `teardownVU`, which k6 does not support.
    user_steps: bool, "userSteps", Some("PLIMSOLL_USER_STEPS"), never;
}

impl Options {
    /// The stages of the shortcut scenario. As in k6, a stage without a duration does not count.
    pub(crate) fn timed_stages(&self) -> impl Iterator<Item = StageOption> {
        let stages = self.stages.iter().flatten().copied();
        stages.filter(|stage| stage.duration.is_some())
    }

    /// Parses the `options` that a script exports, or the contents of a config file. Unknown keys are warnings, and
    /// values of the wrong type are errors.
    ///
    /// # Errors
    /// All errors, not just the first one.
    pub fn from_json(value: Value) -> Result<(Options, Vec<Warning>), Errors> {
        Options::read(&value, "the options exported in the script")
    }

    fn read(value: &Value, place: &str) -> Result<(Options, Vec<Warning>), Errors> {
        let Value::Object(object) = value else {
            if value.is_null() {
                return Ok((Options::default(), Vec::new()));
            }
            return Err(Fault::at(
                "options",
                format!("must be an object, not {}", kind_of(value)),
            )
            .into());
        };
        let mut findings = Findings::default();
        let mut options = Options::default();
        let mut strangers = Vec::new();
        for (key, value) in object {
            // As in k6, names are case-insensitive.
            let known = Options::KEYS
                .iter()
                .find(|known| known.eq_ignore_ascii_case(key) && !CLI_ONLY.contains(known));
            match known {
                Some(known) => {
                    options.read_key(known, value, &mut Reader::at(*known, &mut findings))
                }
                None => strangers.push(key.as_str()),
            }
        }
        findings.warnings.extend(unknown(&strangers, place));
        options.read_own(&mut findings);
        findings.errors.or((options, findings.warnings))
    }

    /// Parses a config file. It contains the options of a script, and program settings, which are ignored here.
    ///
    /// # Errors
    /// All errors, not just the first one.
    pub fn from_config(mut value: Value) -> Result<(Options, Vec<Warning>), Errors> {
        if let Value::Object(object) = &mut value {
            let is_setting =
                |key: &str| PROGRAM_SETTINGS.iter().any(|s| s.eq_ignore_ascii_case(key));
            object.retain(|key, _| !is_setting(key));
        }
        Options::read(&value, "the config file").map_err(|errors| {
            let of_config =
                |fault: Fault| Fault::at(format!("config file: {}", fault.place), fault.message);
            Errors(errors.0.into_iter().map(of_config).collect())
        })
    }

    /// The value of `exec.test.options`: like [`Options::to_json`], without the shortcut options that scenarios have
    /// replaced, and with the options from the command line.
    pub fn to_test_json(&self) -> Value {
        let mut shown = self.to_json();
        if let Value::Object(object) = &mut shown {
            object.retain(|key, _| !SHORT_FORMS.contains(&key.as_str()));
            let console = self
                .console_output
                .as_ref()
                .map_or(Value::Null, OptionValue::to_json);
            object.insert("consoleOutput".to_owned(), console);
            let pool = self
                .local_ips
                .as_ref()
                .map_or(Value::Null, OptionValue::to_json);
            object.insert("localIPs".to_owned(), pool);
        }
        shown
    }

    /// Reads the `K6_*` variables in `variables`. Empty ones count as unset.
    ///
    /// # Errors
    /// All errors, not just the first one.
    pub fn from_env(variables: &BTreeMap<String, String>) -> Result<Options, Errors> {
        let mut errors = Errors::default();
        let mut options = Options::default();
        options.read_variables(variables, &mut errors);
        errors.or(options)
    }

    /// Sets the default system tags and trend statistics if they are unset, as in an archive.
    pub fn fill_defaults(&mut self) {
        self.system_tags.get_or_insert_default();
        self.summary_trend_stats
            .get_or_insert_with(TrendStat::defaults);
    }

    /// Reads Plimsoll's own settings under `ext.plimsoll`.
    fn read_own(&mut self, findings: &mut Findings) {
        let Some(own) = self.ext.as_ref().and_then(|ext| ext.get("plimsoll")) else {
            return;
        };
        let mut reader = Reader::at("ext.plimsoll", findings);
        let Some(mut fields) = Fields::of(own, &mut reader) else {
            return;
        };
        self.protocol = fields.take(OWN[0], &mut reader);
        self.connections_per_user = fields.take(OWN[1], &mut reader);
        self.streams_per_connection = fields.take(OWN[2], &mut reader);
        self.unix_socket = fields.take(OWN[3], &mut reader);
        self.user_steps = fields.take(OWN[4], &mut reader);
        fields.refuse_rest(&OWN, &mut reader);
    }
}

/// Options that only the command line and the environment can set.
const CLI_ONLY: [&str; 7] = [
    "consoleOutput",
    "localIPs",
    "protocol",
    "connectionsPerUser",
    "streamsPerConnection",
    "unixSocket",
    "userSteps",
];

/// The options that scripts set under `ext.plimsoll`.
const OWN: [&str; 5] = [
    "protocol",
    "connectionsPerUser",
    "streamsPerConnection",
    "unixSocket",
    "userSteps",
];

/// The shortcut options for a single scenario.
const SHORT_FORMS: [&str; 4] = ["vus", "duration", "iterations", "stages"];

/// Keys of a config file that are not options of a script.
const PROGRAM_SETTINGS: [&str; 6] = [
    "out",
    "linger",
    "noUsageReport",
    "webDashboard",
    "collectors",
    "features",
];

/// One warning for all unknown keys, with the most similar known keys.
fn unknown(keys: &[&str], place: &str) -> Option<Warning> {
    let first = keys.first()?;
    let described: Vec<String> = keys.iter().map(|key| described(key)).collect();
    let message = format!(
        "There were unknown fields in {place}: {}",
        described.join(", ")
    );
    let error = format!("json: unknown field \"{}\"", excerpt(first));
    Some(Warning::new(message).with("error", error))
}

fn described(key: &str) -> String {
    let quoted = format!("\"{}\"", excerpt(key));
    if CLI_ONLY.contains(&key) {
        return format!("{quoted} (only a flag or an environment variable can set it)");
    }
    let known = Options::KEYS
        .iter()
        .copied()
        .filter(|known| !CLI_ONLY.contains(known));
    match plimsoll_units::nearest(key, known) {
        Some(meant) => format!("{quoted} (did you mean \"{meant}\"?)"),
        None => quoted,
    }
}
