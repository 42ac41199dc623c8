//! Tests executors through the calls that their users receive. Times are short. All assertions
//! about durations are lower bounds, or bounds that are wide enough for a busy machine.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use plimsoll_engine::{
    AbortReason, Ending, Event, InitError, Iteration, RunState, Running, ScenarioContext, Setting,
    Stop, Takeover, Tally, UserFactory, UserId, VirtualUser, Worker,
};
use plimsoll_plan::{Division, Executor, Plan, Rate, Scenario, Segment, SegmentSequence, Stage};
use plimsoll_samples::{Registry, TagMap, Watch, WatchSettings};

/// Users that take some time for each iteration and record what they did.
#[derive(Default)]
struct Sleepers {
    takes: Duration,
    seen: Arc<Mutex<Vec<Seen>>>,
    set_up: AtomicU64,
    torn_down: AtomicU64,
    fail_set_up: bool,
    abort_at: Option<u64>,
    /// Only the first user ever waits. It aborts the run after ten iterations.
    never_wait: bool,
    /// Every iteration aborts the run from outside, like a signal, and is interrupted by the abort.
    are_interrupted: bool,
    frees: Option<Arc<Frees>>,
    /// The first user blocks its worker for this duration in each iteration.
    blocks: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    user: UserId,
    scenario: usize,
    in_user: u64,
    in_test: u64,
    late: Option<Duration>,
    interrupted: bool,
}

struct Sleeper {
    id: UserId,
    scenario: usize,
    takes: Duration,
    seen: Arc<Mutex<Vec<Seen>>>,
    abort_at: Option<u64>,
    never_wait: bool,
    /// The run, if every iteration aborts it.
    aborts: Option<Arc<RunState>>,
    frees: Option<Arc<Frees>>,
    blocks: Duration,
    tally: Tally,
}

/// Users that cannot be freed until this is released or a long time has passed.
#[derive(Default)]
struct Frees {
    is_released: Mutex<bool>,
    released: Condvar,
    freed: AtomicU64,
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if let Some(frees) = &self.frees {
            let is_released = frees.is_released.lock().unwrap();
            let long = Duration::from_secs(60);
            let waited = frees
                .released
                .wait_timeout_while(is_released, long, |is_released| !*is_released);
            drop(waited);
            frees.freed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl UserFactory for Sleepers {
    type User = Sleeper;

    async fn create(&self, id: UserId, worker: &Worker) -> Result<Sleeper, InitError> {
        Ok(Sleeper {
            id,
            scenario: usize::MAX,
            takes: self.takes,
            seen: Arc::clone(&self.seen),
            abort_at: self.abort_at,
            never_wait: self.never_wait,
            aborts: self.are_interrupted.then(|| Arc::clone(&worker.run)),
            frees: self.frees.clone(),
            blocks: self.blocks,
            tally: Tally::default(),
        })
    }

    async fn set_up(&self, _: &Worker, _: &Stop) -> Result<(), AbortReason> {
        self.set_up.fetch_add(1, Ordering::Relaxed);
        if self.fail_set_up {
            return Err(AbortReason::ScriptException("no".to_owned()));
        }
        Ok(())
    }

    async fn tear_down(&self, _: &Worker, _: &Stop) -> Result<(), AbortReason> {
        self.torn_down.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl VirtualUser for Sleeper {
    fn activate(&mut self, scenario: &Rc<ScenarioContext>) {
        self.scenario = scenario.index;
        self.tally = Tally::of(scenario);
    }

    async fn iterate(&mut self, it: &Iteration) -> Ending {
        if self.never_wait && self.id != UserId(1) {
            return Ending::Completed;
        }
        if self.id == UserId(1) {
            std::thread::sleep(self.blocks);
        }
        let slept = it
            .stop
            .race(plimsoll_engine::timer::sleep(self.takes))
            .await;
        self.seen.lock().unwrap().push(Seen {
            user: self.id,
            scenario: self.scenario,
            in_user: it.in_user,
            in_test: it.in_test,
            late: it.scheduled.map(|scheduled| it.started.since(scheduled)),
            interrupted: slept.is_err(),
        });
        self.tally.call(Some((3, 5)));
        self.tally.iteration(it.started, plimsoll_clock::now());
        let enough = self.never_wait && it.in_user == 9;
        if enough || self.abort_at == Some(it.in_test) {
            return Ending::Abort(AbortReason::ByScript("enough".to_owned()));
        }
        if let Some(run) = &self.aborts {
            run.abort(AbortReason::Signal);
        }
        if slept.is_err() || self.aborts.is_some() {
            Ending::Interrupted
        } else {
            Ending::Completed
        }
    }
}

struct Outcome {
    seen: Vec<Seen>,
    running: Running,
    factory: Arc<Sleepers>,
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn scenario(executor: Executor) -> Scenario {
    let mut scenario = Scenario::new("s", executor);
    scenario.graceful_stop = Duration::from_secs(30);
    scenario
}

fn run_with(factory: Sleepers, scenario: Scenario, workers: usize) -> Outcome {
    start(factory, scenario, workers, false).end(|_, _| {})
}

fn start(factory: Sleepers, scenario: Scenario, workers: usize, waits_for_start: bool) -> Started {
    let factory = Arc::new(factory);
    let registry = Arc::new(Registry::new());
    let watch = Arc::new(Watch::new(&registry, WatchSettings::default()).unwrap());
    let running = plimsoll_engine::start(Setting {
        plan: Arc::new(Plan::single(scenario, Vec::new())),
        factory: Arc::clone(&factory),
        registry,
        watch,
        run_tags: TagMap::new(),
        min_iteration: Duration::ZERO,
        workers,
        waits_for_start,
    });
    Started { running, factory }
}

struct Started {
    running: Running,
    factory: Arc<Sleepers>,
}

impl Started {
    fn end(self, on_event: impl Fn(&Event, &Running)) -> Outcome {
        let Started { running, factory } = self;
        for event in &running.events {
            on_event(&event, &running);
            if matches!(event, Event::Finished) {
                break;
            }
        }
        let seen = factory.seen.lock().unwrap().clone();
        Outcome {
            seen,
            running,
            factory,
        }
    }
}

fn run(takes: Duration, executor: Executor, workers: usize) -> Outcome {
    run_with(
        Sleepers {
            takes,
            ..Sleepers::default()
        },
        scenario(executor),
        workers,
    )
}

#[test]
fn workers_run_each_shared_iteration_exactly_once() {
    let executor = Executor::SharedIterations {
        users: 4,
        iterations: 100,
        max_duration: ms(60_000),
    };
    let outcome = run(ms(1), executor, 2);
    let mut numbers: Vec<u64> = outcome.seen.iter().map(|seen| seen.in_test).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    assert_eq!(outcome.running.state.iterations_completed(), 100);
    assert_eq!(outcome.running.state.users_initialized(), 4);
    assert_eq!(outcome.running.state.users_active(), 0);
    assert_eq!(outcome.factory.set_up.load(Ordering::Relaxed), 1);
    assert_eq!(outcome.factory.torn_down.load(Ordering::Relaxed), 1);
}

#[test]
fn each_user_runs_its_own_iterations() {
    let executor = Executor::PerUserIterations {
        users: 3,
        iterations: 5,
        max_duration: ms(60_000),
    };
    let outcome = run(ms(1), executor, 2);
    for user in 1..=3 {
        let own: Vec<u64> = outcome
            .seen
            .iter()
            .filter(|s| s.user == UserId(user))
            .map(|s| s.in_user)
            .collect();
        assert_eq!(own, [0, 1, 2, 3, 4]);
    }
}

#[test]
fn iterations_beyond_the_time_limit_are_dropped_and_counted() {
    let executor = Executor::SharedIterations {
        users: 1,
        iterations: 1000,
        max_duration: ms(50),
    };
    let outcome = run(ms(20), executor, 1);
    let reading = outcome.running.scenarios[0].read(plimsoll_clock::now());
    assert_eq!(
        reading.iterations_completed + reading.iterations_dropped,
        1000
    );
    assert!(reading.iterations_completed >= 1 && reading.finished);
}

#[test]
fn iterations_in_progress_are_interrupted_after_the_graceful_stop() {
    let mut scenario = scenario(Executor::ConstantUsers {
        users: 2,
        duration: ms(20),
    });
    scenario.graceful_stop = ms(30);
    let factory = Sleepers {
        takes: ms(60_000),
        ..Sleepers::default()
    };
    let outcome = run_with(factory, scenario, 1);
    assert_eq!(outcome.seen.len(), 2);
    assert!(outcome.seen.iter().all(|seen| seen.interrupted));
    assert_eq!(outcome.running.state.iterations_interrupted(), 2);
    assert!(
        !outcome.running.scenarios[0]
            .read(plimsoll_clock::now())
            .cut_short
    );
}

#[test]
fn an_open_model_follows_the_schedule_and_adds_users() {
    let executor = Executor::ConstantArrivalRate {
        rate: Rate {
            count: 100,
            per: Duration::from_secs(1),
        },
        duration: ms(300),
        pre_allocated: 1,
        max_users: 30,
    };
    let outcome = run(ms(100), executor, 2);
    let mut numbers: Vec<u64> = outcome.seen.iter().map(|seen| seen.in_test).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..30).collect::<Vec<_>>());
    assert!(outcome.seen.iter().all(|seen| seen.late.is_some()));
    assert!(
        outcome.running.state.users_initialized() > 1,
        "a single user cannot run this many iterations"
    );
}

#[test]
fn an_open_model_drops_iterations_without_a_free_user() {
    let executor = Executor::ConstantArrivalRate {
        rate: Rate {
            count: 100,
            per: Duration::from_secs(1),
        },
        duration: ms(200),
        pre_allocated: 2,
        max_users: 2,
    };
    let mut scenario = scenario(executor);
    scenario.graceful_stop = ms(10);
    let outcome = run_with(
        Sleepers {
            takes: ms(60_000),
            ..Sleepers::default()
        },
        scenario,
        1,
    );
    let reading = outcome.running.scenarios[0].read(plimsoll_clock::now());
    assert_eq!(outcome.seen.len(), 2);
    assert_eq!(reading.iterations_dropped, 18);
}

/// A worker that is blocked at the end of the schedule may still hold iterations that another
/// worker passed to it.
#[test]
fn every_scheduled_iteration_starts_or_is_dropped_when_a_worker_is_late() {
    let executor = Executor::ConstantArrivalRate {
        rate: Rate {
            count: 200,
            per: Duration::from_secs(1),
        },
        duration: ms(250),
        pre_allocated: 4,
        max_users: 4,
    };
    for blocks in (20..120).step_by(5) {
        let factory = Sleepers {
            takes: ms(15),
            blocks: ms(blocks),
            ..Sleepers::default()
        };
        let outcome = run_with(factory, scenario(executor.clone()), 2);
        let reading = outcome.running.scenarios[0].read(plimsoll_clock::now());
        let (started, dropped) = (outcome.seen.len() as u64, reading.iterations_dropped);
        assert_eq!(
            started + dropped,
            50,
            "{started} started, {dropped} dropped, {blocks} ms"
        );
    }
}

/// Two processes share a schedule. One of them is lost after ten of its iterations, and two other
/// processes each take over half of the rest.
#[test]
fn iterations_of_a_lost_process_are_taken_over() {
    let sequence = SegmentSequence::parse("0,1/2,1").unwrap();
    let half = |segment| Division::of(Segment::parse(segment).unwrap(), &sequence).unwrap();
    let whole = scenario(Executor::ConstantArrivalRate {
        rate: Rate {
            count: 100,
            per: Duration::from_secs(1),
        },
        duration: ms(600),
        pre_allocated: 60,
        max_users: 120,
    });
    let own = whole.part(&half("0:1/2"));
    let lost = Takeover::all(whole.part(&half("1/2:1")).stripe);
    let part = lost.part(10, 1, 2).unwrap();
    let mut expected: Vec<u64> = (0..30).filter_map(|n| own.stripe.place(n)).collect();
    expected.extend((11..30).step_by(2).filter_map(|n| lost.place(n)));
    expected.sort_unstable();
    let started = start(Sleepers::default(), own, 2, true);
    let outcome = started.end(|event, running| match event {
        Event::Waiting => running.state.start_at(plimsoll_clock::now()),
        Event::Started => running.scenarios[0].take_over(part.clone()),
        _ => {}
    });
    let mut numbers: Vec<u64> = outcome.seen.iter().map(|seen| seen.in_test).collect();
    numbers.sort_unstable();
    let reading = outcome.running.scenarios[0].read(plimsoll_clock::now());
    // A process that learns of its part more than a second late drops what was due before that.
    let due = numbers.len() as u64 + reading.iterations_dropped;
    assert_eq!(due, expected.len() as u64, "{numbers:?}");
    if reading.iterations_dropped == 0 {
        assert_eq!(numbers, expected);
    }
}

#[test]
fn ramping_users_start_and_stop() {
    let executor = Executor::RampingUsers {
        start: 0,
        stages: vec![
            Stage {
                duration: ms(100),
                target: 4,
            },
            Stage {
                duration: ms(100),
                target: 0,
            },
        ],
        graceful_ramp_down: Duration::from_secs(30),
    };
    let outcome = run(ms(5), executor, 2);
    let users: std::collections::BTreeSet<_> = outcome.seen.iter().map(|seen| seen.user).collect();
    assert_eq!(users.len(), 4);
    assert!(outcome.seen.iter().all(|seen| !seen.interrupted));
    let first = outcome
        .seen
        .iter()
        .filter(|seen| seen.user == UserId(1))
        .count();
    let last = outcome
        .seen
        .iter()
        .filter(|seen| seen.user == UserId(4))
        .count();
    assert!(
        first > last,
        "the first user runs longest: {first} against {last}"
    );
}

#[test]
fn a_user_that_stops_the_run_ends_all_users_and_teardown_runs() {
    let executor = Executor::ConstantUsers {
        users: 3,
        duration: Duration::from_secs(60),
    };
    let factory = Sleepers {
        takes: ms(2),
        abort_at: Some(5),
        ..Sleepers::default()
    };
    let outcome = run_with(factory, scenario(executor), 2);
    assert_eq!(
        outcome.running.state.aborted(),
        Some(&AbortReason::ByScript("enough".to_owned()))
    );
    assert_eq!(outcome.factory.torn_down.load(Ordering::Relaxed), 1);
}

/// The abort interrupts iterations before the workers are informed.
#[test]
fn an_iteration_interrupted_by_an_abort_is_the_last() {
    for executor in [
        Executor::ConstantUsers {
            users: 1,
            duration: Duration::from_secs(60),
        },
        Executor::PerUserIterations {
            users: 1,
            iterations: 1_000_000,
            max_duration: Duration::from_secs(60),
        },
    ] {
        let factory = Sleepers {
            are_interrupted: true,
            ..Sleepers::default()
        };
        let outcome = run_with(factory, scenario(executor), 1);
        assert_eq!(outcome.seen.len(), 1);
    }
}

#[test]
fn a_failed_setup_runs_neither_scenarios_nor_teardown() {
    let executor = Executor::ConstantUsers {
        users: 1,
        duration: Duration::from_secs(60),
    };
    let factory = Sleepers {
        fail_set_up: true,
        ..Sleepers::default()
    };
    let outcome = run_with(factory, scenario(executor), 1);
    assert!(outcome.seen.is_empty());
    assert_eq!(outcome.factory.torn_down.load(Ordering::Relaxed), 0);
    assert!(matches!(
        outcome.running.state.aborted(),
        Some(AbortReason::ScriptException(_))
    ));
}

#[test]
fn users_that_never_wait_do_not_block_others() {
    let long = ms(60_000);
    for executor in [
        Executor::ConstantUsers {
            users: 50,
            duration: long,
        },
        Executor::RampingUsers {
            start: 50,
            stages: vec![Stage {
                duration: long,
                target: 50,
            }],
            graceful_ramp_down: ms(0),
        },
        Executor::SharedIterations {
            users: 50,
            iterations: u64::MAX,
            max_duration: long,
        },
    ] {
        let begin = std::time::Instant::now();
        let factory = Sleepers {
            takes: ms(5),
            never_wait: true,
            ..Sleepers::default()
        };
        let outcome = run_with(factory, scenario(executor.clone()), 1);
        // The first user slept ten times, and its abort had an effect, although the others kept the worker
        // busy.
        assert_eq!(outcome.seen.len(), 10, "{executor:?}");
        assert!(outcome.running.state.aborted().is_some());
        assert!(begin.elapsed() < long / 2, "{executor:?}");
        assert!(outcome.running.state.iterations_completed() > 1_000);
    }
}

#[test]
fn the_end_of_a_run_does_not_wait_until_users_are_freed() {
    let frees = Arc::new(Frees::default());
    let factory = Sleepers {
        frees: Some(Arc::clone(&frees)),
        ..Sleepers::default()
    };
    let executor = Executor::SharedIterations {
        users: 4,
        iterations: 8,
        max_duration: ms(60_000),
    };
    let outcome = run_with(factory, scenario(executor), 2);
    assert_eq!(outcome.seen.len(), 8);
    assert_eq!(frees.freed.load(Ordering::Relaxed), 0);
    let work = outcome.running.scenarios[0].work().expect("fixed work");
    assert_eq!((work.iterations, work.done.calls), (8, 8));
    assert_eq!((work.done.sent.get(), work.done.received.get()), (24, 40));
    *frees.is_released.lock().unwrap() = true;
    frees.released.notify_all();
}
