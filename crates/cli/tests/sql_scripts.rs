//! `k6/x/sql` with PostgreSQL and SQLite, and with peers that are not databases.

#[path = "extension_scripts/run.rs"]
mod run;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use plimsoll_testground::Postgres;
use plimsoll_testkit::ports;
use run::{counted, lines};

const POSTGRES: &str = r#"
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/postgres';
const db = sql.open(driver, __ENV.URL);
export const options = { vus: 1, iterations: 2 };
export function setup() {
  const made = db.exec(`CREATE TABLE roster (id SERIAL PRIMARY KEY, name TEXT, score NUMERIC(8,2), born DATE,
    at TIMESTAMPTZ, ok BOOLEAN, data BYTEA, doc JSONB, mood UUID, share FLOAT8, big BIGINT);
    INSERT INTO roster (name) VALUES ('a'), ('b');`);
  console.log('made', made.rowsAffected());
}
export function teardown() { db.close(); }
export default function () {
  const added = db.exec(
    'INSERT INTO roster (name, score, born, at, ok, data, doc, mood, share, big) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)',
    'Peter', 12.5, '2000-02-29', new Date(1700000000123), true, new Uint8Array([0, 255]).buffer, '{"a": [1]}',
    '6f9619ff-8b86-d011-b42d-00cf4fc964ff', 0.1, 9007199254740991);
  console.log('added', added.rowsAffected());
  const [row] = db.query('SELECT * FROM roster WHERE name = $1 ORDER BY id LIMIT 1', 'Peter');
  console.log(JSON.stringify({ ...row, data: Array.from(new Uint8Array(row.data)) }));
  const rows = sql.query(db, 'SELECT name, score FROM roster WHERE score IS NULL ORDER BY name');
  console.log(JSON.stringify(rows));
  console.log(JSON.stringify(db.query('SELECT count(*), $1::int + 1 AS next FROM roster', 41)));
  try { db.query('SELECT * FROM none'); } catch (e) { console.log(e.message); }
  try { db.query("SELECT '(1,2)'::point AS p"); } catch (e) { console.log(e.message); }
  try { db.queryWithTimeout('200ms', 'SELECT pg_sleep(30)'); } catch (e) { console.log(e.message); }
  console.log(JSON.stringify(db.queryWithTimeout('10s', "SELECT 'again' AS x")));
  try { added.lastInsertId(); } catch (e) { console.log('no id'); }
  try { db.exec('SELECT $1', {}); } catch (e) { console.log(e.name); }
}
"#;

#[test]
fn scripts_use_postgresql() {
    let server = Postgres::start();
    let ended = run::run(POSTGRES, &format!("{}?sslmode=disable", server.database()));
    let shown = lines(&ended);
    let row = concat!(
        r#"{"id":3,"name":"Peter","score":"12.50","born":"2000-02-29T00:00:00.000Z","#,
        r#""at":"2023-11-14T22:13:20.123Z","ok":true,"data":[0,255],"doc":"{\"a\": [1]}","#,
        r#""mood":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","share":0.1,"big":9007199254740991}"#
    );
    assert_eq!(
        shown[..5],
        [
            "made 2",
            "added 1",
            row,
            r#"[{"name":"a","score":null},{"name":"b","score":null}]"#,
            r#"[{"count":3,"next":42}]"#,
        ],
        "{}",
        ended.stderr
    );
    assert_eq!(shown[5], r#"ERROR: relation "none" does not exist (42P01)"#);
    assert!(
        shown[6].contains("column p: the type point is not supported"),
        "{shown:?}"
    );
    assert_eq!(shown[7], "no result within 200ms");
    assert_eq!(shown[8..11], [r#"[{"x":"again"}]"#, "no id", "TypeError"]);
    assert_eq!(shown.len(), 1 + 2 * 10, "{shown:?}");
    assert_eq!(ended.status, Some(0));
    // One call in setup, and eight in each iteration. Three of the eight fail.
    let failed = counted(&ended, &["sql_query_failed"])[0].unwrap();
    assert!((failed - 6.0 / 17.0).abs() < 1e-9, "{failed}");
}

#[test]
fn a_database_that_restarts_is_reported_and_used_again() {
    let mut server = Postgres::start();
    let url = format!("{}?sslmode=disable", server.database());
    let script = r#"
        import sql from 'k6/x/sql';
        import { sleep } from 'k6';
        const db = sql.open('postgres', __ENV.URL);
        export const options = { vus: 1, iterations: 1 };
        export default function () {
          console.log('start', db.query('SELECT 1 AS x')[0].x);
          let failures = 0;
          for (let i = 0; i < 200; i += 1) {
            try {
              db.query('SELECT 1');
              if (failures > 0) { console.log('again'); return; }
            } catch (e) {
              failures += 1;
              if (failures === 1) console.log(e.message);
            }
            sleep(0.1);
          }
        }"#;
    let mut running = run::program(script, &url, &["--log-output", "stdout"]).start();
    assert_eq!(running.line(), "start 1");
    server.kill();
    let failure = running.line();
    // The first symptom that the script sees depends on when the server's processes exit.
    let expected = ["closed", "connect", "reset by peer", "terminating"];
    let is_expected = expected.iter().any(|words| failure.contains(words));
    assert!(is_expected, "{failure}");
    server.restart();
    assert_eq!(running.line(), "again");
    assert_eq!(running.wait().status, Some(0));
}

#[test]
fn scripts_use_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        import sql from 'k6/x/sql';
        import driver from 'k6/x/sql/driver/sqlite3';
        const db = sql.open(driver, __ENV.URL);
        db.exec('CREATE TABLE IF NOT EXISTS keyvalues (id integer PRIMARY KEY AUTOINCREMENT, key varchar NOT NULL, value blob);');
        export const options = { vus: 4, iterations: 40 };
        export default function () {
          const result = db.exec('INSERT INTO keyvalues (key, value) VALUES (?, ?), (?, ?)', 'a', 1.5, 'b', null);
          if (result.rowsAffected() !== 2 || !(result.lastInsertId() > 1)) console.log('wrong', result.rowsAffected());
        }
        export function teardown() {
          console.log(JSON.stringify(db.query('SELECT key, value, count(*) AS n FROM keyvalues GROUP BY key ORDER BY key')));
          try { db.query('SELEC 1'); } catch (e) { console.log(e.message); }
          db.close();
        }"#;
    let file = folder.path().join("test.db");
    let ended = run::run(script, &file.to_string_lossy());
    let shown = lines(&ended);
    let rows = r#"[{"key":"a","value":1.5,"n":40},{"key":"b","value":null,"n":40}]"#;
    assert_eq!(shown[0], rows, "{}", ended.stderr);
    assert!(shown[1].contains("syntax error"), "{shown:?}");
    assert_eq!(shown.len(), 2, "{shown:?}");
}

#[test]
fn peers_that_are_not_a_database_are_reported() {
    let script = r#"
        import sql from 'k6/x/sql';
        const db = sql.open('postgres', __ENV.URL);
        export default function () {
          try { db.query('SELECT 1'); console.log('got'); } catch (e) { console.log(e.message); }
        }"#;
    let url = |address: std::net::SocketAddr| format!("postgres://a:b@{address}/c?sslmode=disable");
    let ended = run::run(script, &url(ports::closed()));
    assert!(
        ended.stderr.contains("cannot connect to PostgreSQL") && ended.stderr.contains("refused"),
        "{}",
        ended.stderr
    );

    for response in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"",
        b"R\xff\xff\xff\xff\0\0",
        b"R\0\0\0\x08\0\0\0\x63",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 100]);
            let _ = stream.write_all(response);
        });
        let ended = run::run(script, &url(address));
        assert!(
            ended.stderr.contains("cannot connect to PostgreSQL"),
            "{response:?}: {}",
            ended.stderr
        );
    }
    for (driver, address, expected) in [
        ("oracle", "x", "there is no driver oracle"),
        ("postgres", "postgres://", "invalid address"),
    ] {
        let script = format!(
            "import sql from 'k6/x/sql'; sql.open('{driver}', '{address}'); export default () => {{}};"
        );
        let ended = run::run(&script, "");
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}
