//! `k6/x/sse`, `k6/x/tcp`, `k6/x/dns` and `plimsoll/data` with working servers and with misbehaving peers.

#[path = "extension_scripts/run.rs"]
mod run;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use plimsoll_testground::Dnsmasq;
use plimsoll_testkit::ports;
use run::{counted, lines};

/// A server that handles each connection with this function.
fn serve(each: impl Fn(TcpStream) + Send + Sync + Copy + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || each(stream));
        }
    });
    address
}

/// Reads a request. Returns its headers.
fn headers(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    if request.contains("Content-Length: 3\r\n") {
        // Closing a connection before everything was read would reset it.
        let _ = stream.read_exact(&mut [0; 3]);
    }
    request
}

const STREAM: &str = r#"
import sse from 'k6/x/sse';
import { open } from 'k6/x/sse';
export default function () {
  const params = { method: 'POST', body: 'ask', headers: { 'X-A': 'b' }, tags: { kind: 'stream' } };
  const response = sse.open(__ENV.URL, params, (client) => {
    client.on('open', () => console.log('open'));
    client.on('event', (event) => {
      console.log(JSON.stringify(event));
      if (event.id === '3') client.close();
    });
    client.on('error', (e) => console.log('error', e.error()));
  });
  console.log(response.status, response.headers['Content-Type'], response.error === '', typeof open);
}
"#;

#[test]
fn events_are_read_while_they_arrive() {
    let (sender, receiver) = mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    let sender: &'static std::sync::Mutex<mpsc::Sender<String>> = Box::leak(Box::new(sender));
    let address = serve(move |mut stream| {
        let request = headers(&mut stream);
        sender.lock().unwrap().send(request).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            .unwrap();
        let mut put = |text: &str| {
            let chunk = format!("{:x}\r\n{text}\r\n", text.len());
            let _ = stream.write_all(chunk.as_bytes());
            thread::sleep(Duration::from_millis(30));
        };
        put(": hi\nid: 1\ndata: a\n\nid: 2\nev");
        put("ent: named\ndata: {\"x\":1}\ndata: b\n\n");
        // The script closes the stream at this event, because the stream never ends.
        put("id: 3\ndata: c\n\nid: 4\ndata: d\n\n");
        thread::sleep(Duration::from_secs(60));
    });
    let ended = run::run(STREAM, &format!("http://{address}/events"));
    assert_eq!(
        lines(&ended),
        [
            "open",
            r#"{"id":"1","name":"","data":"a","comment":"hi"}"#,
            r#"{"id":"2","name":"named","data":"{\"x\":1}\nb","comment":""}"#,
            r#"{"id":"3","name":"","data":"c","comment":""}"#,
            "200 text/event-stream true function",
        ]
    );
    let request = receiver.recv().unwrap();
    assert!(
        request.starts_with("POST /events HTTP/1.1\r\n"),
        "{request}"
    );
    for field in ["Accept: text/event-stream", "X-A: b", "Content-Length: 3"] {
        assert!(request.contains(field), "{field}: {request}");
    }
    let figures = counted(&ended, &["sse_event", "http_reqs", "http_req_failed"]);
    assert_eq!(figures, [Some(3.0), Some(1.0), Some(0.0)]);
    assert!(counted(&ended, &["sse_time_to_first_event"])[0].is_some());
}

#[test]
fn streams_that_fail_are_reported() {
    let whole = serve(|mut stream| {
        headers(&mut stream);
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: only\n\ndata: cut");
    });
    let ended = run::run(STREAM, &format!("http://{whole}/"));
    let first = [
        "open",
        r#"{"id":"","name":"","data":"only","comment":""}"#,
        "200 undefined true function",
    ];
    assert_eq!(lines(&ended), first);

    let refused = serve(|mut stream| {
        headers(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\ndata: a\n\n");
    });
    let ended = run::run(STREAM, &format!("http://{refused}/"));
    assert_eq!(lines(&ended), ["503 undefined true function"]);

    let broken = serve(|mut stream| {
        headers(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\ndata: a\n\n");
    });
    let ended = run::run(STREAM, &format!("http://{broken}/"));
    let shown = lines(&ended);
    assert_eq!(
        shown[..2],
        ["open", r#"{"id":"","name":"","data":"a","comment":""}"#]
    );
    assert!(
        shown.iter().any(|line| line.starts_with("error ")),
        "{shown:?}"
    );
    assert!(shown.last().unwrap().starts_with("0 "), "{shown:?}");

    let ended = run::run(STREAM, &format!("http://{}/", ports::closed()));
    let shown = lines(&ended);
    assert!(
        shown
            .iter()
            .any(|line| line.contains("error ") && line.contains("refused")),
        "{shown:?}"
    );
}

const SOCKET: &str = r#"
import { Socket } from 'k6/x/tcp';
const text = (bytes) => String.fromCharCode.apply(null, new Uint8Array(bytes));
const [host, port] = __ENV.URL.split(':');
export default async function () {
  const socket = new Socket({ tags: { service: 'echo' } });
  const closed = new Promise((resolve) => socket.on('close', () => { console.log('close'); resolve(); }));
  socket.on('connect', () => console.log('connect', socket.ready_state, socket.connected));
  socket.on('error', (e) => console.log('error', e.message));
  socket.on('timeout', () => { console.log('timeout'); socket.destroy(); });
  let received = '';
  socket.on('data', (bytes) => {
    received += text(bytes);
    if (received.length === 11) {
      console.log(received, bytes instanceof Uint8Array, socket.bytes_read);
      socket.setTimeout(50);
    }
  });
  console.log(socket.ready_state, socket.local_ip);
  try {
    await socket.connect(port, host);
  } catch (e) {
    console.log('rejected', e.message);
    await closed;
    return;
  }
  console.log(socket.remote_ip, socket.remote_port === Number(port), socket.local_port > 0);
  await Promise.all([socket.write('hello'), socket.write('IHc=', { encoding: 'base64' }), socket.write('6f72', { encoding: 'hex' })]);
  await socket.write(new Uint8Array([108, 100]).buffer);
  await closed;
  console.log(socket.ready_state, socket.bytes_written);
  try { await socket.write('late'); } catch (e) { console.log('late', e.message); }
}
"#;

#[test]
fn scripts_use_tcp_sockets() {
    let echo = serve(|mut stream| {
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            stream.write_all(&bytes[..count]).unwrap();
        }
    });
    let ended = run::run(SOCKET, &echo.to_string());
    assert_eq!(
        lines(&ended),
        [
            "disconnected undefined",
            "connect open true",
            "127.0.0.1 true true",
            "hello world true 11",
            "timeout",
            "close",
            "destroyed 11",
            "late cannot write to a socket that is destroyed",
        ]
    );
    let names = [
        "tcp_sockets",
        "tcp_writes",
        "tcp_timeouts",
        "tcp_errors",
        "data_sent",
        "data_received",
    ];
    let expected = [
        Some(1.0),
        Some(4.0),
        Some(1.0),
        None,
        Some(11.0),
        Some(11.0),
    ];
    assert_eq!(counted(&ended, &names), expected);
}

#[test]
fn sockets_that_fail_are_reported() {
    let ended = run::run(SOCKET, &ports::closed().to_string());
    let shown = lines(&ended);
    assert!(
        shown[1].starts_with("error ") && shown[1].contains("refused"),
        "{shown:?}"
    );
    assert_eq!(shown[2], "close");
    assert!(shown[3].starts_with("rejected "), "{shown:?}");
    assert_eq!(
        counted(&ended, &["tcp_errors", "tcp_sockets"]),
        [Some(1.0), None]
    );

    // The peer closes immediately, so the script's promise of the end resolves.
    let hasty = serve(drop);
    let script = r#"
        import { Socket } from 'k6/x/tcp';
        const [host, port] = __ENV.URL.split(':');
        export default async function () {
          const socket = new Socket();
          const closed = new Promise((resolve) => socket.on('close', resolve));
          socket.on('error', (e) => console.log(e.message));
          await socket.connect({ host, port });
          await closed;
          console.log(socket.ready_state);
        }"#;
    let ended = run::run(script, &hasty.to_string());
    assert_eq!(lines(&ended), ["destroyed"]);
}

#[test]
fn an_interrupted_iteration_closes_its_sockets() {
    let (sender, receiver) = mpsc::channel();
    let sender: &'static std::sync::Mutex<mpsc::Sender<()>> =
        Box::leak(Box::new(std::sync::Mutex::new(sender)));
    let silent = serve(move |mut stream| {
        let mut bytes = [0; 64];
        while let Ok(1..) = stream.read(&mut bytes) {}
        let _ = sender.lock().unwrap().send(());
    });
    let script = r#"
        import { Socket } from 'k6/x/tcp';
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
        const [host, port] = __ENV.URL.split(':');
        export default async function () {
          const socket = new Socket();
          socket.on('close', () => console.log('never'));
          await socket.connect(Number(port), host);
          await socket.write('x');
        }"#;
    let ended = run::run(script, &silent.to_string());
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    receiver.recv_timeout(Duration::from_secs(5)).unwrap();
}

const NAMES: &str = r#"
import dns from 'k6/x/dns';
const show = async (name, promise) => {
  try { console.log(name, JSON.stringify(await promise)); } catch (e) { console.log(name, 'threw', e.message); }
};
export default async function () {
  await show('A', dns.resolve('a.test', 'A', __ENV.URL).then((all) => all.sort()));
  await show('AAAA', dns.resolve('a.test', 'AAAA', __ENV.URL));
  await show('none', dns.resolve('none.test', 'A', __ENV.URL));
  await show('several', Promise.all([1, 2, 3].map(() => dns.resolve('b.test', 'A', __ENV.URL))));
  await show('lookup', dns.lookup('localhost').then((all) => all.includes('127.0.0.1') || all.includes('::1')));
  try { dns.resolve('a.test', 'MX', __ENV.URL); } catch (e) { console.log(e.message); }
  try { dns.resolve('a.test', 'A', 'a:b:c'); } catch (e) { console.log(e.message); }
}
"#;

#[test]
fn scripts_query_a_name_server() {
    let server = Dnsmasq::start(&[
        "--host-record=a.test,192.0.2.7,2001:db8::7",
        "--host-record=a.test,192.0.2.8",
        "--host-record=b.test,192.0.2.9",
    ]);
    let ended = run::run(NAMES, &server.address().to_string());
    let shown = lines(&ended);
    assert_eq!(
        shown[..2],
        [r#"A ["192.0.2.7","192.0.2.8"]"#, r#"AAAA ["2001:db8::7"]"#],
        "{}",
        ended.stderr
    );
    assert!(
        shown[2].contains("none threw") && shown[2].contains("NXDOMAIN"),
        "{shown:?}"
    );
    assert_eq!(
        shown[3..5],
        [
            r#"several [["192.0.2.9"],["192.0.2.9"],["192.0.2.9"]]"#,
            "lookup true"
        ]
    );
    assert!(shown[5].contains("record type MX"), "{shown:?}");
    assert!(shown[6].contains("a:b:c"), "{shown:?}");
    let figures = counted(&ended, &["dns_resolutions", "dns_lookups"]);
    assert_eq!(figures, [Some(6.0), Some(1.0)]);
}

#[test]
fn name_servers_that_misbehave_are_reported() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut query) {
            // A response with a truncated record.
            let mut reply = query[..length].to_vec();
            reply[2] = 0x81;
            reply[7] = 1;
            reply.extend([0xc0, 12, 0]);
            let _ = socket.send_to(&reply, client);
        }
    });
    let script = r#"
        import dns from 'k6/x/dns';
        export const options = { blacklistIPs: ['192.0.2.0/24'] };
        export default async function () {
          for (const server of [__ENV.URL, '192.0.2.1:53']) {
            try { await dns.resolve('a.test', 'A', server); } catch (e) { console.log(e.message); }
          }
        }"#;
    let ended = run::run(script, &address.to_string());
    let shown = lines(&ended);
    assert!(shown[0].contains("malformed"), "{shown:?}");
    assert!(
        shown[1].contains("192.0.2.1") && shown[1].contains("192.0.2.0/24"),
        "{shown:?}"
    );
}

#[test]
fn secrets_come_from_a_server() {
    let (sender, receiver) = mpsc::channel();
    let sender: &'static std::sync::Mutex<mpsc::Sender<String>> =
        Box::leak(Box::new(std::sync::Mutex::new(sender)));
    let address = serve(move |mut stream| {
        let request = headers(&mut stream);
        let is_known = request.starts_with("GET /secrets/a%2Fb ");
        let is_first = sender.lock().unwrap().send(request).is_ok();
        let (status, body) = match is_known && is_first {
            true => ("200 OK", r#"{"data": {"value": "hush"}}"#),
            false => ("404 Not Found", ""),
        };
        let response = format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(response.as_bytes());
    });
    let script = r#"
        import secrets from 'k6/secrets';
        export const options = { vus: 2, iterations: 6 };
        export function setup() { return secrets.get('a/b').then((secret) => secret.length); }
        export default async function (length) {
          const secret = await secrets.get('a/b');
          if (secret.length !== length) throw new Error('another secret');
          console.log(`it is ${secret}`);
          if (__ITER === 0) { try { await secrets.source('vault').get('none'); } catch (e) { console.log(String(e)); } }
        }"#;
    let source = format!(
        "--secret-source=url=name=vault,urlTemplate=http://{address}/secrets/{{key}},headers.X-Token=t,responsePath=data.value"
    );
    let ended = run::run_with(script, "", &[&source]);
    let mut shown = lines(&ended);
    shown.sort();
    shown.dedup();
    assert_eq!(
        shown,
        [
            "it is ***SECRET_REDACTED***",
            "the source of secrets responded with status 404"
        ]
    );
    let requests: Vec<String> = receiver.try_iter().collect();
    let known = requests.iter().filter(|request| request.contains("/a%2Fb"));
    assert_eq!(known.count(), 1, "{requests:?}");
    assert!(requests[0].contains("X-Token: t"), "{requests:?}");
}

#[test]
fn feeders_give_each_row_once() {
    let script = r#"
        import { SharedArray } from 'k6/data';
        import { Feeder } from 'plimsoll/data';
        const rows = new SharedArray('rows', () => Array.from({ length: 40 }, (_, n) => ({ n })));
        const feeder = new Feeder('rows', rows, { atEnd: __ENV.URL });
        export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 8, iterations: 50 } } };
        export default function () {
          const row = feeder.next();
          console.log(row === null ? 'null' : row.n);
        }"#;
    let taken = |at_end: &str, more: &[&str]| {
        let ended = run::run_with(script, at_end, more);
        let mut taken: Vec<String> = lines(&ended);
        taken.sort_by_key(|line| line.parse::<u64>().unwrap_or(u64::MAX));
        taken
    };
    let each: Vec<String> = (0..40).map(|n: u64| n.to_string()).collect();
    let used = taken("null", &[]);
    assert_eq!(used[..40], each[..]);
    assert!(used[40..].iter().all(|line| line == "null"), "{used:?}");
    let used = taken("throw", &[]);
    assert_eq!(used[..40], each[..]);
    assert!(
        used[40..]
            .iter()
            .any(|line| line.contains("all 40 rows of the feeder rows are used")),
        "{used:?}"
    );
    assert_eq!(taken("repeat", &[]).len(), 50);

    // Two machines that divide the test use all rows, and no row twice.
    let parts = ["0:1/2", "1/2:1"].map(|segment| {
        let sequence = "--execution-segment-sequence=0,1/2,1";
        taken("null", &["--execution-segment", segment, sequence])
    });
    let mut both: Vec<u64> = parts
        .iter()
        .flatten()
        .filter_map(|line| line.parse().ok())
        .collect();
    both.sort_unstable();
    let unique: std::collections::BTreeSet<_> = both.iter().collect();
    assert_eq!(unique.len(), both.len(), "{parts:?}");
    assert!(parts.iter().all(|part| part.len() == 25), "{parts:?}");
}

#[test]
fn each_user_keeps_its_own_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accounts.csv");
    std::fs::write(&file, "name,password\na,1\nb,2\nc,3\nd,4\n").unwrap();
    let script = r#"
        import { open } from 'k6/experimental/fs';
        import csv from 'k6/experimental/csv';
        import { Feeder } from 'plimsoll/data';
        const rows = await csv.parse(await open(__ENV.URL), { asObjects: true });
        const feeder = new Feeder('accounts', rows);
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
        export default function () { console.log(__VU, feeder.own().name, feeder.own().password); }"#;
    let ended = run::run(script, &file.to_string_lossy());
    let mut shown = lines(&ended);
    shown.sort();
    assert_eq!(shown.len(), 12, "{}", ended.stderr);
    shown.dedup();
    assert_eq!(shown.len(), 4, "a user has one row: {shown:?}");
    let mut rows: Vec<&str> = shown.iter().map(|line| &line[2..]).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["a 1", "b 2", "c 3", "d 4"]);
}
