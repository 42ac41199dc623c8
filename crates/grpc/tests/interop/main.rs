//! gRPC's interoperability cases against the test kit's server, without and with TLS. `make
//! interop` runs the same cases against grpc-go's server.

mod cases;
mod compressed;
mod peer;

use std::path::Path;

use peer::{Fault, Peer};
use plimsoll_testkit::cases::suite::Server;

fn run_all(peer: &Peer) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut failed = Vec::new();
        for case in cases::CASES {
            match cases::run(case, peer).await {
                Ok(()) => {}
                Err(Fault::Wrong(what)) => failed.push(format!("{}: {what}", case.0)),
                Err(Fault::Lacking(what)) => failed.push(format!("{}: {what}", case.0)),
            }
        }
        failed
    })
}

/// The server's address from the given environment variable.
fn address(server: &Server, variable: &str) -> String {
    let mut variables = server.addresses.variables.iter();
    let (_, address) = variables.find(|(name, _)| name == variable).unwrap();
    let (_, address) = address.split_once("://").unwrap();
    address.to_owned()
}

#[test]
fn every_case_passes_without_tls() {
    let server = Server::start().unwrap();
    let peer = Peer::new(&address(&server, "BASE"), None).unwrap();
    assert_eq!(run_all(&peer), Vec::<String>::new());
}

#[test]
fn every_case_passes_over_tls() {
    let server = Server::start().unwrap();
    let folder = Path::new(&server.addresses.certificates);
    let authority = std::fs::read(folder.join("ca.pem")).unwrap();
    let peer = Peer::new(&address(&server, "TLS"), Some((&authority, "localhost"))).unwrap();
    assert_eq!(run_all(&peer), Vec::<String>::new());
}
