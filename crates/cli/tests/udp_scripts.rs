//! `k6/x/udp` with a name server and an echo server, and with peers that are silent or absent.

#[path = "extension_scripts/run.rs"]
mod run;

use std::net::UdpSocket;
use std::thread;

use plimsoll_testground::Dnsmasq;
use run::{counted, lines};

#[test]
fn scripts_ask_a_name_server_with_datagrams() {
    let server = Dnsmasq::start(&["--host-record=a.test,192.0.2.7"]);
    let script = r#"
        import udp from 'k6/x/udp';
        export default function () {
          const conn = udp.connect(__ENV.URL);
          const name = [1, 97, 4, 116, 101, 115, 116, 0];
          udp.write(conn, [7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 1, 0, 1]);
          const response = udp.read(conn, 512, '5s');
          console.log(response[0], response[1], response[3] & 15, response.slice(-4).join('.'));
          udp.close(conn);
        }"#;
    let ended = run::run(script, &server.address().to_string());
    assert_eq!(lines(&ended), ["7 9 0 192.0.2.7"], "{}", ended.stderr);
}

/// Sends every datagram back. Returns its address.
fn echo() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let mut datagram = [0; 65_535];
        while let Ok((length, client)) = socket.recv_from(&mut datagram) {
            let _ = socket.send_to(&datagram[..length], client);
        }
    });
    address
}

const SCRIPT: &str = r#"
import udp from 'k6/x/udp';
import { connect, writeLn, writeln, read } from 'k6/x/udp';
const conn = udp.connect(__ENV.URL);
export const options = { vus: 2, iterations: 4 };
export default function () {
  udp.writeLn(conn, 'Say Hello');
  const text = String.fromCharCode(...udp.read(conn, 1024));
  const second = connect(__ENV.URL);
  udp.write(second, new Uint8Array([1, 2, 3]).buffer);
  const bytes = read(second, 2);
  writeln(second, 'x');
  const line = new Uint8Array(read(second));
  let refused = [];
  for (const attempt of [
    () => udp.write(second, 'x'.repeat(70000)),
    () => udp.read(second, 10, 50),
    () => { udp.close(second); udp.write(second, 'x'); },
    () => udp.write({}, 'x'),
    () => udp.connect('nowhere'),
    () => udp.connect('127.0.0.1:70000'),
    () => udp.connectLocalAddress(__ENV.URL, 'here'),
    () => udp.read(conn, 10, 'soon'),
  ]) {
    try { attempt(); refused.push('worked'); } catch (e) { refused.push(e.message); }
  }
  const third = udp.connectLocalAddress(__ENV.URL, '127.0.0.1:0');
  console.log(JSON.stringify([text, Array.from(bytes), Array.from(line), conn.remoteAddr() === __ENV.URL, third.localAddr().startsWith('127.0.0.1:')]));
  console.log(refused.join(' | '));
}
"#;

#[test]
fn datagrams_are_sent_received_and_counted() {
    let ended = run::run(SCRIPT, &echo());
    let (received, refused): (Vec<_>, Vec<_>) = lines(&ended)
        .into_iter()
        .partition(|line| line.starts_with('['));
    let expected = r#"["Say Hello\n",[1,2],[120,10],true,true]"#;
    assert_eq!(received, [expected; 4], "{}", ended.stderr);
    assert_eq!(refused.len(), 4, "{refused:?}");
    for part in [
        "too long",
        "no datagram within 50ms",
        "the connection is closed",
        "not a connection",
        "write HOST:PORT",
        "is not a local address",
        "invalid timeout",
    ] {
        assert!(refused[0].contains(part), "{part}: {}", refused[0]);
    }
    assert!(!refused[0].contains("worked"), "{}", refused[0]);
    let figures = counted(
        &ended,
        &[
            "udp_datagrams_sent",
            "udp_datagrams_received",
            "udp_timeouts",
            "udp_errors",
            "data_sent",
            "data_received",
        ],
    );
    let bytes = f64::from(4 * (10 + 3 + 2));
    let expected = [12.0, 12.0, 4.0, 4.0, bytes, bytes - 4.0].map(Some);
    assert_eq!(figures, expected);
    assert!(counted(&ended, &["udp_response_time"])[0].is_some());
}

#[test]
fn absent_and_forbidden_peers_are_reported() {
    // A port that was free a moment ago.
    let closed = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let script = r#"
        import udp from 'k6/x/udp';
        export const options = { blacklistIPs: ['192.0.2.0/24'] };
        export default function () {
          const conn = udp.connect(__ENV.URL);
          udp.write(conn, 'x');
          try { udp.read(conn); } catch (e) { console.log(e.message); }
          try { udp.connect('192.0.2.1:53'); } catch (e) { console.log(e.message); }
        }"#;
    let ended = run::run(script, &closed.to_string());
    let shown = lines(&ended);
    assert!(shown[0].contains("refused"), "{shown:?}");
    assert!(shown[1].contains("192.0.2.0/24"), "{shown:?}");
}

#[test]
fn an_interrupted_iteration_does_not_wait_for_a_datagram() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let script = r#"
        import udp from 'k6/x/udp';
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
        export default function () {
          const conn = udp.connect(__ENV.URL);
          udp.write(conn, 'x');
          udp.read(conn, 10, '60s');
          console.log('never');
        }"#;
    let address = silent.local_addr().unwrap().to_string();
    let ended = run::run(script, &address);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("never"), "{}", ended.stderr);
}
