//! Calls of setup and teardown from outside of a run.

mod running;

use std::time::{Duration, Instant};

use plimsoll_engine::{AbortReason, RunState, Step};
use running::Script;
use serde_json::json;

/// Waits until the scenarios run.
fn wait_for_start(state: &RunState) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while state.started().is_none() {
        assert!(Instant::now() < give_up, "the run does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn setup_and_teardown_run_again_on_request() {
    let run = Script::text(
        "
        import { sleep } from 'k6';
        import { Counter } from 'k6/metrics';
        const counter = new Counter('steps');
        export const options = { scenarios: { only: {
            executor: 'constant-vus', vus: 1, duration: '60s', gracefulStop: '0s',
        } } };
        export function setup() { console.log('setup', __VU); counter.add(1); return { number: 1 } }
        export default function () { sleep(0.01) }
        export function teardown(data) { console.log('teardown', data.number); counter.add(1) }
        ",
    )
    .meanwhile(|calls, program, state| {
        wait_for_start(state);
        assert_eq!(calls.call(Step::SetUp), Some(Ok(())));
        assert_eq!(program.setup_data(), Some(json!({ "number": 1 })));
        program.set_setup_data(Some(json!({ "number": 2 }).to_string()));
        assert_eq!(calls.call(Step::TearDown), Some(Ok(())));
        state.abort(AbortReason::Signal);
    })
    .run();
    assert_eq!(
        run.console(),
        ["setup 0", "setup 0", "teardown 2", "teardown 2"]
    );
    assert_eq!(run.aborted, Some(AbortReason::Signal));
    // Their samples belong to the run.
    assert_eq!(run.count("steps"), 4);
}

#[test]
fn users_get_the_data_that_was_set_before_the_start() {
    let run = Script::text(
        "
        export const options = { iterations: 1, noSetup: true, paused: true };
        export function setup() { console.log('setup'); return 'of setup' }
        export default function (data) { console.log(JSON.stringify(data)) }
        export function teardown(data) { console.log('teardown', JSON.stringify(data)) }
        ",
    )
    .meanwhile(|_, program, state| {
        program.set_setup_data(Some("[1,2]".to_owned()));
        state.set_paused(false);
    })
    .run();
    assert_eq!(run.console(), ["[1,2]", "teardown [1,2]"]);
}

#[test]
fn a_failed_call_does_not_end_the_run() {
    let run = Script::text(
        "
        import { sleep } from 'k6';
        export const options = {
            noSetup: true, noTeardown: true, teardownTimeout: '50ms',
            scenarios: { only: { executor: 'constant-vus', vus: 1, duration: '60s', gracefulStop: '0s' } },
        };
        export function setup() { throw new Error('no database') }
        export default function () { sleep(0.01) }
        export function teardown() { sleep(60) }
        ",
    )
    .meanwhile(|calls, _, state| {
        match calls.call(Step::SetUp) {
            Some(Err(AbortReason::ScriptException(text))) => {
                assert!(text.starts_with("Error: no database\n"), "{text}");
            }
            other => panic!("{other:?}"),
        }
        match calls.call(Step::TearDown) {
            Some(Err(AbortReason::TeardownTimeout(text))) => {
                assert_eq!(text, "teardown() execution timed out after 50ms");
            }
            other => panic!("{other:?}"),
        }
        wait_for_start(state);
        assert_eq!(state.aborted(), None);
        state.abort(AbortReason::Signal);
    })
    .run();
    assert_eq!(run.aborted, Some(AbortReason::Signal));
}

#[test]
fn a_call_ends_with_the_run() {
    let run = Script::text(
        "
        import { sleep } from 'k6';
        export const options = { iterations: 1, noSetup: true };
        export function setup() { sleep(60) }
        export default function () { sleep(1) }
        ",
    )
    .meanwhile(|calls, _, _| {
        // `None` if the machine is so busy that the run ended before the call.
        let ended = calls.call(Step::SetUp);
        assert!(
            matches!(ended, Some(Err(AbortReason::Failed(_))) | None),
            "{ended:?}"
        );
        assert_eq!(calls.call(Step::SetUp), None);
    })
    .run();
    assert_eq!(run.aborted, None);
    assert_eq!(run.count("iterations"), 1);
}

#[test]
fn a_script_cannot_end_the_run_in_a_call() {
    let run = Script::text(
        "
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { duration: '60s', noSetup: true };
        export function setup() { exec.test.abort('enough') }
        export default function () { sleep(0.01) }
        ",
    )
    .meanwhile(|calls, _, state| {
        wait_for_start(state);
        let ended = calls.call(Step::SetUp);
        assert!(
            matches!(ended, Some(Err(AbortReason::ByScript(_)))),
            "{ended:?}"
        );
        // As observed with k6.
        assert_eq!(calls.call(Step::TearDown), Some(Ok(())));
        assert_eq!(state.aborted(), None);
        state.abort(AbortReason::Signal);
    })
    .run();
    assert_eq!(run.aborted, Some(AbortReason::Signal));
}
