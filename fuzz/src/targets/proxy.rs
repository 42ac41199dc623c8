//! Environment variables for proxies, and the response of a proxy to CONNECT.

use std::cell::OnceCell;

use plimsoll_http::in_memory::open_tunnel;
use plimsoll_http::{Proxies, Url};
use tokio::runtime::{Builder, Runtime};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "proxy",
    run,
    seeds: &[
        b"http://user:pass@proxy:3128\nlocalhost,.example.com\nhttps://a.test/\nHTTP/1.1 200 Connection established\r\n\r\n",
        b"proxy\n10.0.0.0/8,[::1]:80,*.b:1\nhttps://10.0.0.1:8443/\nHTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
        b"https://[::1]:1\n*\nhttps://a/\nHTTP/1.0 200\r\n\r\n",
        b"socks5://a\n\nhttps://a/\n200",
    ],
    words: &[
        "http://", "https://", "@", ":", ",", ".", "*", "*.", "/8", "[::1]", "\n", "HTTP/1.1 2", "\r\n\r\n", "https://a/\n",
    ],
};

thread_local! {
    static RUNTIME: OnceCell<Option<Runtime>> = const { OnceCell::new() };
}

/// Three lines: the proxy, the exceptions and the address of a request. What follows is the proxy's response.
fn run(data: &[u8]) {
    let mut lines = data.splitn(4, |&byte| byte == b'\n');
    let mut line = || text(lines.next().unwrap_or_default()).into_owned();
    let (proxy, exceptions, url) = (line(), line(), line());
    let response = lines.next().unwrap_or_default();
    let proxies = Proxies::from_env(|name| match name {
        "HTTP_PROXY" | "HTTPS_PROXY" => Some(proxy.clone()),
        "NO_PROXY" => Some(exceptions.clone()),
        _ => None,
    });
    let (Ok(proxies), Ok(url)) = (proxies, Url::parse(&url)) else {
        return;
    };
    RUNTIME.with(|cell| {
        let runtime = cell.get_or_init(|| Builder::new_current_thread().build().ok());
        let Some(runtime) = runtime else { return };
        if let Some(Ok(())) = runtime.block_on(open_tunnel(&proxies, &url, response)) {
            assert!(response.windows(4).any(|end| end == b"\r\n\r\n"));
        }
    });
}
