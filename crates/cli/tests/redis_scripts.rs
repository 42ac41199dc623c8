//! `k6/x/redis` with a real server, and with peers that are not Redis servers.

mod plimsoll;

use std::io::Write;
use std::net::TcpListener;
use std::thread;

use plimsoll::RUN;
use plimsoll_testground::{Append, Redis};
use plimsoll_testkit::program::{Ended, Program};

fn run(script: &str, url: &str) -> Ended {
    Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(RUN)
        .args(["-e", &format!("URL={url}"), "-"])
        .input(script.as_bytes())
        .run()
}

const COMMANDS: &str = r#"
import redis from 'k6/x/redis';
import { Client } from 'k6/x/redis';
const client = new Client(__ENV.URL);
const show = async (name, promise) => {
  try { console.log(name, JSON.stringify(await promise)); } catch (e) { console.log(name, 'threw', e.message); }
};
export const options = { iterations: 2, vus: 1 };
export default async function () {
  if (__ITER === 1) return show('kept', client.get('kept'));
  console.log(typeof redis.Client);
  await show('set', client.set('kept', 'yes', 0));
  await show('get', client.get('kept'));
  await show('missing', client.get('none'));
  await show('number', client.set('n', 41));
  await show('incr', client.incr('n'));
  await show('incrBy', client.incrBy('n', 8));
  await show('decr', client.decrBy('n', 10));
  await show('exists', client.exists('n', 'kept', 'none'));
  await show('mget', client.mget('n', 'none'));
  await show('expiring', client.set('short', true, 100));
  await show('ttl', client.ttl('short'));
  await show('persist', client.persist('short'));
  await show('expire', client.expire('none', 5));
  await show('list', client.rpush('l', 'a', 'b', 'c'));
  await show('range', client.lrange('l', 0, -1));
  await show('pop', client.lpop('l'));
  await show('hash', client.hset('h', 'f', 'v'));
  await show('all', client.hgetall('h'));
  await show('not set again', client.hsetnx('h', 'f', 'w'));
  await show('members', client.sadd('s', 'x', 'y').then(() => client.sismember('s', 'x')));
  await show('wrong type', client.incr('kept'));
  await show('own', client.sendCommand('ECHO', 'text'));
  await show('nothing', client.sendCommand('GET', 'none'));
  await show('several', Promise.all([client.get('n'), client.llen('l'), client.hlen('h')]));
  try { client.set('k', {}); } catch (e) { console.log(e.name); }
}
"#;

#[test]
fn scripts_use_redis() {
    let server = Redis::start(Append::EverySecond);
    let ended = run(COMMANDS, &server.url());
    let expected = [
        "function",
        "set \"OK\"",
        "get \"yes\"",
        "missing threw redis: nil",
        "number \"OK\"",
        "incr 42",
        "incrBy 50",
        "decr 40",
        "exists 2",
        "mget [\"40\",null]",
        "expiring \"OK\"",
        "ttl 100",
        "persist true",
        "expire false",
        "list 3",
        "range [\"a\",\"b\",\"c\"]",
        "pop \"a\"",
        "hash 1",
        "all {\"f\":\"v\"}",
        "not set again false",
        "members true",
    ];
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(
        lines.get(..expected.len()),
        Some(&expected[..]),
        "{}",
        ended.stderr
    );
    let rest = &lines[expected.len()..];
    // In the words of the server.
    let wrong = "wrong type threw ERR value is not an integer or out of range";
    assert_eq!(rest[0], wrong);
    assert_eq!(
        rest[1..],
        [
            "own \"text\"",
            "nothing threw redis: nil",
            "several [\"40\",2,1]",
            "TypeError",
            "kept \"yes\""
        ]
    );
    assert_eq!(ended.status, Some(0));
}

#[test]
fn other_peers_than_redis_reject_the_promise() {
    let script = r#"
        import { Client } from 'k6/x/redis';
        const client = new Client(__ENV.URL);
        export default async function () {
          try { await client.get('a'); console.log('got'); } catch (e) { console.log('threw', e.name); }
        }"#;
    let named = script.replace("e.name", "e.message");
    let ended = run(&named, "redis://127.0.0.1:1");
    let refused = "threw dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!(ended.stderr.trim(), refused);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
    });
    let ended = run(script, &format!("redis://{address}"));
    serving.join().unwrap();
    assert_eq!(ended.stderr.trim(), "threw GoError", "{}", ended.stderr);
}

#[test]
fn the_rules_of_the_run_apply_and_bytes_are_counted() {
    let server = Redis::start(Append::Never);
    let script = r#"
        import { Client } from 'k6/x/redis';
        const host = __ENV.URL.split('/')[2];
        export const options = { hosts: { 'cache.test': host }, blockHostnames: ['blocked.test'], thresholds: { data_sent: ['count>1000'], data_received: ['count>1000'] } };
        const client = new Client('redis://cache.test:1');
        const blocked = new Client('redis://blocked.test:1');
        export default async function () {
          await client.set('a', 'b'.repeat(1000));
          console.log((await client.get('a')).length);
          try { await blocked.get('a'); } catch (e) { console.log(e.message); }
        }"#;
    let ended = run(script, &server.url());
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines[0], "1000", "{}", ended.stderr);
    assert!(lines[1].contains("blocked.test"), "{}", ended.stderr);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

#[test]
fn other_extensions_are_refused_with_a_list() {
    let ended = run(
        "import x from 'k6/x/kafka'; export default function () {}",
        "",
    );
    assert!(
        ended.stderr.contains("Plimsoll has k6/x/redis"),
        "{}",
        ended.stderr
    );
}
