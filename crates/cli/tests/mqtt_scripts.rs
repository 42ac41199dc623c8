//! `k6/x/mqtt` with Mosquitto, and with peers that are not MQTT brokers.

#[path = "extension_scripts/run.rs"]
mod run;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use plimsoll_testground::Mosquitto;
use plimsoll_testkit::ports;
use run::{counted, lines};

const MESSAGES: &str = r#"
import { Client, QoS } from 'k6/x/mqtt';
const text = (bytes) => String.fromCharCode.apply(null, new Uint8Array(bytes));
export default function () {
  const client = new Client({ client_id: 'one', tags: { a: 'b' }, will: { topic: 'will', payload: 'gone' } });
  const received = [];
  client.on('connect', async () => {
    console.log('connect', client.connected);
    await client.subscribeAsync(['a/+', 'b'], { qos: QoS.ExactlyOnce });
    client.publish('a/0', 'zero');
    await client.publishAsync('a/1', 'one', { qos: 1 });
    await client.publishAsync('a/2', new Uint8Array([116, 119, 111]).buffer, { qos: 2, retain: true });
    await client.publishAsync('b', 'x'.repeat(100000));
    await client.unsubscribeAsync('b');
    await client.publishAsync('b', 'not received', { qos: 1 });
    await client.publishAsync('a/last', 'last', { qos: 2 });
  });
  client.on('message', (topic, payload) => {
    received.push(payload.byteLength > 50 ? `${topic} ${payload.byteLength}` : `${topic} ${text(payload)}`);
    if (topic === 'a/last') {
      console.log(received.join(', '));
      client.end();
    }
  });
  client.on('error', (e) => console.log(e.name, e.method, e.message));
  client.on('end', () => console.log('end', client.connected));
  client.connect(__ENV.URL, { keepalive: 1 });
}
"#;

#[test]
fn scripts_use_an_mqtt_broker() {
    let broker = Mosquitto::start("allow_anonymous true");
    let ended = run::run(MESSAGES, &broker.url());
    assert_eq!(
        lines(&ended),
        [
            "connect true",
            "a/0 zero, a/1 one, a/2 two, b 100000, a/last last",
            "end false"
        ]
    );
    let figures = counted(
        &ended,
        &[
            "mqtt_messages_sent",
            "mqtt_messages_received",
            "mqtt_errors",
        ],
    );
    assert_eq!(figures, [Some(6.0), Some(5.0), None]);

    // Pings keep an idle connection open, and a client can reconnect.
    let script = r#"
        import { Client } from 'k6/x/mqtt';
        export default function () {
          const client = new Client();
          let connected = 0;
          client.on('connect', () => {
            connected += 1;
            console.log('connect');
            setTimeout(() => (connected === 1 ? client.reconnect() : client.endAsync()), 1500);
          });
          client.on('reconnect', () => console.log('reconnect'));
          client.on('error', (e) => console.log(e.message));
          client.on('end', () => console.log('end'));
          client.connect({ servers: ['127.0.0.1:1', __ENV.URL], keepalive: 1 });
        }"#;
    let ended = run::run(script, &broker.url());
    assert_eq!(lines(&ended), ["connect", "reconnect", "connect", "end"]);
}

const FAILING: &str = r#"
import { Client } from 'k6/x/mqtt';
export default function () {
  const client = new Client();
  try { client.publish('a', 'b'); } catch (e) { console.log('threw'); }
  client.on('connect', () => console.log('connect'));
  client.on('error', (e) => console.log(e.name, e.method, e.message));
  client.on('end', () => console.log('end'));
  client.connect(__ENV.URL, { connect_timeout: 500 });
}
"#;

#[test]
fn a_broker_that_refuses_or_exits_is_reported() {
    let strict = Mosquitto::start("allow_anonymous false");
    let ended = run::run(FAILING, &strict.url());
    let shown = lines(&ended);
    assert_eq!(
        shown[0], "MQTTError publish the client is not connected",
        "{shown:?}"
    );
    assert!(
        shown[1]
            .contains("connect the broker refused the connection: the client is not authorized"),
        "{shown:?}"
    );
    assert_eq!(shown[2..], ["end"]);
}

#[test]
fn peers_that_are_not_a_broker_are_reported() {
    let last = |url: &str| {
        let ended = run::run(FAILING, url);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        let shown = lines(&ended);
        assert_eq!(shown.last().map(String::as_str), Some("end"), "{shown:?}");
        shown[shown.len() - 2].clone()
    };
    assert!(last(&format!("mqtt://{}", ports::closed())).contains("refused"));

    let answering = |bytes: &'static [u8]| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 100]);
                let _ = stream.write_all(bytes);
                // Until the client closes.
                let _ = stream.read(&mut [0; 100]);
            }
        });
        last(&format!("tcp://{address}"))
    };
    let web = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    assert!(
        web.contains("does not respond like an MQTT broker"),
        "{web}"
    );
    let silent = answering(b"");
    assert!(silent.contains("no connection within 500 ms"), "{silent}");
    let malformed = answering(b"\x20\x03\0\0\0");
    assert!(malformed.contains("malformed"), "{malformed}");
    let endless = answering(b"\x20\x02\0\0\x30\xff\xff\xff\x7f");
    assert!(endless.contains("bytes"), "{endless}");
}
