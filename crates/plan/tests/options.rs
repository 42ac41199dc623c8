//! Options are read and shown as in k6 v1.8.1.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_address::{DnsPolicy, DnsSelect, TlsVersion};
use plimsoll_plan::{HttpDebug, Options, Protocol};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(value: Value) -> Options {
    let (options, warnings) = Options::from_json(value).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(warnings, [], "no warning expected");
    options
}

fn faults(value: Value) -> Vec<String> {
    match Options::from_json(value) {
        Ok((options, _)) => panic!("accepted: {}", options.to_json()),
        Err(errors) => errors.0.iter().map(ToString::to_string).collect(),
    }
}

fn from_env(variables: &[(&str, &str)]) -> Result<Options, plimsoll_plan::Errors> {
    let owned = variables
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Options::from_env(&owned.collect::<BTreeMap<_, _>>())
}

/// One script with every option: what was read is shown as it was written, with keys in k6's order
/// and durations in Go's notation.
#[test]
fn every_option_is_shown_as_k6_shows_it() {
    let written = json!({
        "executionSegmentSequence": "0,1/3,2/3,1", "executionSegment": "2/6:4/6",
        "scenarios": {
            "f": {"executor": "ramping-arrival-rate", "startRate": 3, "timeUnit": "1s",
                  "stages": [{"duration": "10s", "target": 20}], "preAllocatedVUs": 4},
            "a": {"executor": "shared-iterations", "vus": 10, "iterations": 100, "maxDuration": "1m",
                  "startTime": "5s", "gracefulStop": "3s", "env": {"A": "b"}, "tags": {"x": "y"}, "exec": "foo"},
            "c": {"executor": "constant-vus", "vus": 3, "duration": "10s",
                  "options": {"browser": {"type": "chromium"}}},
            "d": {"executor": "ramping-vus", "startVUs": 2, "gracefulRampDown": "0s",
                  "stages": [{"duration": "10s", "target": 20}, {"duration": 0, "target": 5}, {"duration": 1500.5, "target": "7"}]},
            "e": {"executor": "constant-arrival-rate", "rate": 3, "timeUnit": "1m", "duration": "10s",
                  "preAllocatedVUs": 4, "maxVUs": 9},
            "b": {"executor": "per-vu-iterations", "vus": 3, "iterations": 4},
            "g": {"executor": "externally-controlled", "vus": 3, "maxVUs": 10, "duration": "10s"},
        },
        "thresholds": {
            "http_req_duration": ["p(95)<500", {"threshold": "avg<100", "abortOnFail": true, "delayAbortEval": "10s"}],
            "http_reqs{status:200}": [{"threshold": "count>1", "delayAbortEval": "1s"}],
        },
        "paused": false, "noSetup": true, "noTeardown": false, "setupTimeout": "10s", "teardownTimeout": 1000,
        "rps": 100, "maxRedirects": 4, "userAgent": "x", "batch": 3, "batchPerHost": 2, "httpDebug": "full",
        "insecureSkipTLSVerify": true, "tlsCipherSuites": ["TLS_RSA_WITH_RC4_128_SHA", "TLS_AES_128_GCM_SHA256"],
        "tlsVersion": {"min": "tls1.0", "max": "tls1.2"}, "throw": true,
        "blacklistIPs": ["10.1.2.3/8", "fd00::/8"], "blockHostnames": ["*.k6.io", "foo.com"],
        "hosts": {"test.k6.io": "1.2.3.4", "*.A.b:80": "1.2.3.4:443", "six": "[::1]:80"},
        "noConnectionReuse": true, "noVUConnectionReuse": true, "minIterationDuration": "1s",
        "summaryTrendStats": ["avg", "p(99.99)", "count"], "summaryTimeUnit": "ms",
        "systemTags": ["url", "status", "vu"], "tags": {"foo": "bar", "b": null},
        "metricSamplesBufferSize": 10, "noCookiesReset": true, "discardResponseBodies": true,
        "dns": {"ttl": "1m", "select": "first", "policy": "any"},
        "cloud": {"projectID": 3}, "ext": {"loadimpact": {"name": "x"}, "z": 1},
    });
    let shown = serde_json::to_string(&read(written).to_json()).unwrap();
    assert_eq!(shown, SHOWN.split('\n').map(str::trim).collect::<String>());
}

/// `k6 inspect` of the same, without its line breaks and indents.
const SHOWN: &str = r#"{"paused":false,"vus":null,"duration":null,"iterations":null,"stages":null,"scenarios":{
"a":{"executor":"shared-iterations","startTime":"5s","gracefulStop":"3s","env":{"A":"b"},"exec":"foo","tags":{"x":"y"},"vus":10,"iterations":100,"maxDuration":"1m0s"},
"b":{"executor":"per-vu-iterations","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"vus":3,"iterations":4,"maxDuration":null},
"c":{"executor":"constant-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"options":{"browser":{"type":"chromium"}},"vus":3,"duration":"10s"},
"d":{"executor":"ramping-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"startVUs":2,"stages":[{"duration":"10s","target":20},{"duration":"0s","target":5},{"duration":"1.5005s","target":7}],"gracefulRampDown":"0s"},
"e":{"executor":"constant-arrival-rate","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"rate":3,"timeUnit":"1m0s","duration":"10s","preAllocatedVUs":4,"maxVUs":9},
"f":{"executor":"ramping-arrival-rate","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"startRate":3,"timeUnit":"1s","stages":[{"duration":"10s","target":20}],"preAllocatedVUs":4,"maxVUs":null},
"g":{"executor":"externally-controlled","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"vus":3,"duration":"10s","maxVUs":10}},
"executionSegment":"1/3:2/3","executionSegmentSequence":"0,1/3,2/3,1","noSetup":true,"setupTimeout":"10s","noTeardown":false,"teardownTimeout":"1s","rps":100,
"dns":{"ttl":"1m","select":"first","policy":"any"},"maxRedirects":4,"userAgent":"x","batch":3,"batchPerHost":2,"httpDebug":"full","insecureSkipTLSVerify":true,
"tlsCipherSuites":["TLS_RSA_WITH_RC4_128_SHA","TLS_AES_128_GCM_SHA256"],"tlsVersion":{"min":"tls1.0","max":"tls1.2"},"tlsAuth":null,"throw":true,
"thresholds":{"http_req_duration":["p(95)<500",{"threshold":"avg<100","abortOnFail":true,"delayAbortEval":"10s"}],"http_reqs{status:200}":["count>1"]},
"blacklistIPs":["10.0.0.0/8","fd00::/8"],"blockHostnames":["*.k6.io","foo.com"],"hosts":{"*.a.b:80":"1.2.3.4:443","six":"[::1]:80","test.k6.io":"1.2.3.4"},
"noConnectionReuse":true,"noVUConnectionReuse":true,"minIterationDuration":"1s","cloud":{"projectID":3},"ext":{"loadimpact":{"name":"x"},"z":1},
"summaryTrendStats":["avg","p(99.99)","count"],"summaryTimeUnit":"ms","systemTags":["status","url","vu"],"tags":{"b":"","foo":"bar"},
"metricSamplesBufferSize":10,"noCookiesReset":true,"discardResponseBodies":true}"#;

#[test]
fn displayed_values_parse_to_the_same_value() {
    let shown: Value = serde_json::from_str(&SHOWN.replace('\n', "")).unwrap();
    assert_eq!(read(shown.clone()).to_json(), shown);
}

#[test]
fn unset_options_are_shown_as_null() {
    let shown = Options::default().to_json();
    let object = shown.as_object().unwrap();
    assert!(!object.contains_key("cloud") && !object.contains_key("handleSummaryTimeout"));
    for (key, value) in object {
        match key.as_str() {
            "dns" => assert_eq!(*value, json!({"ttl": null, "select": null, "policy": null})),
            _ => assert!(value.is_null(), "{key}"),
        }
    }
    assert_eq!(Options::default().to_script_json(), json!({}));
}

#[test]
fn scripts_see_scenarios_instead_of_shortcuts() {
    let mut options = read(json!({"vus": 3, "duration": "10s", "tags": {"a": "b"}}));
    options.console_output = Some("file".to_owned());
    let shown = options.to_test_json();
    for short in ["vus", "duration", "iterations", "stages"] {
        assert!(shown.get(short).is_none(), "{short}");
    }
    assert_eq!(shown["consoleOutput"], "file");
    assert_eq!(shown["localIPs"], Value::Null);
    let back = options.to_script_json();
    assert_eq!(
        back,
        json!({"vus": 3, "duration": "10s", "tags": {"a": "b"}})
    );
}

#[test]
fn a_key_in_other_case_is_the_same_key() {
    let options = read(json!({"VUS": 5, "Duration": "3s", "scenarios":
        {"a": {"Executor": "constant-vus", "VUS": 2, "Duration": "1s"}}}));
    assert_eq!(options.vus, Some(5));
    assert_eq!(options.duration, Some(Duration::from_secs(3)));
    assert_eq!(options.scenarios.unwrap()["a"].vus, Some(2));
}

#[test]
fn numbers_may_be_strings_and_null_means_unset() {
    let options =
        read(json!({"vus": "5", "iterations": 7.0, "duration": null, "thresholds": {"vus": null}}));
    assert_eq!(
        (options.vus, options.iterations, options.duration),
        (Some(5), Some(7), None)
    );
    assert_eq!(options.thresholds.unwrap()["vus"], []);
    assert_eq!(read(Value::Null), Options::default());
}

#[test]
fn unknown_keys_warn_with_the_nearest_name() {
    let (_, warnings) =
        Options::from_json(json!({"tresholds": {}, "localIPs": "1.1.1.1", "zzzzzz": 1})).unwrap();
    assert_eq!(warnings.len(), 1);
    let message = &warnings[0].message;
    assert!(message.contains("did you mean \"thresholds\""), "{message}");
    assert!(
        message.contains("flag") && message.contains("\"zzzzzz\""),
        "{message}"
    );
    let error = (
        "error".to_owned(),
        "json: unknown field \"tresholds\"".to_owned(),
    );
    assert_eq!(warnings[0].fields, [error]);
}

#[test]
fn all_type_errors_are_reported_with_their_location() {
    let output = faults(json!({
        "vus": 5.5, "noSetup": "true", "userAgent": 5, "duration": true, "setupTimeout": "x",
        "tags": {"a": 1}, "stages": [{"duration": "1s", "target": "many"}], "blockHostnames": "a.b",
        "scenarios": {"s": {"executor": "constant-vus", "env": {"A": 1}}},
    }));
    for place in [
        "vus: ",
        "noSetup: ",
        "userAgent: ",
        "duration: ",
        "setupTimeout: ",
        "tags.a: ",
        "stages[0].target: ",
        "blockHostnames: ",
        "scenarios.s.env.A: ",
    ] {
        assert!(
            output.iter().any(|fault| fault.starts_with(place)),
            "{place} in {output:#?}"
        );
    }
    assert_eq!(output.len(), 9, "{output:#?}");
}

#[test]
fn invalid_input_of_k6_is_refused() {
    let refused = [
        json!(5),
        json!([]),
        json!("x"),
        json!({"vus": true}),
        json!({"vus": "x"}),
        json!({"noSetup": 1}),
        json!({"rps": 1.5}),
        json!({"setupTimeout": ""}),
        json!({"setupTimeout": "1.5d"}),
        json!({"setupTimeout": "1h1d"}),
        json!({"setupTimeout": {}}),
        json!({"dns": "ttl=5m"}),
        json!({"dns": {"ttl": 5}}),
        json!({"dns": {"select": "x"}}),
        json!({"dns": {"ttl": "zz"}}),
        json!({"dns": {"policy": "zz"}}),
        json!({"tlsVersion": "tls9"}),
        json!({"tlsVersion": {"min": "tls1.1", "foo": 1}}),
        json!({"tlsCipherSuites": ["x"]}),
        json!({"tlsAuth": [{"cert": "a", "foo": "b"}]}),
        json!({"blacklistIPs": ["10.0.0.1"]}),
        json!({"blacklistIPs": ["x"]}),
        json!({"blacklistIPs": ["::/129"]}),
        json!({"blockHostnames": ["a*b"]}),
        json!({"blockHostnames": ["*.*.com"]}),
        json!({"blockHostnames": ["f oo"]}),
        json!({"hosts": {"a:x": "1.1.1.1"}}),
        json!({"hosts": {"a*": "1.1.1.1"}}),
        json!({"hosts": []}),
        json!({"httpDebug": true}),
        json!({"systemTags": "url"}),
        json!({"systemTags": {"url": true}}),
        json!({"tags": []}),
        json!({"ext": 5}),
        json!({"executionSegment": 5}),
        json!({"executionSegment": "1/3:2"}),
        json!({"thresholds": {"http_reqs": "rate>1"}}),
        json!({"thresholds": {"http_reqs": [5]}}),
        json!({"thresholds": {"http_reqs": [{"threshold": "rate>1", "delayAbortEval": "x"}]}}),
        json!({"scenarios": []}),
        json!({"scenarios": {"a": null}}),
        json!({"scenarios": {"a": {}}}),
        json!({"scenarios": {"a": 5}}),
        json!({"scenarios": {"a": {"executor": 5}}}),
        json!({"scenarios": {"a": {"executor": "x"}}}),
        json!({"scenarios": {"a": {"executor": "constant-vus", "rate": 1}}}),
        json!({"scenarios": {"a": {"executor": "constant-vus", "options": {"foo": 1}}}}),
        json!({"scenarios": {"a": {"executor": "constant-vus", "options": 5}}}),
        json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 1.5}}}),
    ];
    for value in refused {
        let output = faults(value.clone());
        assert_eq!(output.len(), 1, "{value}: {output:?}");
    }
}

#[test]
fn a_misspelled_key_in_a_scenario_gets_a_suggestion() {
    let output =
        faults(json!({"scenarios": {"a": {"executor": "constant-vus", "durations": "1s"}}}));
    assert!(
        output[0].contains("\"durations\"") && output[0].contains("\"duration\""),
        "{output:?}"
    );
    let output = faults(json!({"scenarios": {"a": {"executor": "constant-vu", "duration": "1s"}}}));
    assert!(
        output[0].contains("did you mean \"constant-vus\""),
        "{output:?}"
    );
}

#[test]
fn unusual_values_that_k6_accepts_are_warnings() {
    let value = json!({"systemTags": ["url", "foo"]});
    let (options, warnings) = Options::from_json(value).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(options.to_json()["systemTags"], json!(["url"]));
    assert_eq!(
        read(json!({"systemTags": []})).to_json()["systemTags"],
        Value::Null
    );
}

#[test]
fn our_own_options_are_under_ext() {
    let options = read(json!({"ext": {"plimsoll": {"protocol": "h2c"}}}));
    assert_eq!(options.protocol, Some(Protocol::H2c));
    let output = faults(json!({"ext": {"plimsoll": {"protcol": "h2c"}}}));
    assert!(output[0].contains("\"protocol\""), "{output:?}");
}

#[test]
fn tls_settings_are_typed() {
    let options = read(
        json!({"tlsVersion": "tls1.2", "tlsAuth": [{"cert": "c", "key": "k", "domains": ["d"], "password": "p"}]}),
    );
    let versions = options.tls_version.unwrap();
    assert_eq!(
        (versions.min, versions.max),
        (Some(TlsVersion::Tls12), Some(TlsVersion::Tls12))
    );
    let auth = &options.tls_auth.as_ref().unwrap()[0];
    assert_eq!(
        (auth.cert.as_str(), auth.password.as_deref()),
        ("c", Some("p"))
    );
    assert_eq!(
        read(json!({"tlsVersion": {"min": "tls1.3"}})).to_json()["tlsVersion"],
        json!({"min": "tls1.3", "max": ""})
    );
}

#[test]
fn variables_set_options() {
    let options = from_env(&[
        ("K6_VUS", "4"),
        ("K6_DURATION", "1000"),
        ("K6_STAGES", "1s:3,5s:9,"),
        ("K6_NO_SETUP", "true"),
        ("K6_PAUSED", ""),
        ("K6_HTTP_DEBUG", "full"),
        ("K6_BLACKLIST_IPS", "10.0.0.0/8,11.0.0.0/8"),
        ("K6_BLOCK_HOSTNAMES", "*.a.com,b.com"),
        ("K6_SUMMARY_TREND_STATS", "avg,p(99)"),
        ("K6_SYSTEM_TAGS", "vu,url"),
        ("K6_TAGS", "a:b,c:d"),
        ("K6_DNS", "ttl=1m,select=first"),
        ("K6_LOCAL_IPS", "127.0.0.1-127.0.0.4"),
        ("K6_UNRELATED", "x"),
        ("PLIMSOLL_PROTOCOL", "http1"),
    ])
    .unwrap();
    assert_eq!(
        (options.vus, options.duration),
        (Some(4), Some(Duration::from_secs(1)))
    );
    let stages = options.stages.clone().unwrap();
    assert_eq!(
        stages.iter().map(|s| s.target.unwrap()).collect::<Vec<_>>(),
        [3, 9]
    );
    assert_eq!((options.no_setup, options.paused), (Some(true), None));
    assert_eq!(options.http_debug, Some(HttpDebug::Full));
    assert_eq!(options.blacklist_ips.as_ref().unwrap().len(), 2);
    assert_eq!(options.to_json()["systemTags"], json!(["url", "vu"]));
    assert_eq!(options.to_json()["tags"], json!({"a": "b", "c": "d"}));
    let dns = options.dns.clone().unwrap();
    assert_eq!(
        (dns.select, dns.policy),
        (Some(DnsSelect::First), None::<DnsPolicy>)
    );
    assert_eq!(options.local_ips.as_ref().unwrap().size(), 4);
    assert_eq!(options.protocol, Some(Protocol::Http1));
}

#[test]
fn all_invalid_variables_are_reported_by_name() {
    let errors = from_env(&[
        ("K6_VUS", "5.5"),
        ("K6_NO_SETUP", "1"),
        ("K6_DURATION", "zz"),
        ("K6_STAGES", "10s:x"),
        ("K6_TAGS", "a=b"),
        ("K6_DNS", "foo=1"),
        ("K6_SUMMARY_TREND_STATS", "foo"),
        ("K6_SYSTEM_TAGS", "foo"),
        ("K6_TLS_CIPHER_SUITES", "x"),
        ("K6_LOCAL_IPS", "1.1.1.9-1.1.1.1"),
    ])
    .unwrap_err();
    let places: Vec<_> = errors.0.iter().map(|fault| fault.place.as_str()).collect();
    assert_eq!(places.len(), 10, "{errors}");
    assert!(places.contains(&"K6_VUS") && places.contains(&"K6_LOCAL_IPS"));
    assert!(errors.to_string().starts_with("10 problems"), "{errors}");
}

#[test]
fn a_config_file_may_contain_program_settings() {
    let (options, warnings) =
        Options::from_config(json!({"vus": 4, "out": ["json"], "linger": true, "nope": 1}))
            .unwrap();
    assert_eq!(options.vus, Some(4));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let errors = Options::from_config(json!({"stages": "x"})).unwrap_err();
    assert!(
        errors.to_string().starts_with("config file: stages"),
        "{errors}"
    );
}

/// Any JSON of a moderate size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        "[0-9]{1,20}[a-z]{0,2}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        prop::sample::select(Options::KEYS).prop_map(str::to_owned),
        prop::sample::select(vec![
            "executor",
            "vus",
            "ttl",
            "min",
            "duration",
            "target",
            "threshold"
        ])
        .prop_map(str::to_owned),
        "[a-z{}:,]{0,8}",
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_gives_a_value_or_an_error_and_values_survive_a_round_trip(value in any_json()) {
        if let Ok((options, _)) = Options::from_json(value) {
            let again = Options::from_json(options.to_json()).unwrap().0;
            prop_assert_eq!(again.to_json(), options.to_json());
        }
    }
}
