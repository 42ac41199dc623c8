//! The lifecycle of a script: init, setup, iterations, teardown, and how each can fail.

mod running;

use std::time::{Duration, Instant};

use plimsoll_engine::AbortReason;
use plimsoll_script::ScriptError;
use running::{Run, Script};

fn run(text: &str) -> Run {
    Script::text(text).run()
}

#[test]
fn phases_run_in_their_order_each_in_its_own_copy() {
    let run = run("
        let count = 0;
        console.log('init', __VU, count++);
        export const options = { iterations: 2, vus: 1, tags: { q: 'w' } };
        export function setup() { console.log('setup', __VU, count++, typeof __ITER); return { a: 1, gone: undefined } }
        export default function (data) { console.log('iter', __VU, __ITER, count++, data.a++, 'gone' in data) }
        export function teardown(data) { console.log('teardown', __VU, count, JSON.stringify(data)) }
    ");
    assert_eq!(
        run.console(),
        [
            "init 0 0",
            "init 1 0",
            "init 0 0",
            "setup 0 1 undefined",
            "iter 1 0 1 1 true",
            "iter 1 1 2 2 true",
            "init 0 0",
            "teardown 0 1 {\"a\":1,\"gone\":null}",
        ]
    );
    assert_eq!(
        run.program.setup_data(),
        Some(serde_json::json!({ "a": 1, "gone": null }))
    );
    assert_eq!(run.count("iterations"), 2);
    assert_eq!(run.count("iteration_duration"), 2);
}

#[test]
fn scripts_see_consolidated_options() {
    let run = run("
        export const options = { iterations: 1, noSetup: true };
        export function setup() { console.log('left out') }
        export default function () {
            console.log(options.iterations, options.vus, options.noSetup, Object.keys(options.scenarios).join());
        }
    ");
    assert_eq!(run.console().len(), 1, "{:?}", run.log);
}

#[test]
fn an_exception_is_logged_and_the_iteration_complete() {
    let run = run("
        export const options = { iterations: 3 };
        function inner() { throw new Error('boom') }
        export default function () {
            if (__ITER == 0) inner();
            if (__ITER == 1) throw 'text';
            null.foo;
        }
    ");
    assert_eq!(run.count("iterations"), 3);
    assert_eq!(run.aborted, None);
    let stack = "error Error: boom\n\tat inner (file:///nowhere/-:3:38)\n\tat default (file:///nowhere/-:5:";
    assert!(run.log[0].starts_with(stack), "{:?}", run.log);
    assert!(
        run.log[0].ends_with("executor=shared-iterations scenario=default source=stacktrace"),
        "{:?}",
        run.log
    );
    assert!(run.log[1].starts_with("error text\n"), "{:?}", run.log);
    assert!(run.log[2].starts_with("error TypeError: "), "{:?}", run.log);
}

#[test]
fn iterations_wait_for_promises_and_timers() {
    let run = run("
        export const options = { iterations: 3 };
        const pause = (ms) => new Promise((done) => setTimeout(done, ms));
        export default async function () {
            if (__ITER == 0) { await pause(5); console.log('awaited') }
            if (__ITER == 1) {
                let left = 3;
                const id = setInterval((word) => { console.log(word); if (--left == 0) clearInterval(id) }, 1, 'tick');
                clearTimeout(setTimeout(() => console.log('never'), 1));
            }
            if (__ITER == 2) { await pause(1); throw new Error('late') }
        }
    ");
    assert_eq!(run.console(), ["awaited", "tick", "tick", "tick"]);
    let last = run.log.last().unwrap();
    assert!(
        last.starts_with("error Uncaught (in promise) Error: late\n\tat default"),
        "{last}"
    );
    assert!(
        last.ends_with(" executor=shared-iterations scenario=default"),
        "{last}"
    );
    assert_eq!(run.count("iterations"), 3);
}

#[test]
fn an_unhandled_rejection_ends_the_iteration() {
    let run = run("
        export const options = { iterations: 2 };
        export default function () {
            if (__ITER == 0) { setTimeout(() => console.log('never'), 60000); Promise.reject(new Error('alone')) }
            else { Promise.reject(1).catch(() => console.log('caught')) }
        }
    ");
    assert_eq!(run.console(), ["caught"]);
    assert!(
        run.log
            .iter()
            .any(|line| line.contains("Uncaught (in promise) Error: alone")),
        "{:?}",
        run.log
    );
    assert!(
        run.log
            .iter()
            .any(|line| line.contains("the timer 1 was still set")),
        "{:?}",
        run.log
    );
    assert_eq!(run.count("iterations"), 2);
}

#[test]
fn a_sleeping_iteration_is_interrupted() {
    let started = Instant::now();
    let run = Script::text(
        "import { sleep } from 'k6';
         export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '30s' } } };
         export default function () { try { sleep(60) } catch { console.log('caught') } finally { console.log('final') } }
         export function teardown() { console.log('torn down') }",
    )
    .stopped_after(Duration::from_millis(200))
    .run();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(run.aborted, Some(AbortReason::Signal));
    assert_eq!(run.console(), ["torn down"]);
    assert_eq!(run.count("iterations"), 0);
}

#[test]
fn an_endless_loop_ends_with_its_scenario() {
    let started = Instant::now();
    let run = run("
        export const options = { scenarios: { s: {
            executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
        export default function () { for (;;) { try { for (;;) {} } catch {} } }
    ");
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(run.count("iterations"), 0);
    assert_eq!(run.console(), Vec::<String>::new());
}

#[test]
fn setup_can_fail_and_then_nothing_runs() {
    let run = run("
        export function setup() { throw new Error('no way') }
        export default function () { console.log('ran') }
        export function teardown() { console.log('torn down') }
    ");
    let Some(AbortReason::ScriptException(text)) = run.aborted else {
        panic!("{:?}", run.aborted)
    };
    assert!(
        text.starts_with("Error: no way\n\tat setup (file:///nowhere/-:2:"),
        "{text}"
    );
    assert!(run.log.is_empty(), "{:?}", run.log);
}

#[test]
fn setup_may_be_async_and_has_a_limit() {
    let run1 = run("
        export function setup() { return new Promise((done) => setTimeout(() => done([1, 2]), 2)) }
        export default function (data) { console.log(data.length) }
    ");
    assert_eq!(run1.console(), ["2"]);
    for body in [
        "new Promise(() => setTimeout(() => 0, 60000))",
        "(() => { for (;;) {} })()",
    ] {
        let run2 = run(&format!(
            "export const options = {{ setupTimeout: '50ms' }};
             export function setup() {{ return {body} }}
             export default function () {{}}"
        ));
        assert!(
            matches!(&run2.aborted, Some(AbortReason::SetupTimeout(_))),
            "{:?}",
            run2.aborted
        );
    }
}

#[test]
fn failing_init_code_is_reported_with_its_location() {
    let load = |text: &str| Script::text(text).load().0.err().unwrap();
    match load("throw new Error('init'); export default function () {}") {
        ScriptError::Exception(text) => assert!(
            text.starts_with("Error: init\n\tat file:///nowhere/-:1:"),
            "{text}"
        ),
        other => panic!("{other:?}"),
    }
    match load("export default function () {\n  const x = ;\n}") {
        ScriptError::Unreadable(text) => {
            assert!(text.starts_with("file:///nowhere/-: line 2"), "{text}")
        }
        other => panic!("{other:?}"),
    }
    assert!(
        load("await new Promise(() => {}); export default () => 1")
            .to_string()
            .contains("top-level")
    );
    assert!(
        load("import 'k6/brower'; export default () => 1")
            .to_string()
            .contains("did you mean k6/browser?")
    );
}

#[test]
fn a_failed_top_level_await_is_reported_as_in_k6() {
    let load = |text: &str| Script::text(text).load().0.err().unwrap();
    let thrown = |text: &str, start: &str| match load(text) {
        ScriptError::Exception(text) => assert!(text.starts_with(start), "{text}"),
        other => panic!("{other:?}"),
    };
    let unusable = |text: &str, part: &str| match load(text) {
        ScriptError::Unusable(text) => assert!(text.contains(part), "{text}"),
        other => panic!("{other:?}"),
    };
    thrown("await Promise.reject(new Error('a'));", "Error: a\n");
    // Everything that the script has started is done first.
    for rest in ["await null; throw new Error('b')", "throw new Error('b')"] {
        let timer = "setTimeout(() => { throw new Error('timer') }, 2)";
        thrown(&format!("{timer}; {rest}; export {{}}"), "Error: timer\n");
        thrown(&format!("{timer}; {rest}"), "Error: timer\n");
        let rejection = "Promise.reject(new Error('c'))";
        unusable(
            &format!("{rejection}; {rest}; export {{}}"),
            "Uncaught (in promise) Error: c",
        );
    }
    unusable(
        "const early = Promise.reject(new Error('d'));
        await new Promise((done) => setTimeout(done, 2));
        await early.catch(() => 0);
        export default () => 1",
        "Uncaught (in promise) Error: d",
    );
    unusable("await new Promise(() => {})", "top-level await");
}

#[test]
fn exports_with_k6s_names_must_be_functions() {
    for name in ["setup", "teardown"] {
        let script = format!("export const {name} = 1; export default () => 1");
        match Script::text(&script).load().0.err().unwrap() {
            ScriptError::Unusable(text) => assert!(text.contains(name), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn init_code_may_wait() {
    let run = run("
        import { sleep } from 'k6';
        const value = await new Promise((done) => setTimeout(() => done(7), 2));
        sleep(0.001);
        export default () => console.log(value);
    ");
    assert_eq!(run.console(), ["7"]);
}

#[test]
fn forbidden_calls_in_init_code_are_refused() {
    let (program, log) = Script::text(
        "import { check, group } from 'k6';
         import http from 'k6/http';
         for (const f of [() => check(1, { a: 1 }), () => group('g', () => 1), () => http.get('http://127.0.0.1/')])
             try { f() } catch (e) { console.log(e.name, e.message) }
         export default function () {}",
    )
    .load();
    assert!(program.is_ok());
    assert_eq!(log.len(), 3);
    assert!(
        log.iter()
            .all(|line| line.contains("GoError") && line.contains("init context")),
        "{log:?}"
    );
}

#[test]
fn environment_is_shared_until_it_is_changed() {
    let run = run("
        console.log(__ENV.SET, __ENV.NONE, 'SET' in __ENV);
        __ENV.OWN = 5;
        export const options = { scenarios: { s: {
            executor: 'per-vu-iterations', exec: 'main', env: { SET: 'scenario', MORE: 'more' } } } };
        export function main() {
            console.log(__ENV.SET, __ENV.MORE, Object.keys(__ENV).join());
            delete __ENV.SET;
            console.log(__ENV.SET, JSON.stringify(__ENV));
        }
    ");
    assert_eq!(
        run.console(),
        [
            "outside undefined true",
            "outside undefined true",
            "scenario more MORE,SET",
            "undefined {\"MORE\":\"more\"}"
        ]
    );
}

#[test]
fn a_thousand_users_come_and_go() {
    let run = run("
        import { sleep } from 'k6';
        export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 1000, iterations: 2 } } };
        export default function () { sleep(0.01) }
    ");
    assert_eq!(run.count("iterations"), 2000);
    assert!(run.log.is_empty(), "{:?}", run.log);
}

#[test]
fn handle_summary_returns_its_outputs() {
    let text = "
        export default function () {}
        export function handleSummary(data) {
            if (data.fail) throw new Error('no');
            data.more = 1;
            if (data.none) return;
            return { stdout: 'hello ' + data.metrics.a, 'x.bin': new Uint8Array([1, 2]).buffer };
        }";
    let (program, _) = Script::text(text).load();
    let program = program.unwrap();
    let handled = program
        .handle_summary(&serde_json::json!({ "metrics": { "a": 5 } }), never())
        .unwrap();
    let changed = serde_json::json!({ "metrics": { "a": 5 }, "more": 1 });
    assert_eq!(handled.data, Some(changed));
    let outputs = handled.outputs.unwrap();
    let outputs: Vec<_> = outputs
        .into_iter()
        .map(|output| (output.place, output.bytes))
        .collect();
    assert_eq!(
        outputs,
        [
            ("stdout".to_owned(), b"hello 5".to_vec()),
            ("x.bin".to_owned(), vec![1, 2])
        ]
    );
    let nothing = program
        .handle_summary(&serde_json::json!({ "none": 1 }), never())
        .unwrap();
    assert_eq!(nothing.outputs, None);
    assert_eq!(
        nothing.data,
        Some(serde_json::json!({ "none": 1, "more": 1 }))
    );
    let error = program
        .handle_summary(&serde_json::json!({ "fail": 1 }), never())
        .unwrap_err();
    assert!(error.to_string().starts_with("Error: no\n"), "{error}");
}

fn never() -> plimsoll_k6::user::Interrupted {
    std::sync::Arc::new(|| false)
}

#[test]
fn handle_summary_can_be_interrupted() {
    for body in [
        "while (true) {}",
        "return new Promise(() => setTimeout(() => {}, 60000))",
    ] {
        let text = format!(
            "export default function () {{}}
            export function handleSummary() {{ {body} }}"
        );
        let (program, _) = Script::text(&text).load();
        let begin = Instant::now();
        let is_late = std::sync::Arc::new(move || begin.elapsed() > Duration::from_millis(300));
        let error = program
            .unwrap()
            .handle_summary(&serde_json::json!({}), is_late)
            .unwrap_err();
        assert_eq!(error, ScriptError::Aborted(AbortReason::Signal), "{body}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{body}");
    }
}
