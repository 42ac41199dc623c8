//! Runs as library calls: events, outcomes, and slow or stuck listeners.

use std::time::Duration;

use plimsoll_plan::{Executor, Rate, Scenario};
use plimsoll_run::{
    Ending, Event, Http, Listener, Load, OutputRequest, QueuedListener, Request, Run,
};
use plimsoll_samples::{Values, builtin};
use plimsoll_scriptless::RequestSpec;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};

fn server() -> LoggedServer {
    LoggedServer::start(Behavior::Prompt).expect("a free port")
}

fn request(server: &LoggedServer, executor: Executor) -> Request {
    let mut scenario = Scenario::new("http", executor);
    scenario.graceful_stop = Duration::from_secs(10);
    Request {
        load: Load::Http(Box::new(Http {
            request: RequestSpec {
                method: "GET".to_owned(),
                url: server.http_url(),
                headers: Vec::new(),
                bodies: Vec::new(),
                timeout: Duration::from_secs(10),
            },
            settings: plimsoll_http::Settings::default(),
            scenario,
            users_per_connection: 1,
            connects_before_start: false,
        })),
        threads: 1,
        outputs: OutputRequest::default(),
        record: None,
        warm_up: Duration::ZERO,
        until: None,
    }
}

/// 100 iterations per second for two seconds, with enough users for any delay.
fn scheduled() -> Executor {
    Executor::ConstantArrivalRate {
        rate: Rate {
            count: 100,
            per: Duration::from_secs(1),
        },
        duration: Duration::from_secs(2),
        pre_allocated: 20,
        max_users: 400,
    }
}

#[derive(Default)]
struct Names(Vec<&'static str>);

impl Listener for Names {
    fn event(&mut self, event: Event<'_>) {
        self.0.push(match event {
            Event::Starting => "starting",
            Event::Window(_) => "window",
            Event::Second(_) => "second",
            Event::Done(_) => "done",
            Event::Judged(_) => "judged",
            _ => return,
        });
    }
}

impl Names {
    fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|known| **known == name).count()
    }
}

#[test]
fn a_run_produces_events_and_an_outcome() {
    let server = server();
    let mut names = Names::default();
    let request = request(&server, scheduled());
    let outcome = plimsoll_run::run(request, vec![Box::new(&mut names)]).expect("a run");
    assert_eq!(outcome.ending(), Ending::Completed);
    assert_eq!(outcome.iterations, 200);
    assert_eq!(server.settled_log().statuses()[&200], 200);
    assert_eq!(names.0.first(), Some(&"starting"));
    assert!(names.0.ends_with(&["done", "judged"]), "{:?}", names.0);
    assert!((1..=2).contains(&names.count("second")), "{:?}", names.0);
    assert!(names.count("window") >= 2, "{:?}", names.0);
}

#[test]
fn a_warm_up_is_announced_and_must_be_shorter_than_the_run() {
    let server = server();
    let with = |warm_up| {
        let request = Request {
            warm_up: Duration::from_secs(warm_up),
            ..request(&server, scheduled())
        };
        plimsoll_run::run(request, Vec::new())
    };
    // No record is requested: the verdict leaves out the warm-up nevertheless.
    let outcome = with(1).expect("a run");
    let expected = "Warm-up: the verdict leaves out the first 1s, and the figures include it.";
    assert_eq!(outcome.messages, [expected]);
    assert_eq!(outcome.iterations, 200);
    let refused = with(2).err().map(|refusal| refusal.message);
    assert_eq!(
        refused.as_deref(),
        Some("--warm-up 2s must be shorter than the run, which takes at most 2s")
    );
}

/// A listener that blocks the supervisor for longer than the run.
#[derive(Default)]
struct Slow {
    was_slow: bool,
}

impl Listener for Slow {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Window(_)) && !self.was_slow {
            self.was_slow = true;
            std::thread::sleep(Duration::from_secs(4));
        }
    }
}

#[test]
fn a_slow_listener_does_not_delay_requests() {
    let server = server();
    let mut slow = Slow::default();
    let request = request(&server, scheduled());
    let outcome = plimsoll_run::run(request, vec![Box::new(&mut slow)]).expect("a run");
    assert!(slow.was_slow);
    assert_eq!(outcome.iterations, 200);
    let metrics = &outcome.summary.metrics;
    let lag = metrics
        .iter()
        .find(|metric| metric.name == "iteration_send_lag");
    let Some(Values::Trend(lag)) = lag.map(|metric| &metric.values) else {
        panic!("no send lag: {:?}", builtin::ITERATION_SEND_LAG);
    };
    // If requests waited for the listener, half of them would start seconds late.
    assert!(lag.quantile(0.5) < 500.0, "{}", lag.quantile(0.5));
    assert!(outcome.summary.elapsed < Duration::from_secs(4));
}

#[test]
fn a_stuck_listener_does_not_prevent_the_end_of_a_run() {
    let server = server();
    let select = |event: Event<'_>| matches!(event, Event::Window(_)).then_some(());
    let dead = QueuedListener::start("the dead listener", select, |()| {
        loop {
            std::thread::park();
        }
    });
    let dead = dead.expect("a thread");
    let request = request(&server, scheduled());
    let outcome = plimsoll_run::run(request, vec![Box::new(dead)]).expect("a run");
    assert_eq!(outcome.iterations, 200);
    assert_eq!(
        outcome.output_errors,
        ["the dead listener did not end with the run"]
    );
}

#[test]
fn messages_that_find_the_queue_full_are_counted() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let select = |event: Event<'_>| matches!(event, Event::Starting).then_some(());
    let mut queued = QueuedListener::start("the slow listener", select, move |()| {
        // An error means that the test has ended.
        let _ = released.recv();
    })
    .expect("a thread");
    // At most one message is being handled, and 256 are waiting.
    for _ in 0..300 {
        queued.event(Event::Starting);
    }
    drop(release);
    let errors = queued.finish().errors;
    let [error] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    let dropped = error
        .strip_prefix("the slow listener was too slow: ")
        .and_then(|rest| rest.strip_suffix(" messages to it were dropped"))
        .and_then(|count| count.parse::<u32>().ok());
    assert!(matches!(dropped, Some(43 | 44)), "{error}");
}

#[test]
fn a_run_can_be_stopped_from_another_thread() {
    let server = server();
    let executor = Executor::ConstantUsers {
        users: 2,
        duration: Duration::from_secs(600),
    };
    let run = Run::start(request(&server, executor), Vec::new()).expect("a run");
    let control = run.control();
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        control.stop();
    });
    let outcome = run.finish();
    stopping.join().expect("the thread");
    assert_eq!(outcome.ending(), Ending::Stopped);
    assert!(outcome.summary.elapsed < Duration::from_secs(300));
}
