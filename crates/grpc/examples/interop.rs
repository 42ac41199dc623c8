//! gRPC's interoperability cases against grpc-go's server, without and with TLS: `make interop`.
//!
//! ```text
//! interop SERVER CA        the server program, and the authority of its certificate
//! ```
//!
//! Prints a table with the result of each case.

#[path = "../tests/interop/cases.rs"]
mod cases;
#[path = "../tests/interop/compressed.rs"]
mod compressed;
#[path = "../tests/interop/peer.rs"]
mod peer;

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use peer::{Ended, Fault, Peer};

/// The name in the certificate of gRPC's test data.
const NAME: &str = "foo.test.google.fr";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            let _ = writeln!(io::stderr(), "interop: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(program), Some(authority)) = (arguments.next(), arguments.next()) else {
        return Err(
            "usage: interop SERVER CA (the server program, and its authority's certificate)"
                .to_owned(),
        );
    };
    let authority = std::fs::read(&authority).map_err(|error| format!("{authority}: {error}"))?;
    let clear = {
        let server = Server::start(&program, &[])?;
        run_all(&Peer::new(&server.address, None)?)?
    };
    let secure = {
        let server = Server::start(&program, &["--use_tls"])?;
        run_all(&Peer::new(&server.address, Some((&authority, NAME)))?)?
    };
    let mut table = "| case | in the clear | over TLS |\n|---|---|---|\n".to_owned();
    let mut all_well = true;
    for ((case, clear), secure) in cases::CASES.iter().zip(&clear).zip(&secure) {
        let shown = |ended: &Ended| match ended {
            Ok(()) => "passed".to_owned(),
            Err(Fault::Lacking(what)) => format!("not tested: {what}"),
            Err(Fault::Wrong(what)) => format!("**failed**: {what}"),
        };
        table += &format!("| `{}` | {} | {} |\n", case.0, shown(clear), shown(secure));
        all_well &= [clear, secure]
            .iter()
            .all(|ended| !matches!(ended, Err(Fault::Wrong(_))));
    }
    let output = io::stdout().write_all(table.as_bytes());
    output.map_err(|error| error.to_string())?;
    Ok(all_well)
}

fn run_all(peer: &Peer) -> Result<Vec<Ended>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    Ok(tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut ended = Vec::new();
        for case in cases::CASES {
            ended.push(cases::run(case, peer).await);
        }
        ended
    }))
}

/// The running server, which is killed when it is dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(program: &str, flags: &[&str]) -> Result<Server, String> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| error.to_string())?;
        let mut process = Command::new(program)
            .arg(format!("--port={}", address.port()))
            .args(flags)
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(address).is_err() {
            let stopped = process.try_wait().map_err(|error| error.to_string())?;
            if stopped.is_some() || Instant::now() > until {
                let _ = process.kill();
                return Err(format!("{program} does not listen on {address}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Server {
            process,
            address: address.to_string(),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
