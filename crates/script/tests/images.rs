//! Tests that users with an image of the heap behave like users with their own runtimes.

mod pairs;
mod running;

use std::fs;
use std::path::Path;

use pairs::{Users, compare, script, users};
use running::Script;

#[test]
fn state_of_modules_is_that_of_each_user() {
    let run = compare(
        "
        import { sleep, group } from 'k6';
        import exec from 'k6/execution';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 5, iterations: 4 } } };
        const seen = new Map(), counts = { all: 0 };
        class Cart { #items = []; add(x) { this.#items.push(x); return this; } get text() { return this.#items.join('+'); } }
        const cart = new Cart();
        var loose = 0;
        const later = [];
        function* steps() { let n = 0; for (;;) n += yield n; }
        const walk = steps();
        walk.next();
        export default async function () {
            counts.all += 1;
            loose += __VU;
            counts['of' + __VU] = (counts['of' + __VU] || 0) + 1;
            seen.set(counts.all, __ITER);
            sleep(0.003);
            cart.add(__VU * 10 + __ITER);
            later.push(await new Promise((done) => setTimeout(() => done(loose), 2)));
            group('g' + __VU, () => sleep(0.002));
            globalThis.mine = (globalThis.mine || '') + __VU;
            console.log(__VU, __ITER, JSON.stringify(counts), loose, [...seen].join(';'), cart.text, later.join(),
                walk.next(__VU).value, mine, exec.vu.idInTest, Object.keys(globalThis).join());
        }",
    );
    assert_eq!(users(&run), Users::Together, "{:?}", run.log);
    assert_eq!(run.count("iterations"), 20);
}

#[test]
fn objects_of_the_host_that_init_made_belong_to_each_user() {
    let run = compare(
        "
        import { sleep, randomSeed } from 'k6';
        import { SharedArray } from 'k6/data';
        import { Counter, Trend } from 'k6/metrics';
        import crypto from 'k6/crypto';
        import http from 'k6/http';
        import { parseHTML } from 'k6/html';
        import { open as openFile } from 'k6/experimental/fs';
        import grpc from 'k6/net/grpc';
        import encoding from 'k6/encoding';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
        randomSeed(42);
        const rows = new SharedArray('rows', () => [{ a: 1 }, { a: 2 }, { a: 3 }]);
        const hits = new Counter('hits'), times = new Trend('times', true);
        const hasher = crypto.createHash('sha256');
        hasher.update('from init');
        const jar = new http.CookieJar();
        jar.set('http://a.test/', 'init', 'yes');
        const page = parseHTML('<p class=x>one</p><p>two</p>');
        const client = new grpc.Client();
        const decoder = new TextDecoder('utf-8');
        const half = encoding.b64decode('4oI=', 'std');
        const text = open('files/d.csv');
        let file;
        (async () => { file = await openFile('files/m.csv'); })();
        const { subtle } = globalThis.crypto, cipher = { name: 'AES-CBC', iv: new Uint8Array(16) };
        let key;
        (async () => { key = await subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', true, ['encrypt']); })();
        __ENV.CHANGED = 'in init';
        http.setResponseCallback(http.expectedStatuses(200, { min: 300, max: 302 }));
        export default async function () {
            hits.add(__VU);
            times.add(__ITER);
            hasher.update('user ' + __VU);
            jar.set('http://a.test/', 'user', String(__VU));
            jar.set('http://a.test/', 'turn' + __ITER, 'x');
            sleep(0.002);
            const piece = new Uint8Array(2);
            const read = await file.read(piece);
            sleep(0.002);
            const secret = new Uint8Array(await subtle.encrypt(cipher, key, new Uint8Array([__VU, __ITER])));
            let connected = '';
            try { client.invoke('a.B/C', {}); } catch (e) { connected = e.message; }
            console.log(__VU, __ITER, rows[__ITER].a, rows.length, hasher.digest('hex'),
                JSON.stringify(jar.cookiesForURL('http://a.test/')), page.find('p').text(), read, piece.join(), secret.join(),
                connected, decoder.decode(half, { stream: true }), text.length, Math.random(), __ENV.CHANGED, __ENV.SET);
            __ENV.CHANGED = 'by ' + __VU;
        }",
    );
    assert_eq!(users(&run), Users::Together, "{:?}", run.log);
    assert_eq!(run.count("hits"), 12);
}

#[test]
fn users_that_throw_reject_and_run_on() {
    let run = compare(
        "
        import { sleep } from 'k6';
        import exec from 'k6/execution';
        export const options = { scenarios: {
            a: { executor: 'shared-iterations', vus: 4, iterations: 24, exec: 'a' },
            b: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s', exec: 'b' } } };
        const log = [];
        let calls = 0;
        function fail(depth) { if (depth === 0) { sleep(0.001); throw new TypeError('deep'); } return fail(depth - 1); }
        export function a() {
            calls++;
            try { fail(7); } catch (e) { log.push(e.stack.split('\\n').length); }
            if (calls % 3 === 0) throw new Error('third');
            if (calls % 3 === 1) Promise.reject(new Error('unhandled'));
            sleep(0.001);
            if (log.length !== calls) console.log('a wrong', log.length, calls);
        }
        const table = {};
        export function b() {
            const key = 'k' + exec.vu.idInTest;
            for (;;) { table[key] = (table[key] || 0) + 1; if (Object.keys(table).length !== 1) console.log('b wrong'); sleep(0.001); }
        }
        export function setup() { console.log('setup', log.length); return { from: 'setup' }; }
        export function teardown(data) { console.log('teardown', log.length, data.from); }",
    );
    assert_eq!(users(&run), Users::Together, "{:?}", run.log);
    let thrown = run.log.iter().filter(|line| line.contains("third")).count();
    assert!(thrown > 0, "{:?}", run.log);
}

#[test]
fn users_that_write_to_many_pages_get_a_runtime_each() {
    let run = compare(
        "
        import { sleep } from 'k6';
        export const options = { scenarios: {
            a: { executor: 'per-vu-iterations', vus: 2, iterations: 2, exec: 'write' },
            b: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '100ms', target: 1 }, { duration: '200ms', target: 3 }],
                exec: 'wait' } } };
        const rows = [];
        for (let i = 0; i < 5000; i++) rows.push({ n: 0, name: 'row' + i });
        export function write() {
            for (const row of rows) row.n += __VU;
            sleep(0.01);
            let sum = 0;
            for (const row of rows) sum += row.n;
            console.log(__VU, __ITER, sum);
        }
        export function wait() { sleep(0.05); }",
    );
    assert_eq!(users(&run), Users::Together, "{:?}", run.log);
}

#[test]
fn observed_scripts_do_the_same_with_an_image() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/observed");
    let mut together = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let is_script = ["js", "ts"]
            .iter()
            .any(|end| path.extension() == Some(end.as_ref()));
        if !is_script {
            continue;
        }
        let name = path.display().to_string();
        let apart = Script::file(path.clone()).without_image().run();
        let run = Script::file(path).with_image().run();
        assert_eq!(apart.console(), run.console(), "{name}");
        together += usize::from(users(&run) == Users::Together);
    }
    assert!(together >= 5, "only {together} scripts had an image");
}

#[test]
fn memory_is_counted_by_kind() {
    let text = "
        import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 20, iterations: 1 } } };
        const rows = [];
        for (let i = 0; i < 2000; i++) rows.push({ i, text: 'row ' + i });
        let kept;
        export default function () {
            rows[__VU].i = -1;
            kept = new Uint8Array(100000);
            sleep(0.01);
            console.log(__VU, kept.length);
        }";
    let together = script(text).with_image().run().memory;
    assert_eq!((together.users, together.users_with_image), (20, 20));
    assert!(together.images > 200_000, "{together:?}");
    assert!(
        together.changes > 20 * 64 && together.changes < 20 * 8_000,
        "{together:?}"
    );
    assert!(
        together.objects > 20 * 100_000 && together.objects < 20 * 120_000,
        "{together:?}"
    );
    assert!(together.stacks >= 4096, "{together:?}");
    assert_eq!((together.heaps, together.connections), (0, 0));
    let apart = script(text).without_image().run().memory;
    assert_eq!(
        (apart.users, apart.users_with_image, apart.images),
        (20, 0, 0)
    );
    assert!(apart.heaps > 20 * 200_000, "{apart:?}");
    assert_eq!((apart.changes, apart.objects), (0, 0));
}
