//! The `options` of a script or a config file, and the plan built from them.

use std::time::Duration;

use plimsoll_pace::{Pacer, UserCurve};
use plimsoll_plan::{Executor, Exports, Options, Plan};
use serde_json::Value;

use super::Target;

pub const TARGET: Target = Target {
    name: "options",
    run,
    seeds: &[
        br#"{"vus":10,"duration":"30s","thresholds":{"http_req_duration{a:b}":["p(95)<500",{"threshold":"avg<1","abortOnFail":true,"delayAbortEval":"1s"}]}}"#,
        br#"{"stages":[{"duration":"10s","target":100},{"duration":0,"target":5},{"duration":"1m","target":0}]}"#,
        br#"{"scenarios":{"a":{"executor":"ramping-arrival-rate","startRate":1,"timeUnit":"1s","preAllocatedVUs":2,"maxVUs":5,"stages":[{"target":10,"duration":"5s"}],"exec":"f","env":{"A":"b"},"tags":{"c":"d"}},"b":{"executor":"constant-arrival-rate","rate":7,"duration":"3s","preAllocatedVUs":1}}}"#,
        br#"{"scenarios":{"a":{"executor":"ramping-vus","startVUs":3,"gracefulRampDown":"0s","stages":[{"target":10,"duration":"5s"}]},"b":{"executor":"per-vu-iterations","vus":2,"iterations":3,"maxDuration":"1h","startTime":"5s"},"c":{"executor":"shared-iterations","vus":1,"iterations":100,"gracefulStop":"1s"},"d":{"executor":"constant-vus","vus":1,"duration":"1s"},"e":{"executor":"externally-controlled","vus":1,"maxVUs":2,"duration":"1s"}}}"#,
        br#"{"vus":4,"iterations":9,"executionSegment":"1/3:2/3","executionSegmentSequence":"0,1/3,2/3,1"}"#,
        br#"{"hosts":{"a.b:80":"1.2.3.4:8080"},"dns":{"ttl":"1m","select":"first","policy":"preferIPv4"},"blockHostnames":["*.x"],"blacklistIPs":["10.0.0.0/8"],"tlsVersion":{"min":"tls1.2","max":"tls1.3"},"tlsCipherSuites":["TLS_RSA_WITH_AES_128_GCM_SHA256"],"tlsAuth":[{"domains":["a"],"cert":"c","key":"k"}]}"#,
        br#"{"systemTags":["url","status"],"summaryTrendStats":["avg","p(99.9)"],"summaryTimeUnit":"ms","tags":{"a":"b"},"rps":5,"batch":2,"userAgent":"x","discardResponseBodies":true,"minIterationDuration":"1s","setupTimeout":"10s","ext":{"plimsoll":{"protocol":"h2c"}}}"#,
        br#"{"tlsVersion":{"min":"tls1.3","max":""}}"#,
        br#"{"scenarios":{"a":{"executor":"constant-arrival-rate","rate":900,"duration":"3s","preAllocatedVUs":1,"arrivals":"gamma:0.5@7"},"b":{"executor":"ramping-arrival-rate","startRate":1,"preAllocatedVUs":2,"stages":[{"target":10,"duration":"5s"}],"arrivals":"on-off:2s/8s"}},"thresholds":{"http_reqs{a:b}":[]}}"#,
    ],
    words: &[
        "\"vus\":", "\"duration\":", "\"stages\":", "\"target\":", "\"scenarios\":", "\"executor\":", "\"rate\":",
        "\"timeUnit\":", "\"startTime\":", "\"maxVUs\":", "\"thresholds\":", "\"executionSegment\":", "null", "true",
        "[", "]", "{", "}", ":", ",", "\"1s\"", "\"0\"", "1e18", "-1", "1.5", "\"\"",
        "\"arrivals\":", "\"poisson\"", "\"gamma:9\"", "\"on-off:1s/1h\"",
    ],
};

fn run(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let Ok((options, _)) = Options::from_json(value) else {
        return;
    };
    // The options that scripts see parse to the same options.
    let shown = options.to_json();
    assert!(Options::from_json(shown.clone()).is_ok(), "{shown}");
    let exports = Exports {
        functions: vec!["default".to_owned(), "f".to_owned()],
    };
    let Ok(plan) = Plan::build(&options, &exports) else {
        return;
    };
    plan.requirements();
    for scenario in &plan.scenarios {
        if let Some(pacer) = plimsoll_pace::of_scenario(scenario) {
            follow(&pacer);
        }
        if let Executor::RampingUsers { start, stages, .. } = &scenario.executor {
            climb(&UserCurve::new(*start, stages));
        }
    }
}

/// Start times never decrease, however long the schedule is.
fn follow(pacer: &dyn Pacer) {
    let mut last = Duration::ZERO;
    for number in (0..20)
        .chain((5..64).map(|power| (1 << power) - 1))
        .chain([u64::MAX])
    {
        if let Some(start) = pacer.start_of(number) {
            assert!(
                start >= last,
                "iteration {number} starts at {start:?}, after {last:?}"
            );
            last = start;
        }
    }
}

/// Changes are in chronological order, and match the curve.
fn climb(curve: &UserCurve) {
    let mut time = Duration::ZERO;
    for _ in 0..50 {
        let Some((change, users)) = curve.next_change(time) else {
            return;
        };
        assert!(change > time);
        assert_eq!(curve.users_at(change), users);
        time = change;
    }
}
