//! Runs the server that the scripts under `cases/` use, to try a script by hand. Prints the `-e
//! NAME=value` arguments for `run`, and serves until Ctrl-C.

use std::io::{self, Write};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let certificates = tempfile::tempdir()?;
    let addresses = plimsoll_testkit::case_server::start(certificates.path()).await?;
    let arguments: Vec<String> = addresses
        .variables
        .iter()
        .map(|(name, value)| format!("-e {name}={value}"))
        .collect();
    writeln!(io::stdout(), "{}", arguments.join(" "))?;
    tokio::signal::ctrl_c().await
}
