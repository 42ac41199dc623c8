//! Tests the client against PyPI's `websockets`, which is installed in this version below `target`:
//! handshakes, subprotocols, messages of many sizes, fragments, pings, closing, and compression
//! with and without context takeover.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use plimsoll_http::{Client, Method, Request, Shared, Url};
use plimsoll_ws::{Connection, Event, Kind, Limits, Offer, OfferDeflate, Socket};

const LIBRARY: &str = "websockets==17.4";

/// A Python that has the library. Its environment is created once per version.
fn python() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("websockets-python");
    let stamp = directory.join("versions");
    if !fs::read_to_string(&stamp).is_ok_and(|made| made == LIBRARY) {
        let _ = fs::remove_dir_all(&directory);
        run(Command::new("python3").args(["-m", "venv"]).arg(&directory));
        let mut install = Command::new(directory.join("bin/pip"));
        run(install.args(["install", "--quiet", "--disable-pip-version-check", LIBRARY]));
        fs::write(stamp, LIBRARY).unwrap();
    }
    directory.join("bin/python")
}

fn run(command: &mut Command) {
    let hint = "this test needs Python 3 with venv, and PyPI or a copy of it; on Debian: apt-get install python3-venv";
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}; {hint}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed; {hint}\n{message}"
    );
}

/// The running server, and the ports of its listeners.
struct Server {
    process: Child,
    plain: u16,
    kept: u16,
    bits: u16,
}

impl Server {
    fn start() -> Server {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/server.py");
        let mut process = Command::new(python())
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let ports: Vec<u16> = line
            .split_whitespace()
            .map(|port| port.parse().unwrap())
            .collect();
        Server {
            process,
            plain: ports[0],
            kept: ports[1],
            bits: ports[2],
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn open(port: u16, path: &str, offer: &Offer) -> Socket {
    let client = Client::new(Shared::new(Default::default()), 1);
    let url = plimsoll_ws::request_url(&format!("ws://127.0.0.1:{port}/{path}")).unwrap();
    let request = Request::new(Method::Get, Rc::new(Url::parse(&url).unwrap()));
    let opened = plimsoll_ws::open(&client, request, None, offer, Limits::default()).await;
    assert_eq!(opened.exchange.status, 101, "{path}: {opened:?}");
    *opened.outcome.unwrap()
}

async fn echoed(connection: &mut Connection<plimsoll_net::Stream>, kind: Kind, message: &[u8]) {
    connection.send(kind, message).unwrap();
    connection.flush().await.unwrap();
    match (kind, connection.event().await.unwrap()) {
        (Kind::Text, Event::Text(text)) => assert_eq!(text.as_bytes(), message),
        (Kind::Binary, Event::Binary(bytes)) => assert_eq!(bytes, message),
        (_, other) => panic!("{kind:?} came back as {other:?}"),
    }
}

const NO_TAKEOVER: OfferDeflate = OfferDeflate {
    server_no_context_takeover: true,
    client_no_context_takeover: true,
};

#[tokio::test(flavor = "current_thread")]
async fn the_client_works_with_an_independent_server() {
    let server = Server::start();
    let offers = [
        (server.plain, None),
        (server.kept, Some(OfferDeflate::default())),
        (server.kept, Some(NO_TAKEOVER)),
        (server.bits, Some(NO_TAKEOVER)),
    ];
    for (port, deflate) in offers {
        let offer = Offer {
            protocols: vec!["first".to_owned(), "second".to_owned()],
            deflate,
            takes_any_protocol: false,
        };
        let mut socket = open(port, "echo", &offer).await;
        let chosen = if port == server.plain { "second" } else { "" };
        assert_eq!(socket.agreed.protocol, chosen);
        assert_eq!(socket.agreed.deflate.is_some(), deflate.is_some());
        let connection = &mut socket.connection;
        for length in [0, 1, 125, 126, 65_535, 65_536, 200_000] {
            let text: String = "häufig wiederholt ".chars().cycle().take(length).collect();
            echoed(connection, Kind::Text, text.as_bytes()).await;
            let noise: Vec<u8> = (0..length).map(|n| (n * n / 7) as u8).collect();
            echoed(connection, Kind::Binary, &noise).await;
        }
        connection.ping(b"mine").unwrap();
        connection.flush().await.unwrap();
        assert_eq!(
            connection.event().await.unwrap(),
            Event::Pong(b"mine".to_vec())
        );

        let mut socket = open(port, "fragments", &offer).await;
        let one = socket.connection.event().await.unwrap();
        assert_eq!(one, Event::Text("one twö three".to_owned()));
        let two = socket.connection.event().await.unwrap();
        assert_eq!(two, Event::Binary(vec![0, 1, 2]));

        let mut socket = open(port, "ping", &offer).await;
        assert_eq!(
            socket.connection.event().await.unwrap(),
            Event::Ping(b"beat".to_vec())
        );
        let received = socket.connection.event().await.unwrap();
        assert_eq!(received, Event::Text("the pong came".to_owned()));

        let mut socket = open(port, "close", &offer).await;
        let Event::Close(frame) = socket.connection.event().await.unwrap() else {
            panic!("no close")
        };
        assert_eq!((frame.code, frame.reason.as_str()), (4321, "so it is"));
    }
    let mut socket = open(server.kept, "echo", &Offer::default()).await;
    socket.connection.close(Some(4000), "genug");
    socket.connection.flush().await.unwrap();
    let Event::Close(frame) = socket.connection.event().await.unwrap() else {
        panic!("no close")
    };
    assert_eq!(frame.code, 4000);
}
