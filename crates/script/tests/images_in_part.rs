//! Users whose init code differs start from an image taken after its imports, and run the rest themselves.

mod pairs;
mod running;

use std::fs;
use std::path::Path;

use pairs::{Users, both, by_user, compare, script_in, users};
use plimsoll_engine::AbortReason;
use running::Run;

const TIME: &str = "the init code asks for the time or a random number";

/// A scenario of three users.
const OPTIONS: &str = "export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };";

/// Runs a script with modules next to it in both ways.
fn with_modules(modules: &[(&str, &str)], text: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in modules {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path: &Path = folder.path();
    // CommonJS scripts have their own.
    let options = match text.contains("exports.options") {
        true => "",
        false => OPTIONS,
    };
    both(|| script_in(path, &format!("{text}\n{options}")))
}

fn in_part(reason: &str) -> Users {
    Users::InPart(reason.to_owned())
}

#[test]
fn what_differs_is_run_for_each_user() {
    let reason = |init: &str| {
        let run = compare(&format!(
            "{init}
            {OPTIONS}
            export default function () {{ console.log(__VU, __ITER, typeof value === 'function' ? value() : value); }}"
        ));
        (users(&run), by_user(&run))
    };
    let (shared, lines) = reason("const value = __VU * 2;");
    assert_eq!(shared, in_part("the init code reads __VU"));
    assert_eq!(lines["2"], ["0 4", "1 4"]);
    let (shared, _) = reason("const value = typeof Math.random();");
    assert_eq!(shared, in_part(TIME));
    let (shared, _) = reason("const start = Date.now(); const value = typeof start;");
    assert_eq!(shared, in_part(TIME));
    let (shared, _) =
        reason("import crypto from 'k6/crypto'; crypto.randomBytes(2); const value = 1;");
    assert_eq!(shared, in_part("the init code makes random bytes"));
    let (shared, lines) = reason("console.log('init', __VU); const value = 1;");
    assert_eq!(shared, in_part("the init code reads __VU"));
    assert_eq!(lines["init"], ["0", "1", "2", "3"]);
    let (shared, _) =
        reason("let value = 0; value = typeof __ITER + ('__ITER' in globalThis) + __VU;");
    assert_eq!(shared, in_part("the init code reads __VU"));
}

#[test]
fn users_log_what_the_init_code_logged_for_all() {
    let run = with_modules(
        &[(
            "lib.js",
            "console.warn('lib', { a: [1] }); export const value = 1;",
        )],
        "import { value } from './lib.js';
        console.log('init', value);
        export default function () { console.log(__VU, __ITER, value); }",
    );
    assert_eq!(users(&run), Users::Together);
    assert_eq!(by_user(&run)["init"], ["1", "1", "1", "1"]);
    assert_eq!(by_user(&run)["lib"].len(), 4);
    let levels = run.log.iter().filter(|line| line.starts_with("warn lib"));
    assert_eq!(levels.count(), 4);
}

#[test]
fn modules_run_in_the_same_order_and_keep_a_state_for_each_user() {
    let modules = [
        (
            "first.js",
            "globalThis.order = ['first'];
            export const table = []; for (let i = 0; i < 500; i++) table.push({ i, text: 'row' + i });
            export class Cart { #items = []; add(x) { this.#items.push(x); return this.#items.length; } }
            export const cart = new Cart(); export let count = 0; export function up() { return ++count; }",
        ),
        (
            "second.js",
            "import { table } from './first.js'; import data from './data.json'; import old from './old.js';
            order.push('second'); table[3].text = 'changed'; old.seen.push(data.name);
            export { table, old }; export * as first from './first.js';",
        ),
        ("data.json", "{ \"name\": \"from json\" }"),
        (
            "old.js",
            "const { b64encode } = require('k6/encoding'); (globalThis.order ??= []).push('old');
            module.exports = { seen: [b64encode('x')], add(x) { this.seen.push(x); return this.seen.join(); } };",
        ),
        (
            "clock.js",
            "import { up } from './first.js'; order.push('clock'); up();
            export const started = new Date(); export const own = [__VU];",
        ),
        (
            "last.js",
            "import { count } from './first.js'; order.push('last'); export const countThen = count;",
        ),
    ];
    let run = with_modules(
        &modules,
        "import { sleep } from 'k6';
        import { Counter } from 'k6/metrics';
        import { table, old, first } from './second.js';
        import { started, own } from './clock.js';
        import { countThen } from './last.js';
        import encoding from 'k6/encoding';
        order.push('entry');
        const counter = new Counter('hits');
        export default function () {
            table[__VU].text += __VU;
            own.push(first.up());
            sleep(0.002);
            counter.add(1);
            console.log(__VU, __ITER, order.join(), table.slice(0, 5).map((row) => row.text).join(), own.join(), countThen,
                first.cart.add(__VU), old.add(__VU), started instanceof Date, encoding.b64encode('y'), Object.keys(globalThis).join());
        }",
    );
    assert_eq!(users(&run), in_part("the init code reads __VU"));
    assert_eq!(run.count("hits"), 6);
    let line = &by_user(&run)["2"][1];
    assert!(
        line.starts_with(
            "1 first,old,second,clock,last,entry row0,row1,row222,changed,row4 2,2,3 1 2 "
        ),
        "{line}"
    );
}

#[test]
fn modules_in_circles_or_with_top_level_await_are_run_for_each_user() {
    let run = with_modules(
        &[
            ("plain.js", "globalThis.order = ['plain']; export const plain = 1;"),
            ("a.js", "import { b } from './b.js'; order.push('a'); export const a = () => 'a'; export const ab = b();"),
            ("b.js", "import { a } from './a.js'; order.push('b'); export const b = () => 'b' + typeof a;"),
            ("waits.js", "order.push('waits'); export const waited = await Promise.resolve(7); order.push('waited');"),
            ("after.js", "order.push('after'); export const after = 1;"),
        ],
        "import { plain } from './plain.js'; import { ab } from './a.js'; import { waited } from './waits.js';
        import { after } from './after.js';
        order.push('entry'); const value = __VU;
        export default function () { console.log(__VU, __ITER, order.join(), plain, ab, waited, after, value); }",
    );
    assert_eq!(users(&run), in_part("the init code reads __VU"));
    assert_eq!(
        by_user(&run)["3"][0],
        "0 plain,b,a,waits,after,waited,entry 1 bfunction 7 1 3"
    );
}

#[test]
fn work_that_a_module_leaves_behind_runs_after_the_script() {
    let run = with_modules(
        &[
            (
                "first.js",
                "globalThis.order = ['first']; export const first = 1;",
            ),
            (
                "jobs.js",
                "Promise.resolve().then(() => order.push('job')); setTimeout(() => order.push('timer'), 1); export {}; order.push('jobs');",
            ),
            ("more.js", "export {}; order.push('more');"),
        ],
        "import { first } from './first.js'; import './jobs.js'; import './more.js';
        order.push('entry' + __VU);
        export default function () { console.log(__VU, __ITER, order.join(), first); }",
    );
    assert_eq!(users(&run), in_part("the init code reads __VU"));
    assert_eq!(
        by_user(&run)["1"][0],
        "0 first,jobs,more,entry1,job,timer 1"
    );
}

#[test]
fn commonjs_scripts_share_their_code() {
    let run = with_modules(
        &[
            ("lib.js", "const list = []; for (let i = 0; i < 100; i++) list.push(`row ${i}`); exports.list = list; exports.of = __VU;"),
        ],
        "const { sleep } = require('k6'); const lib = require('./lib.js');
        function tag(strings, value) { return strings.join('-') + value; }
        exports.default = function () {
            lib.list.push(__VU); sleep(0.002);
            console.log(__VU, __ITER, lib.list.length, lib.list.slice(-1)[0], lib.of, tag`a${__VU}b`);
        };
        exports.options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };",
    );
    assert_eq!(users(&run), in_part("the init code reads __VU"));
    assert_eq!(by_user(&run)["2"][1], "1 102 2 2 a-b2");
}

#[test]
fn errors_in_the_rest_of_the_init_code_are_reported() {
    let run = with_modules(
        &[("lib.js", "export const lib = 1;")],
        "import { lib } from './lib.js';
        if (__VU === 2) throw new Error('not for ' + __VU);
        export default function () { console.log(__VU, lib); }",
    );
    assert_eq!(users(&run), in_part("the init code reads __VU"));
    let reason = format!("{:?}", run.aborted);
    assert!(
        matches!(run.aborted, Some(AbortReason::UserException(..))),
        "{reason}"
    );
    assert!(reason.contains("not for 2"), "{reason}");
}
