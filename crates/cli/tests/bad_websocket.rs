//! WebSocket servers that send invalid data, disconnect, stall or never stop. Scripts see a named error and continue,
//! and memory stays bounded. The server uses only Python's standard library.

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::program::{Program, Running};
use serde_json::{Value, json};

/// Performs the handshake, and then misbehaves as the path of the request requires.
const PEER: &str = r#"
import base64, hashlib, socket, socketserver, struct, sys
def frame(first, payload, length=None):
    n = len(payload) if length is None else length
    if n < 126: return bytes([first, n]) + payload
    if n < 65536: return bytes([first, 126]) + struct.pack('>H', n) + payload
    return bytes([first, 127]) + struct.pack('>Q', n) + payload
class Peer(socketserver.StreamRequestHandler):
    def handle(self):
        try: self.play()
        except OSError: pass
    def play(self):
        what = self.rfile.readline().split()[1].decode()[1:]
        key = b''
        while (line := self.rfile.readline().strip()):
            name, _, value = line.partition(b':')
            if name.lower() == b'sec-websocket-key': key = value.strip()
        accept = base64.b64encode(hashlib.sha1(key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
        send = self.request.sendall
        if what == 'no-upgrade': return send(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        if what == 'garbage': return send(b'\x00\xff this is not HTTP\r\n\r\n')
        if what == 'cut-handshake': return send(b'HTTP/1.1 101 Switching Pro')
        if what == 'wrong-accept': accept = base64.b64encode(b'x' * 20)
        send(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
             b'Sec-WebSocket-Accept: ' + accept + b'\r\n\r\n')
        if what == 'last-word': send(frame(0x81, b'hi') + frame(0x88, b'\x03\xe8'))
        if what == 'too-long': send(frame(0x82, b'', 1 << 40))
        if what == 'negative': send(frame(0x82, b'', 1 << 63))
        if what == 'masked': send(bytes([0x81, 0x82]) + b'maskhi')
        if what == 'long-ping': send(frame(0x89, b'x' * 200))
        if what == 'reserved': send(frame(0xb1, b''))
        if what == 'half-frame': send(frame(0x81, b'half', 40))
        if what == 'wrong-length': send(frame(0x81, b'long' * 10, 3))
        if what == 'reset':
            send(frame(0x82, b'part', 4000))
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            return self.request.close()
        if what == 'fragments':
            send(frame(0x02, b'x' * 65000))
            # More than any message may have.
            for _ in range(1200): send(frame(0x00, b'x' * 65000))
        if what.startswith('flood'):
            import threading
            if what != 'flood-unread':
                threading.Thread(target=lambda: [None for _ in iter(lambda: self.request.recv(65536), b'')], daemon=True).start()
            pings = frame(0x89, b'x' * 100) * 100
            while True: send(pings)
        if what in ('stall', 'wrong-accept'):
            while self.request.recv(4096): pass
            return
        self.request.shutdown(socket.SHUT_WR)
        while self.request.recv(4096): pass
class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
server = Server(('127.0.0.1', 0), Peer)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A kind of misbehavior, and a part of the error that scripts see.
const MISBEHAVING: [(&str, &str); 13] = [
    ("no-upgrade", "status 200"),
    ("garbage", "malformed HTTP"),
    ("cut-handshake", "unexpected EOF"),
    ("wrong-accept", "status 101"),
    ("too-long", "limit"),
    ("negative", ""),
    ("masked", "mask"),
    ("long-ping", "control"),
    ("reserved", ""),
    ("half-frame", "EOF"),
    ("wrong-length", ""),
    ("reset", "reset by peer"),
    ("fragments", "limit"),
];

const SCRIPT: &str = "
    import ws from 'k6/ws';
    import { sleep } from 'k6';
    const say = (...what) => console.log(JSON.stringify(what));
    export default function () {
        for (const what of JSON.parse(__ENV.PLACES).concat('stall')) {
            let error = '', events = [];
            try {
                const response = ws.connect(`${__ENV.BASE}/${what}`, (socket) => {
                    socket.on('error', (e) => { error = error || e.error(); events.push('error'); });
                    socket.on('close', () => events.push('close'));
                    socket.on('open', () => events.push('open'));
                    if (what === 'stall') socket.setTimeout(() => socket.close(), 100);
                });
                error = error || response.error || `status ${response.status}`;
            } catch (thrown) { error = String(thrown); events.push('thrown'); }
            say(what, error, events);
        }
    }
    export function teardown() { console.log('over'); sleep(1); }";

/// The JSON values that a script logs, one per line, up to the line `over` from its teardown.
fn lines_before_teardown(running: &mut Running) -> Vec<Value> {
    let mut lines = Vec::new();
    loop {
        let line = running.line();
        if line == "over" {
            return lines;
        }
        lines.extend(serde_json::from_str(&line));
    }
}

#[test]
fn every_violation_is_reported_and_the_script_continues() {
    let mut peer = Program::at("python3").args(["-c", PEER]).start();
    let port = peer.line();
    let places: Vec<&str> = MISBEHAVING.iter().map(|(what, _)| *what).collect();
    let flags = "run --quiet --log-format raw --log-output stdout";
    let mut running = plimsoll(&flags.split(' ').collect::<Vec<_>>())
        .args([
            "-e",
            &format!("PLACES={}", serde_json::to_string(&places).unwrap()),
        ])
        .args(["-e", &format!("BASE=ws://127.0.0.1:{}", port.trim()), "-"])
        .input(SCRIPT)
        .start();
    let printed = lines_before_teardown(&mut running);
    let memory = running.peak_memory();
    let ended = running.wait();
    assert_eq!(ended.status, Some(0), "{ended:?}");

    for (what, words) in MISBEHAVING {
        let line = printed.iter().find(|line| line[0] == *what);
        let line = line.unwrap_or_else(|| panic!("{what}: {printed:?}"));
        let error = line[1].as_str().unwrap_or_default();
        assert!(!error.is_empty() && error.contains(words), "{line}");
    }
    let stall = printed.iter().find(|line| line[0] == "stall").unwrap();
    assert_eq!(stall[1], "status 101", "{stall}");
    if let Some(memory) = memory {
        assert!(memory < 400 << 20, "{} MiB", memory >> 20);
    }
}

#[test]
fn a_message_sent_after_the_servers_close_is_dropped() {
    const SCRIPT: &str = "
        import { WebSocket } from 'k6/websockets';
        export default function () {
            const socket = new WebSocket(`${__ENV.BASE}/last-word`);
            socket.onmessage = (event) => {
                socket.ping();
                console.log(event.data, socket.readyState, socket.send('too late'));
            };
            socket.onerror = (event) => console.log('error', event.error);
            socket.onclose = (event) => console.log('closed', event.code, socket.readyState);
        }";
    let mut peer = Program::at("python3").args(["-c", PEER]).start();
    let base = format!("BASE=ws://127.0.0.1:{}", peer.line().trim());
    let flags = "run --quiet --log-format raw --log-output stdout";
    let ended = plimsoll(&flags.split(' ').collect::<Vec<_>>())
        .args(["-e", &base, "-"])
        .input(SCRIPT)
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().take(2).collect();
    assert_eq!(lines, ["hi 1 undefined", "closed 1000 3"], "{ended:?}");
}

/// Both modules close while the server sends pings and never a close frame, whether or not it reads. Other users of the
/// worker are not affected.
#[test]
fn close_completes_while_the_server_floods_pings() {
    const FLOODED: &str = "
        import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        import { sleep } from 'k6';
        export const options = { scenarios: {
            flooded: { executor: 'per-vu-iterations', vus: 4, exec: 'flooded', maxDuration: '60s' },
            other: { executor: 'per-vu-iterations', vus: 1, iterations: 20, exec: 'other' },
        } };
        const say = (...what) => console.log(JSON.stringify(what));
        export function flooded() {
            const path = ['flood-read', 'flood-unread'][__VU % 2];
            const url = `${__ENV.BASE}/${path}`;
            ws.connect(url, (socket) => {
                let pings = 0;
                socket.on('ping', () => { pings++; });
                socket.on('close', (code) => say('ws', path, code, pings > 0));
                socket.setTimeout(() => socket.close(), 200);
            });
            const socket = new WebSocket(url);
            let pings = 0, errors = 0;
            socket.onping = () => { pings++; };
            socket.onerror = () => { errors++; };
            socket.onclose = (event) => say('websockets', path, event.code, pings > 0, errors, socket.readyState);
            socket.onopen = () => setTimeout(() => socket.close(), 200);
        }
        export function other() { sleep(0.05); say('other'); }
        export function teardown() { console.log('over'); }";
    let mut peer = Program::at("python3").args(["-c", PEER]).start();
    let port = peer.line();
    let flags = "run --quiet --log-format raw --log-output stdout";
    let mut running = plimsoll(&flags.split(' ').collect::<Vec<_>>())
        .args(["-e", &format!("BASE=ws://127.0.0.1:{}", port.trim()), "-"])
        .input(FLOODED)
        .start();
    let printed = lines_before_teardown(&mut running);
    let ended = running.wait();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let mut counts = [0; 3];
    for line in &printed {
        let kind = ["ws", "websockets", "other"]
            .iter()
            .position(|kind| line[0] == *kind)
            .unwrap();
        counts[kind] += 1;
        match kind {
            0 => assert_eq!((&line[2], &line[3]), (&1001.into(), &true.into()), "{line}"),
            // The server has not closed: an abnormal closure, as browsers report it.
            1 => assert_eq!(line, &json!(["websockets", line[1], 1006, true, 0, 3])),
            _ => {}
        }
    }
    assert_eq!(counts, [4, 4, 20], "{printed:?}");
}
