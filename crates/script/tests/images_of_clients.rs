//! Clients and sockets that init code has created, with an image of the heap and without.

mod pairs;
mod running;

use pairs::{Users, by_user, compare, script, users};

#[test]
fn clients_that_init_made_connect_for_each_user() {
    let run = compare(
        "
        import { sleep } from 'k6';
        import sql from 'k6/x/sql';
        import driver from 'k6/x/sql/driver/sqlite3';
        import redis from 'k6/x/redis';
        import mqtt from 'k6/x/mqtt';
        import tcp from 'k6/x/tcp';
        import csv from 'k6/experimental/csv';
        import { open as openFile } from 'k6/experimental/fs';
        import { ReadableStream } from 'k6/experimental/streams';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 3 } } };
        const db = sql.open(driver, ':memory:');
        const cache = new redis.Client('redis://127.0.0.1:9');
        const broker = new mqtt.Client({ tags: { a: 'b' } });
        const socket = new tcp.Socket();
        let pulled = 0;
        const stream = new ReadableStream({ pull(controller) { controller.enqueue(++pulled); } }, { highWaterMark: 0 });
        const reader = stream.getReader();
        let parser;
        (async () => { parser = new csv.Parser(await openFile('files/d.csv')); await parser.next(); })();
        export default async function () {
            if (__ITER === 0) db.exec('create table t (n integer)');
            db.exec('insert into t values (?)', __VU);
            sleep(0.002);
            const row = await parser.next();
            const rows = db.query('select count(*) as c, sum(n) as s from t');
            let refused = '';
            try { await cache.get('x'); } catch (e) { refused = String(e).length > 0; }
            const piece = await reader.read();
            sleep(0.001);
            socket['mine' + __VU] = true;
            console.log(__VU, __ITER, JSON.stringify(rows), JSON.stringify(row), refused, JSON.stringify(piece),
                broker.connected, Object.keys(socket).join());
        }",
    );
    assert_eq!(users(&run), Users::Together, "{:?}", run.log);
    let line = &by_user(&run)["2"][2];
    assert!(line.contains(r#"[{"c":3,"s":6}]"#), "{line}");
}

#[test]
fn init_code_that_uses_a_database_or_a_socket_runs_once_for_each_user() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.sqlite");
    let text = format!(
        "
        import sql from 'k6/x/sql';
        import driver from 'k6/x/sql/driver/sqlite3';
        export const options = {{ scenarios: {{ a: {{ executor: 'per-vu-iterations', vus: 3, iterations: 1 }} }} }};
        const db = sql.open(driver, '{}');
        db.exec('create table if not exists t (n integer)');
        db.exec('insert into t values (1)');
        export default function () {{ console.log(__VU, db.query('select count(*) as c from t')[0].c); }}",
        file.display()
    );
    let run = script(&text).with_image().run();
    let reason = "the init code uses a database".to_owned();
    assert_eq!(users(&run), Users::InPart(reason), "{:?}", run.log);
    // One row of the first run of the init code, and one of each user.
    assert_eq!(by_user(&run)["3"], ["4"]);
    let run = compare(
        "
        import udp from 'k6/x/udp';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 1 } } };
        const socket = udp.connect('127.0.0.1:9');
        export default function () { console.log(__VU, socket.remoteAddr()); }",
    );
    let reason = "the init code opens a UDP connection".to_owned();
    assert_eq!(users(&run), Users::InPart(reason), "{:?}", run.log);
}
