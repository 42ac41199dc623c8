//! k6's REST API of a run, used through the client of the control commands.

mod support;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use plimsoll_live::{Api, Client, SetupData, WebAddress};
use plimsoll_plan::Executor;
use plimsoll_run::{Ending, Load, Outcome, Request, Run};
use serde_json::{Value, json};

/// A run that starts with two users of at most ten, and ends when it is stopped.
fn controlled() -> Request {
    let mut request = support::request(1);
    if let Load::Http(http) = &mut request.load {
        http.scenario.executor = Executor::ExternallyControlled {
            users: 2,
            max_users: 10,
            duration: None,
        };
    }
    request
}

fn start(request: Request) -> (Client, std::thread::JoinHandle<Outcome>) {
    let address = WebAddress::default().with_port(0);
    let api = Api::open(&address, "--address").expect("a free port");
    let client = WebAddress::default().with_port(api.address().port());
    let client = Client::new(client, None);
    let run = std::thread::spawn(move || {
        let run = Run::start(request, vec![api.listener()]).expect("a run");
        api.attach(run.control(), Data(Mutex::new(Some(json!({ "token": 7 })))));
        run.finish()
    });
    (client, run)
}

/// The result of a script's setup.
struct Data(Mutex<Option<Value>>);

impl SetupData for Data {
    fn get(&self) -> Option<Value> {
        self.0.lock().expect("a value").clone()
    }

    fn set(&self, json: Option<String>) {
        *self.0.lock().expect("a value") =
            json.map(|json| serde_json::from_str(&json).expect("JSON"));
    }
}

/// Waits until this attribute of the run's status has this value.
fn wait_for(client: &Client, name: &str, expected: &Value) {
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        let status = client.get("/v1/status");
        let found = status.as_ref().map(|status| &status["attributes"][name]);
        if found == Ok(expected) {
            return;
        }
        assert!(
            Instant::now() < give_up,
            "{name} is not {expected}: {status:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_scaled_paused_resumed_and_stopped() {
    let (client, run) = start(controlled());
    wait_for(&client, "running", &json!(true));
    wait_for(&client, "status", &json!(7));
    wait_for(&client, "vus", &json!(2));
    wait_for(&client, "vus-max", &json!(10));
    client.change(json!({ "vus": 7 })).expect("scaled");
    wait_for(&client, "vus", &json!(7));
    client.change(json!({ "vus": 1 })).expect("scaled");
    wait_for(&client, "vus", &json!(1));
    let status = client.change(json!({ "paused": true })).expect("paused");
    assert_eq!(status["attributes"]["paused"], true);
    wait_for(&client, "vus", &json!(0));
    let requests = |client: &Client| {
        let metric = client.get("/v1/metrics/http_reqs").expect("a metric");
        assert_eq!(metric["attributes"]["type"], "counter");
        metric["attributes"]["sample"]["count"]
            .as_f64()
            .expect("a count")
    };
    // Samples of the last second may still be in transit.
    std::thread::sleep(Duration::from_millis(1_500));
    let paused = requests(&client);
    assert!(paused > 0.0);
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(requests(&client), paused, "nothing is sent while paused");
    client.change(json!({ "paused": false })).expect("resumed");
    wait_for(&client, "vus", &json!(1));

    for (change, part) in [
        (json!({ "vus": 11 }), "maxVUs, 10"),
        (json!({ "vus": -1 }), "not a number of users"),
        (json!({ "vus-max": 20 }), "cannot be changed"),
        (json!({ "paused": "yes" }), "not true or false"),
    ] {
        let error = client.change(change).expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(client.get("/v1/metrics/no_such").is_err());
    assert!(client.get("/v1/elsewhere").is_err());
    let setup = client.get("/v1/setup").expect("setup data");
    assert_eq!(setup["attributes"]["data"]["token"], 7);
    let groups = client.get("/v1/groups").expect("groups");
    assert_eq!(groups[0]["attributes"]["path"], "");
    assert_eq!(groups[0]["attributes"]["checks"], Value::Null);
    assert_eq!(groups[0]["relationships"]["parent"]["data"], Value::Null);
    let id = groups[0]["id"].as_str().expect("an id");
    let group = client.get(&format!("/v1/groups/{id}")).expect("a group");
    assert_eq!(group, groups[0]);

    client.change(json!({ "stopped": true })).expect("stopped");
    let outcome = run.join().expect("a run");
    assert_eq!(outcome.ending(), Ending::StoppedByApi);
    // The figures at the end of the run are still available.
    let status = client.get("/v1/status").expect("a status");
    assert_eq!(status["attributes"]["status"], 9);
    assert_eq!(status["attributes"]["stopped"], true);
    let end = outcome.summary.metrics.iter();
    let end = end.filter(|metric| metric.name == "http_reqs");
    let end: Vec<_> = end.filter_map(|metric| metric.values.count()).collect();
    assert_eq!(end, [requests(&client)]);
}

#[test]
fn other_executors_cannot_be_controlled() {
    let (client, run) = start(support::request(3));
    wait_for(&client, "running", &json!(true));
    let error = client
        .change(json!({ "paused": true }))
        .expect_err("refused");
    assert!(
        error.to_string().contains("constant-arrival-rate"),
        "{error}"
    );
    let error = client.change(json!({ "vus": 3 })).expect_err("refused");
    assert!(
        error.to_string().contains("externally-controlled"),
        "{error}"
    );
    assert_eq!(run.join().expect("a run").iterations, 150);
}

#[test]
fn without_a_run_the_error_suggests_a_fix() {
    // A port on which nothing listens.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let client = Client::new(WebAddress::default().with_port(port), None);
    let error = client.get("/v1/status").expect_err("nobody");
    assert!(
        error.to_string().contains("Is a run with --address"),
        "{error}"
    );
}
