//! Users that compute without waiting, together with others on the same worker.

mod running;

use std::time::{Duration, Instant};

use plimsoll_engine::AbortReason;
use running::{Run, Script};

/// Far longer than any of these runs should take. A busy user that blocked its worker would make them last this long.
const HELD: &str = "60s";

/// Runs three busy users together with four that sleep ten times and then end the run.
fn run_with_busy_users(busy: &str) -> Run {
    let started = Instant::now();
    let run = Script::text(&format!(
        "
        import {{ sleep }} from 'k6';
        import exec from 'k6/execution';
        import {{ parseHTML }} from 'k6/html';
        import k6crypto from 'k6/crypto';
        import http from 'k6/http';
        export const options = {{ scenarios: {{
            busy: {{ executor: 'constant-vus', vus: 3, duration: '{HELD}', gracefulStop: '0s', exec: 'busy' }},
            others: {{ executor: 'per-vu-iterations', vus: 4, iterations: 10, exec: 'other' }},
        }} }};
        const text = '[' + '{{\"a\":[1,2,3]}},'.repeat(2e5) + '1]';
        const password = new Uint8Array(16);
        const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
        export function busy() {{ {busy} }}
        export function other() {{
            sleep(0.01);
            console.log('slept');
            if (exec.vu.iterationInScenario === 9) exec.test.abort('enough');
        }}
        "
    ))
    .run();
    assert!(started.elapsed() < Duration::from_secs(30), "{busy}");
    run
}

#[test]
fn a_user_that_never_waits_does_not_block_others() {
    for busy in [
        "",
        "throw new Error('before the first request')",
        "while (true) {}",
        "for (;;) Math.sqrt(2)",
        "JSON.parse(text)",
        "new Array(3e6).fill(0).sort()",
        "while (true) /(a*)*b/.test('a'.repeat(40))",
        "while (true) 'ab'.repeat(2e7)",
        "let p = {}; for (let i = 0; i < 60; i++) p = new Proxy(p, p); p.x",
        "let list = null; for (let i = 0; i < 1e6; i++) list = { list }",
        "const all = []; for (let i = 0; i < 3e5; i++) { all.push({ all }) }",
        "while (true) ((1n << 500000n) - 1n).toString()",
        "new Float64Array(1e7).map(Math.random).sort()",
        // Single calls of host functions.
        "http.batch(new Array(1e5).fill('http://127.0.0.1:9/'))",
        "new TextEncoder().encode('abcdefgh'.repeat(1e7))",
        "parseHTML('<div>'.repeat(1e6))",
        "k6crypto.sha256('abcdefgh'.repeat(1e7), 'hex')",
        "crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: password, iterations: 4e9 }, key, 160)",
    ] {
        let run = run_with_busy_users(busy);
        assert!(
            matches!(&run.aborted, Some(AbortReason::ByScript(_))),
            "{busy}: {:?}",
            run.aborted
        );
        // The first user ends the run at its tenth sleep; the others have slept as often, or nearly
        // so.
        let slept = run.console().len();
        assert!((25..=40).contains(&slept), "{busy}: {slept}");
    }
}

#[test]
fn busy_users_share_their_worker() {
    let run = Script::text(
        "
        import exec from 'k6/execution';
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 5, duration: '1s', gracefulStop: '0s' } } };
        let logged = false;
        export default function () {
            if (!logged) console.log(exec.vu.idInTest);
            logged = true;
            for (let n = 0; n < 1e5; n++);
        }
        ",
    )
    .run();
    let mut users = run.console();
    users.sort();
    assert_eq!(users, ["1", "2", "3", "4", "5"]);
}

#[test]
fn a_signal_stops_scripts_that_never_wait() {
    for phase in ["setup", "default", "teardown"] {
        let empty = |name: &str| match (name == phase, name) {
            (true, "default") => "export default function () { while (true) {} }".to_owned(),
            (true, name) => format!("export function {name}() {{ while (true) {{}} }}"),
            (false, "default") => "export default function () {}".to_owned(),
            (false, _) => String::new(),
        };
        let source = format!(
            "export const options = {{ vus: 1, iterations: 1, setupTimeout: '{HELD}', teardownTimeout: '{HELD}' }};
            {} {} {}",
            empty("setup"),
            empty("default"),
            empty("teardown"),
        );
        let started = Instant::now();
        let run = Script::text(&source)
            .stopped_after(Duration::from_millis(300))
            .run();
        assert!(started.elapsed() < Duration::from_secs(30), "{phase}");
        assert_eq!(run.aborted, Some(AbortReason::Signal), "{phase}");
    }
}

#[test]
fn teardown_and_its_init_code_run_after_a_signal() {
    let run = Script::text(
        "
        let n = 0; while (n < 1e6) n++;
        export const options = { vus: 1, duration: '60s' };
        export default function () { while (true) {} }
        export function teardown() { let n = 0; while (n < 1e6) n++; console.log('torn down'); }
        ",
    )
    .stopped_after(Duration::from_millis(500))
    .run();
    assert_eq!(run.aborted, Some(AbortReason::Signal));
    assert_eq!(run.console(), ["torn down"]);
}
