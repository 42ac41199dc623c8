//! A hand-written server: a function returns the response bytes for each request.

#![allow(dead_code)] // Each test program uses only a part of this module.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_http::{Client, Method, Request, Settings, Shared, Url};

/// Starts a server whose connections stay open until the client closes them. An empty response
/// closes the connection.
pub fn serve(respond: impl Fn(&str, &[u8]) -> Vec<u8> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let respond = Arc::new(respond);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let (socket, respond) = (socket.unwrap(), respond.clone());
            std::thread::spawn(move || converse(socket, &*respond));
        }
    });
    address
}

fn converse(mut socket: TcpStream, respond: &dyn Fn(&str, &[u8]) -> Vec<u8>) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            match socket.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        socket.read_exact(&mut body).unwrap();
        let bytes = respond(&head, &body);
        if bytes.is_empty() || socket.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// A response with a body and its length.
pub fn http_response(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let mut out = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n",
        body.len()
    )
    .into_bytes();
    out.extend_from_slice(body);
    out
}

pub fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(Default::default())
        .unwrap()
        .block_on(work)
}

pub fn client(settings: Settings) -> Client {
    Client::new(Shared::new(Arc::new(settings)), 1)
}

pub fn request(method: Method, url: &str) -> Request {
    Request::new(method, Rc::new(Url::parse(url).unwrap()))
}
