//! Randomly loses, repeats, reorders and changes frames, and mixes them with frames of another
//! process. The results must be complete if and only if every frame was added once.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_frames::{
    Account, Completeness, Counts, Digest, End, Frame, MorePlanned, Moved, Planned, Policy,
    Received, RunId, ScenarioCounts, Sender, WorkerWindow, judge,
};
use plimsoll_samples::{
    Contains, Kind, Recorder, Registry, TagMap, Totals, Watch, WatchSettings, WindowDecoder,
    WindowEncoder, builtin,
};
use plimsoll_units::Moment;
use proptest::prelude::*;

const RUN: RunId = RunId([7; 16]);

/// The metrics of one process.
#[derive(Clone)]
struct Metrics {
    registry: Arc<Registry>,
    watch: Arc<Watch>,
}

impl Metrics {
    fn new() -> Metrics {
        let registry = Arc::new(Registry::new());
        let mine = registry.register("mine", Kind::Trend, Contains::Default);
        assert!(mine.is_ok());
        let watch = Watch::new(&registry, WatchSettings::default()).unwrap();
        let watch = Arc::new(watch);
        Metrics { registry, watch }
    }

    fn recorder(&self) -> Recorder {
        Recorder::new(Arc::clone(&self.registry), Arc::clone(&self.watch))
    }

    fn totals(&self) -> Totals {
        Totals::new(Arc::clone(&self.registry), Arc::clone(&self.watch))
    }

    fn record(&self, recorder: &Recorder, values: &[u32]) {
        let base = recorder.base_tags(&TagMap::new());
        let mine = self.registry.find("mine").unwrap();
        for value in values {
            // Eighths add up exactly in any order.
            let value = f64::from(*value) / 8.0;
            recorder.add(mine, value, &base, &[], Moment::ZERO).unwrap();
            recorder
                .add(builtin::ITERATIONS, 1.0, &base, &[], Moment::ZERO)
                .unwrap();
        }
    }
}

/// Builds the frames of an agent that records `windows`.
fn frames(agent: u32, epoch: u64, windows: &[Vec<u32>]) -> Vec<Vec<u8>> {
    let metrics = Metrics::new();
    let recorder = metrics.recorder();
    let mut encoder = WindowEncoder::new(metrics.registry.clone(), metrics.watch.clone());
    let mut sender = Sender::new(RUN, agent, epoch);
    let mut counts = Counts {
        scenarios: vec![ScenarioCounts::default()],
        ..Counts::default()
    };
    let mut frames = Vec::new();
    for (second, values) in (1..).zip(windows) {
        metrics.record(&recorder, values);
        counts.completed += values.len() as u64;
        counts.scenarios[0].started += values.len() as u64;
        counts.scenarios[0].completed += values.len() as u64;
        let samples = encoder.encode(&recorder.take_window(), Moment::ZERO);
        let window = WorkerWindow {
            part: 1,
            samples,
            ..WorkerWindow::default()
        };
        let until = Duration::from_secs(second);
        frames.push(sender.window(until, &counts, (1, 1), vec![window]));
    }
    frames.push(sender.end(End {
        elapsed: Duration::from_secs(windows.len() as u64),
        counts,
        cumulative: encoder.totals().cumulative(),
        ..End::default()
    }));
    frames
}

fn account(metrics: &Metrics, agent: u32, windows: &[Vec<u32>], share: f64) -> Account {
    let planned = Planned {
        share,
        iterations: vec![Some(windows.iter().map(|values| values.len() as u64).sum())],
        scheduled_by: None,
    };
    let decoder = WindowDecoder::new(metrics.registry.clone(), metrics.watch.clone());
    Account::new(RUN, agent, 1, planned, decoder, metrics.totals())
}

fn merge(totals: &mut Totals, received: Vec<Received>) {
    let windows = received.into_iter().flat_map(Received::into_windows);
    windows.for_each(|window| totals.merge(window));
}

/// The faults that can happen to frames in transit.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    /// A bit flips.
    Corrupt(prop::sample::Index, prop::sample::Index, u8),
    /// Another frame with the same number arrives.
    Fork(prop::sample::Index),
    /// A frame of another process of the same agent arrives.
    Epoch(prop::sample::Index),
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let any = any::<prop::sample::Index>;
    prop_oneof![
        any().prop_map(Trouble::Drop),
        (any(), any()).prop_map(|(one, to)| Trouble::Repeat(one, to)),
        (any(), any()).prop_map(|(one, other)| Trouble::Swap(one, other)),
        (any(), any(), 0u8..8).prop_map(|(one, byte, bit)| Trouble::Corrupt(one, byte, bit)),
        any().prop_map(Trouble::Fork),
        any().prop_map(Trouble::Epoch),
    ]
}

fn cause(trouble: Trouble, sent: &mut Vec<Vec<u8>>, agent: u32) {
    if sent.is_empty() {
        return;
    }
    let length = sent.len();
    match trouble {
        Trouble::Drop(one) => {
            sent.remove(one.index(length));
        }
        Trouble::Repeat(one, to) => {
            let frame = sent[one.index(length)].clone();
            sent.insert(to.index(length + 1), frame);
        }
        Trouble::Swap(one, other) => sent.swap(one.index(length), other.index(length)),
        Trouble::Corrupt(one, byte, bit) => {
            let frame = &mut sent[one.index(length)];
            let at = byte.index(frame.len());
            frame[at] ^= 1 << bit;
        }
        Trouble::Fork(one) => {
            let at = one.index(length);
            if let Ok(mut frame) = Frame::decode(&sent[at]) {
                frame.previous = Digest([9; 32]);
                sent.insert(at + 1, frame.encode());
            }
        }
        Trouble::Epoch(one) => {
            let other = frames(agent, 2, &[vec![5]]);
            let at = one.index(length + 1);
            sent.insert(at, other[0].clone());
        }
    }
}

fn windows() -> impl Strategy<Value = Vec<Vec<Vec<u32>>>> {
    let window = prop::collection::vec(0u32..100_000, 0..40);
    let agent = prop::collection::vec(window, 1..6);
    prop::collection::vec(agent, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn merged_results_equal_those_of_one_process(recorded in windows(), repeat in 1usize..12) {
        let metrics = Metrics::new();
        let mut merged = metrics.totals();
        let alone = Metrics::new();
        let recorder = alone.recorder();
        let mut accounts = Vec::new();
        for (agent, windows) in (0..).zip(&recorded) {
            // Use enough values for histograms to leave the exact mode.
            let windows: Vec<Vec<u32>> = windows.iter().map(|one| one.repeat(repeat)).collect();
            windows.iter().for_each(|values| alone.record(&recorder, values));
            let mut account = account(&metrics, agent, &windows, 1.0 / recorded.len() as f64);
            for frame in frames(agent, 1, &windows) {
                merge(&mut merged, account.receive(&frame, Moment::ZERO));
            }
            accounts.push(account);
        }
        let proof = judge(&accounts, Policy::Fail);
        prop_assert_eq!(proof.completeness, Completeness::Complete, "{}", proof);
        let mut one = alone.totals();
        one.merge(recorder.take_window());
        prop_assert_eq!(merged.cumulative().difference(&one.cumulative()), None);
    }

    #[test]
    fn nothing_incomplete_is_called_complete(
        recorded in windows(),
        troubles in prop::collection::vec((any::<prop::sample::Index>(), trouble()), 0..4),
        gives_up: bool,
    ) {
        let metrics = Metrics::new();
        let agents = recorded.len();
        let originals: Vec<_> = (0..).zip(&recorded)
            .map(|(agent, windows)| frames(agent, 1, windows))
            .collect();
        let mut sent = originals.clone();
        for (agent, trouble) in &troubles {
            let agent = agent.index(agents);
            cause(*trouble, &mut sent[agent], agent as u32);
        }
        let mut is_intact = true;
        let mut is_foreign = false;
        let mut accounts = Vec::new();
        for (agent, windows) in (0..).zip(&recorded) {
            let mut account = account(&metrics, agent, windows, 1.0 / agents as f64);
            let (original, sent) = (&originals[agent as usize], &sent[agent as usize]);
            for frame in sent {
                account.receive(frame, Moment::ZERO);
            }
            // Repeated and reordered frames do no harm. All other faults do.
            is_intact &= original.iter().all(|frame| sent.contains(frame));
            is_foreign |= sent.iter().any(|frame| !original.contains(frame));
            if gives_up {
                account.give_up();
            }
            accounts.push(account);
        }
        let proof = judge(&accounts, Policy::Degrade);
        if !is_intact || is_foreign {
            prop_assert_ne!(proof.completeness, Completeness::Complete, "{:?}", troubles);
        } else {
            prop_assert_eq!(proof.completeness, Completeness::Complete, "{}", proof);
        }
        let strict = judge(&accounts, Policy::Fail);
        prop_assert_ne!(strict.completeness, Completeness::Degraded);
        prop_assert!(strict.completeness <= proof.completeness);
    }
}

#[test]
fn a_lost_agent_degrades_the_results() {
    let metrics = Metrics::new();
    let windows = vec![vec![1, 2], vec![3]];
    let mut accounts = Vec::new();
    for agent in 0..25 {
        let mut account = account(&metrics, agent, &windows, 0.04);
        let frames = frames(agent, 1, &windows);
        let received = if agent == 7 { 1 } else { frames.len() };
        for frame in &frames[..received] {
            account.receive(frame, Moment::ZERO);
        }
        if agent == 7 {
            account.give_up();
            // The agent returns, but nothing counts any more.
            assert!(account.receive(&frames[1], Moment::ZERO).is_empty());
        }
        accounts.push(account);
    }
    let proof = judge(&accounts, Policy::Degrade);
    assert_eq!(
        proof.to_string(),
        "degraded (agent 7 lost at 1 s; offered rate at the end: 96 %)"
    );
    let strict = judge(&accounts, Policy::Fail).to_string();
    assert_eq!(strict, "invalid (agent 7 lost at 1 s)");
}

#[test]
fn load_that_others_have_taken_over_is_not_missing() {
    let metrics = Metrics::new();
    // Agent 0 is lost after its first window, and agent 1 takes over the second one.
    let windows = vec![vec![1, 2], vec![3]];
    let mut lost = account(&metrics, 0, &windows, 0.5);
    lost.receive(&frames(0, 1, &windows)[0], Moment::ZERO);
    lost.give_up();
    let more = vec![vec![4], vec![5, 6]];
    let judged = |takes_over: bool| {
        let planned = vec![vec![4], vec![5]];
        let mut other = account(&metrics, 1, &planned, 0.5);
        if takes_over {
            let part = MorePlanned {
                scenario: 0,
                iterations: 1,
                scheduled_by: Box::new(|_| 1),
            };
            other.take_over(0.5, vec![part]);
        }
        for frame in frames(1, 1, &more) {
            other.receive(&frame, Moment::ZERO);
        }
        other
    };
    let at = Duration::from_secs(2);
    lost.set_moved(Moved { at, missing: 1 });
    let proof = judge([&lost, &judged(true)], Policy::Redistribute);
    assert_eq!(
        proof.to_string(),
        "degraded (agent 0 lost at 1 s, its load moved to the others at 2 s, 1 of its iterations missing; offered rate at the end: 100 %)"
    );
    // An agent that runs more than its part contradicts the plan.
    let proof = judge([&lost, &judged(false)], Policy::Redistribute);
    assert_eq!(proof.completeness, Completeness::Invalid, "{proof}");
}

#[test]
fn missing_frames_are_requested_and_named() {
    let metrics = Metrics::new();
    let windows = vec![vec![1], vec![2], vec![3]];
    let frames = frames(0, 1, &windows);
    let mut account = account(&metrics, 0, &windows, 1.0);
    for at in [0, 3] {
        account.receive(&frames[at], Moment::ZERO);
    }
    assert_eq!(account.ledger().missing(), Some(1..3));
    let proof = judge(std::slice::from_ref(&account), Policy::Fail);
    assert_eq!(
        proof.to_string(),
        "invalid (agent 0: frames 1 to 2 are missing; agent 0: its last frame is missing)"
    );
    for at in [2, 1] {
        account.receive(&frames[at], Moment::ZERO);
    }
    assert_eq!(account.ledger().missing(), None);
    let proof = judge(&[account], Policy::Fail);
    assert_eq!(proof.to_string(), "complete: every sample of 1 agent, once");
}

#[test]
fn an_iteration_that_was_never_started_is_noticed() {
    let metrics = Metrics::new();
    let windows = vec![vec![1, 2, 3]];
    let mut account = account(&metrics, 0, &[vec![0; 4]], 1.0);
    for frame in frames(0, 1, &windows) {
        account.receive(&frame, Moment::ZERO);
    }
    let proof = judge(&[account], Policy::Degrade);
    assert_eq!(
        proof.to_string(),
        "invalid (agent 0: scenario 1 scheduled 4 iterations, but 3 started and 0 were dropped)"
    );
}

#[test]
fn a_window_ahead_of_the_schedule_is_a_contradiction() {
    let windows = vec![vec![1, 2, 3], vec![4]];
    let completeness = |scheduled_by: fn(Duration) -> u64| {
        let metrics = Metrics::new();
        let planned = Planned {
            share: 1.0,
            iterations: vec![Some(4)],
            scheduled_by: Some(Box::new(move |_, time| Some(scheduled_by(time)))),
        };
        let decoder = WindowDecoder::new(metrics.registry.clone(), metrics.watch.clone());
        let mut account = Account::new(RUN, 0, 1, planned, decoder, metrics.totals());
        for frame in frames(0, 1, &windows) {
            account.receive(&frame, Moment::ZERO);
        }
        judge([&account], Policy::Fail).completeness
    };
    assert_eq!(
        completeness(|time| if time.as_secs() < 2 { 3 } else { 4 }),
        Completeness::Complete
    );
    // The totals at the end are correct, but the first second had one iteration too many.
    assert_eq!(
        completeness(|time| if time.as_secs() < 2 { 2 } else { 4 }),
        Completeness::Invalid
    );
}
