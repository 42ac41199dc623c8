//! Sends requests as fast as the server responds, and shows their cost in CPU time of this thread.
//!
//! `closed_loop URL [users] [seconds] [epoll|uring] [prepared|whole] [auto|h1|h2c]` runs one task
//! per user on one thread. Each task sends the same prepared request. With `whole`, each request is
//! encoded when it is sent, and its response is kept.
#![allow(unsafe_code, clippy::print_stdout)]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_http::{Client, Exchange, Method, Prepared, Protocol, Request, Settings, Shared, Url};
use tokio::runtime::Builder;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or("http://127.0.0.1:8080/".into());
    let users: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100);
    let seconds: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    let io = match arguments.next().as_deref() {
        Some("uring") => plimsoll_net::Io::Uring,
        _ => plimsoll_net::Io::Epoll,
    };
    let whole = arguments.next().is_some_and(|word| word == "whole");
    let mut settings = Settings::default();
    settings.network.io = io;
    settings.network.tls.insecure_skip_verify = true;
    settings.protocol = match arguments.next().as_deref() {
        Some("h2c") => Protocol::H2c,
        Some("h1") => Protocol::Http1,
        _ => Protocol::Auto,
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let set = tokio::task::LocalSet::new();
    set.block_on(&runtime, drive(&url, users, seconds, settings, whole));
}

async fn drive(url: &str, users: u64, seconds: u64, settings: Settings, whole: bool) {
    let url = Rc::new(Url::parse(url).unwrap());
    let request = Request::new(Method::Get, url);
    let prepared = Rc::new(Prepared::new(&request, &settings).unwrap());
    let shared = Shared::new(Arc::new(settings));
    let (count, failed) = (Rc::new(Cell::new(0u64)), Rc::new(Cell::new(0u64)));
    let total = Rc::new(Cell::new(Duration::ZERO));
    let stop = Rc::new(Cell::new(false));
    for number in 1..=users {
        let client = Client::new(shared.clone(), number);
        let (prepared, count, failed) = (prepared.clone(), count.clone(), failed.clone());
        let (total, stop) = (total.clone(), stop.clone());
        let request = request.clone();
        tokio::task::spawn_local(async move {
            while whole && !stop.get() {
                let add = &mut |exchange: &Exchange| {
                    total.set(total.get() + exchange.timeline.total());
                };
                match client.send(&request, None, add).await {
                    Ok(response) if response.status == 200 => count.set(count.get() + 1),
                    _ => failed.set(failed.get() + 1),
                }
            }
            while !stop.get() {
                let exchange = client.send_prepared(&prepared, plimsoll_clock::now()).await;
                if exchange.status == 200 {
                    count.set(count.get() + 1);
                    total.set(total.get() + exchange.timeline.total());
                } else {
                    failed.set(failed.get() + 1);
                }
            }
        });
    }
    // Do not measure connection setup.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (before, wall) = (cpu(), plimsoll_clock::now());
    let counted = count.get();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (after, elapsed) = (cpu(), plimsoll_clock::now().since(wall).as_secs_f64());
    let done = count.get() - counted;
    stop.set(true);
    let (user, system) = (after.0 - before.0, after.1 - before.1);
    println!(
        "{done} requests, {} failed, {:.0}/s, {:.0} per CPU second; µs a request: {:.2} = {:.2} user + {:.2} system; mean latency {:?}",
        failed.get(),
        done as f64 / elapsed,
        done as f64 / (user + system),
        (user + system) * 1e6 / done as f64,
        user * 1e6 / done as f64,
        system * 1e6 / done as f64,
        total.get().div_f64(count.get().max(1) as f64),
    );
}

#[cfg(target_os = "linux")]
const WHOSE: libc::c_int = libc::RUSAGE_THREAD;
#[cfg(not(target_os = "linux"))]
const WHOSE: libc::c_int = libc::RUSAGE_SELF;

/// CPU seconds of this thread: user and system.
fn cpu() -> (f64, f64) {
    // SAFETY: getrusage fills the zeroed struct.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(WHOSE, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}
