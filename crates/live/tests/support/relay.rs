//! A relay that can cut the connections that it forwards.

use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Open {
    streams: Vec<TcpStream>,
    count: usize,
}

pub struct Relay {
    url: String,
    open: Arc<Mutex<Open>>,
}

impl Relay {
    /// Forwards connections to the server of `url`.
    pub fn start(url: &str) -> Relay {
        let rest = url.strip_prefix("http://").expect("a URL");
        let (to, path) = rest.split_once('/').expect("a path");
        let (to, path) = (to.to_owned(), path.to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let own = listener.local_addr().expect("an address");
        let open = Arc::<Mutex<Open>>::default();
        let known = Arc::clone(&open);
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let far = TcpStream::connect(&to).expect("the page");
                let both = [near, far].map(|end| {
                    let other = end.try_clone().expect("a copy");
                    let kept = end.try_clone().expect("a copy");
                    (end, other, kept)
                });
                let [(near_in, near_out, near), (far_in, far_out, far)] = both;
                for (mut from, mut to) in [(near_in, far_out), (far_in, near_out)] {
                    std::thread::spawn(move || {
                        let _ = copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                let mut known = known.lock().expect("no panic");
                known.count += 1;
                known.streams.extend([near, far]);
            }
        });
        Relay {
            url: format!("http://{own}/{path}"),
            open,
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Closes all connections.
    pub fn cut(&self) {
        let mut open = self.open.lock().expect("no panic");
        for stream in open.streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.open.lock().expect("no panic").count
    }
}
