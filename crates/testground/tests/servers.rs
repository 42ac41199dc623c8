//! Each server starts, keeps its durable data after a crash, and is removed at the end.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use plimsoll_testground::{Append, Kind, Postgres, Proxy, Redis};

fn send_request(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = [0; 4096];
    let length = stream.read(&mut response).unwrap();
    String::from_utf8_lossy(&response[..length]).into_owned()
}

#[test]
fn postgres_keeps_committed_data() {
    let mut postgres = Postgres::start();
    let database = postgres.database();
    postgres.sql(&database, "CREATE TABLE kept AS SELECT 7 AS number");
    assert_eq!(postgres.sql(&database, "SHOW fsync"), "on");
    let first = postgres.pid();
    postgres.kill();
    postgres.restart();
    assert_ne!(postgres.pid(), first);
    assert_eq!(postgres.sql(&database, "SELECT number FROM kept"), "7");
    let (address, directory) = (postgres.address(), postgres.directory().to_owned());
    drop(postgres);
    assert!(TcpStream::connect(address).is_err());
    assert!(!directory.exists());
}

#[test]
fn postgres_has_postgis() {
    Postgres::require_postgis();
    let postgres = Postgres::start();
    let database = postgres.database();
    postgres.sql(&database, "CREATE EXTENSION postgis");
    let far = "SELECT ST_Intersects('POINT(0 0)'::geometry, 'POINT(1 1)'::geometry)";
    assert_eq!(postgres.sql(&database, far), "f");
}

#[test]
fn redis_keeps_the_data_in_its_append_only_file() {
    for (append, kept) in [(Append::Always, "$1\r\n7\r\n"), (Append::Never, "$-1\r\n")] {
        let mut redis = Redis::start(append);
        assert_eq!(send_request(redis.address(), "SET kept 7\r\n"), "+OK\r\n");
        redis.kill();
        assert!(TcpStream::connect(redis.address()).is_err());
        redis.restart();
        assert_eq!(
            send_request(redis.address(), "GET kept\r\n"),
            kept,
            "{append:?}"
        );
    }
}

#[test]
fn proxies_respond() {
    Proxy::require_lua();
    let nginx = |_: &Path, port: u16| {
        format!(
            "load_module /usr/lib/nginx/modules/ndk_http_module.so;
             load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
             worker_processes 1; events {{}}
             http {{ access_log off; server {{ listen 127.0.0.1:{port};
               location / {{ content_by_lua_block {{ ngx.say('hello from nginx') }} }} }} }}"
        )
    };
    let haproxy = |_: &Path, port: u16| {
        format!(
            "defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\n\
             frontend front\n bind 127.0.0.1:{port}\n \
             http-request return status 200 content-type text/plain string \"hello from haproxy\"\n"
        )
    };
    let caddy = |_: &Path, port: u16| {
        format!(
            "{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n respond \"hello from caddy\"\n}}\n"
        )
    };
    let get = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    for (mut proxy, name) in [
        (Proxy::start(Kind::Nginx, nginx), "nginx"),
        (Proxy::start(Kind::Haproxy, haproxy), "haproxy"),
        (Proxy::start(Kind::Caddy, caddy), "caddy"),
    ] {
        let read = || {
            let mut stream = TcpStream::connect(proxy.address()).unwrap();
            // Caddy also distinguishes sites by their port.
            let get = get.replace("127.0.0.1", &proxy.address().to_string());
            stream.write_all(get.as_bytes()).unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).unwrap();
            response
        };
        assert!(read().contains(&format!("hello from {name}")), "{name}");
        proxy.kill();
        assert!(TcpStream::connect(proxy.address()).is_err(), "{name}");
        proxy.restart();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(get.as_bytes()).unwrap();
    }
}
