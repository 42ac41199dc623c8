//! `k6/x/sql` with MariaDB, and with peers that are not MySQL databases.

#[path = "extension_scripts/run.rs"]
mod run;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use plimsoll_testground::MariaDb;
use plimsoll_testkit::ports;
use run::{counted, lines};

const SCRIPT: &str = r#"
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/mysql';
const db = sql.open(driver, __ENV.URL);
export const options = { vus: 1, iterations: 2 };
export function setup() {
  const made = db.exec(`CREATE TABLE roster (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50), score DECIMAL(8,2),
    born DATE, at DATETIME(3), ok BOOLEAN, data BLOB, share DOUBLE, ratio FLOAT, big BIGINT UNSIGNED, span TIME,
    year YEAR, bits BIT(8), kind ENUM('x', 'y'), doc JSON) CHARACTER SET utf8mb4`);
  console.log('made', made.rowsAffected());
  console.log('two', db.exec("INSERT INTO roster (name) VALUES ('a'), ('b')").rowsAffected());
}
export function teardown() { db.close(); }
export default function () {
  const added = db.exec(
    'INSERT INTO roster VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?)',
    'Zoë', 12.5, '2000-02-29', new Date(1700000000123), true, new Uint8Array([0, 255]).buffer, 0.1, 0.5,
    '18446744073709551615', '-26:03:04', 2026, 5, 'y', '{"a": [1]}');
  console.log('added', added.rowsAffected(), added.lastInsertId());
  // As a text query, and as a prepared statement.
  const id = added.lastInsertId();
  const fields = 'name, score, born, at, ok, share, ratio, big, span, year, kind, doc';
  console.log(JSON.stringify(db.query(`SELECT ${fields} FROM roster WHERE id = ${id}`)));
  console.log(JSON.stringify(db.query(`SELECT ${fields} FROM roster WHERE id = ?`, id)));
  const [row] = db.query('SELECT data, bits, name, NULL AS nothing FROM roster WHERE id = ?', id);
  console.log(Array.from(row.data), Array.from(row.bits), `${row.name}`, row.name.length, row.nothing);
  console.log(String.fromCharCode(...db.query("SELECT 'plain' AS x")[0].x));
  console.log(JSON.stringify(sql.query(db, 'SELECT name, score FROM roster WHERE score IS NULL ORDER BY name')));
  console.log('changed', db.exec("UPDATE roster SET name = 'c' WHERE name IN ('a', 'b', 'c') AND score IS NULL").rowsAffected());
  try { db.query('SELECT * FROM none'); } catch (e) { console.log(e.message); }
  try { db.query('SELECT ? + ?', 1); } catch (e) { console.log(e.message); }
  try { db.exec('SELECT 1; SELECT 2'); } catch (e) { console.log('one statement only'); }
  try { db.queryWithTimeout('200ms', 'SELECT SLEEP(30)'); } catch (e) { console.log(e.message); }
  console.log(JSON.stringify(db.queryWithTimeout('10s', "SELECT 'again' AS x, REPEAT('z', 70000) AS y")).length);
  try { db.exec('SELECT ?', {}); } catch (e) { console.log(e.name); }
}
"#;

#[test]
fn scripts_use_mariadb() {
    let server = MariaDb::start();
    let ended = run::run(SCRIPT, &server.url());
    let shown = lines(&ended);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let row = concat!(
        r#"[{"name":"Zoë","score":"12.50","born":"2000-02-29","at":"2023-11-14 22:13:20.123","ok":1,"share":0.1,"#,
        r#""ratio":0.5,"big":18446744073709552000,"span":"-26:03:04","year":2026,"kind":"y","doc":"{\"a\": [1]}"}]"#
    );
    assert_eq!(
        shown[..9],
        [
            "made 0",
            "two 2",
            "added 1 3",
            row,
            row,
            "[ 0, 255 ] [ 5 ] Zoë 4 null",
            "plain",
            r#"[{"name":"a","score":null},{"name":"b","score":null}]"#,
            "changed 2",
        ],
        "{}",
        ended.stderr
    );
    assert_eq!(
        shown[9],
        "Error 1146 (42S02): Table 'test.none' doesn't exist"
    );
    assert_eq!(
        shown[10..15],
        [
            "the query has 2 placeholders, and 1 values were given",
            "one statement only",
            "no result within 200ms",
            "70022",
            "TypeError"
        ]
    );
    // In the second iteration, the names have already been changed.
    assert!(shown.contains(&"changed 0".to_owned()), "{shown:?}");
    // Two calls in setup, and twelve in each iteration. Four of the twelve fail.
    let failed = counted(&ended, &["sql_query_failed"])[0].unwrap();
    assert!((failed - 8.0 / 26.0).abs() < 1e-9, "{failed}");
    let count = server.sql("SELECT COUNT(*) FROM test.roster WHERE score = 12.5 AND bits = 5");
    assert_eq!(count, "2");
}

#[test]
fn the_parameters_of_an_address_count() {
    let server = MariaDb::start();
    let script = r#"
        import sql from 'k6/x/sql';
        const db = sql.open('mysql', `${__ENV.URL}?parseTime=true&multiStatements=true&clientFoundRows=true&sql_mode=%27ANSI%27&charset=utf8mb4`);
        export default function () {
          console.log(db.exec('CREATE TABLE t (n INT, d DATE, z DATETIME); INSERT INTO t VALUES (1, "2000-02-29", NULL), (2, NULL, NULL)'.replaceAll('"', "'")).rowsAffected());
          console.log(JSON.stringify(db.query('SELECT n, d FROM t ORDER BY n')), db.query('SELECT d FROM t')[0].d instanceof Date);
          console.log(JSON.stringify(db.query('SELECT d FROM t WHERE n = ?', 1)));
          console.log(db.exec('UPDATE t SET n = 1 WHERE n = 1').rowsAffected());
          console.log(`${db.query('SELECT @@sql_mode AS m')[0].m}`.includes('ANSI_QUOTES'));
          console.log(JSON.stringify(db.query('SELECT 1 AS a; SELECT 2 AS b')));
        }"#;
    let ended = run::run(script, &server.url());
    let expected = [
        "2",
        r#"[{"n":1,"d":"2000-02-29T00:00:00.000Z"},{"n":2,"d":null}] true"#,
        r#"[{"d":"2000-02-29T00:00:00.000Z"}]"#,
        "1",
        "true",
        r#"[{"a":1}]"#,
    ];
    assert_eq!(lines(&ended), expected, "{}", ended.stderr);

    let wrong = server.url().replace("plimsoll:", "plimsoll:x");
    let script = r#"
        import sql from 'k6/x/sql';
        const db = sql.open('mysql', __ENV.URL);
        export default function () {
          try { db.query('SELECT 1'); console.log('got'); } catch (e) { console.log(e.message); }
        }"#;
    let shown = lines(&run::run(script, &wrong));
    assert!(
        shown[0].contains("Access denied") && shown[0].contains("1045"),
        "{shown:?}"
    );
    assert!(!shown[0].contains("p@ss"), "{shown:?}");
    let unknown = server.url().replace("/test", "/none");
    let shown = lines(&run::run(script, &unknown));
    assert!(shown[0].contains("Unknown database"), "{shown:?}");
}

#[test]
fn a_mariadb_that_restarts_is_reported_and_used_again() {
    let mut server = MariaDb::start();
    let script = r#"
        import sql from 'k6/x/sql';
        import { sleep } from 'k6';
        const db = sql.open('mysql', __ENV.URL);
        export default function () {
          console.log('start', db.query('SELECT 1 AS x')[0].x);
          let failures = 0;
          for (let i = 0; i < 300; i += 1) {
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
    let mut running = run::program(script, &server.url(), &["--log-output", "stdout"]).start();
    assert_eq!(running.line(), "start 1");
    server.kill();
    let failure = running.line();
    assert!(
        failure.contains("closed") || failure.contains("reset") || failure.contains("connect"),
        "{failure}"
    );
    server.restart();
    assert_eq!(running.line(), "again");
    assert_eq!(running.wait().status, Some(0));
}

/// The length, the number and the content of a packet.
fn packet(number: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    [&length[..3], &[number], content].concat()
}

fn greeting() -> Vec<u8> {
    let mut content = b"\x0a8.0\0\x01\0\0\0abcdefgh\0\xff\xf7\x2d\x02\0\xff\xdf\x15".to_vec();
    content.extend([0; 10]);
    content.extend(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &content)
}

#[test]
fn peers_that_are_not_mysql_are_reported() {
    let script = r#"
        import sql from 'k6/x/sql';
        const db = sql.open('mysql', `u:secret@tcp(${__ENV.URL})/d`);
        export default function () {
          try { console.log(JSON.stringify(db.query('SELECT 1'))); } catch (e) { console.log(e.message); }
        }"#;
    let shown = lines(&run::run(script, &ports::closed().to_string()));
    assert!(
        shown[0].contains("cannot connect to MySQL") && shown[0].contains("refused"),
        "{shown:?}"
    );

    let accepted = packet(2, b"\0\0\0\x02\0\0\0");
    let after_login = |response: &[u8]| [&accepted[..], response].concat();
    let like = "does not respond like a MySQL database";
    let closed = "the database closed the connection";
    for (first, then, expected) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec![], like),
        (vec![], vec![], closed),
        (packet(0, b"\x09"), vec![], like),
        (
            packet(0, b"\xff\x10\x04Too many connections"),
            vec![],
            "Error 1040: Too many connections",
        ),
        (packet(7, b"\x0a"), vec![], like),
        (vec![0xFF, 0xFF, 0xFF, 0], vec![], closed),
        (
            greeting(),
            packet(2, b"\xfesha256_password\0abc"),
            "requires sha256_password",
        ),
        (greeting(), packet(2, b"\x01\x04"), closed),
        (
            greeting(),
            packet(2, b"\x01no key"),
            "public key is malformed",
        ),
        (greeting(), packet(2, b"\x55"), like),
        (
            greeting(),
            after_login(&packet(1, b"\xfbfile")),
            "requests a file",
        ),
        (greeting(), after_login(&packet(1, b"\x01")), closed),
        (
            greeting(),
            after_login(&[packet(1, b"\x01"), packet(2, b"\x03")].concat()),
            like,
        ),
        (greeting(), after_login(&packet(1, b"")), like),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream
                .set_read_timeout(Some(Duration::from_millis(500)))
                .unwrap();
            let _ = stream.write_all(&first);
            let mut bytes = [0; 1000];
            // The login, and then the query.
            let _ = stream.read(&mut bytes);
            let _ = stream.write_all(&then);
            let _ = stream.read(&mut bytes);
        });
        let ended = run::run(script, &address.to_string());
        let shown = lines(&ended);
        assert!(
            shown[0].contains(expected) || (expected == closed && shown[0].contains("reset")),
            "{expected}: {shown:?}"
        );
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
    }
    for address in ["u:secret@tcp(h)", "u:secret@unix(/s)/d"] {
        let script = format!(
            "import sql from 'k6/x/sql'; sql.open('mysql', '{address}'); export default () => {{}};"
        );
        let ended = run::run(&script, "");
        assert!(ended.stderr.contains("invalid address"), "{}", ended.stderr);
    }
}
