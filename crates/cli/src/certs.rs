//! `plimsoll certs`: certificates for tests, in a folder.

use std::time::SystemTime;

use plimsoll_certs::{Folder, Name, Order, Role, make};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::say;

use crate::args::CertsArgs;

/// Creates the certificates and prints their paths as one JSON object.
pub fn certs(args: &CertsArgs) -> Exit {
    Exit::of_text(run(args).map(|created| format!("{created}\n")))
}

fn run(args: &CertsArgs) -> Result<serde_json::Value, String> {
    let folder = Folder::new(&args.folder);
    if !args.force {
        // Check this before keys are created, which may take seconds.
        folder.check_empty()?;
    }
    let names = Name::with_usual(&args.names);
    let made = make(&Order {
        names: names.clone(),
        client: args.client.clone(),
        key: args.key,
        lifetime: args.lifetime,
    })?;
    folder.write(&made, args.force)?;
    let listed: Vec<String> = names.iter().map(Name::to_string).collect();
    say(&format!(
        "an authority, a server's certificate for {} and a client's are in {}",
        listed.join(", "),
        folder.path().display()
    ));
    let until = made
        .valid_until
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let file = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    Ok(serde_json::json!({
        "folder": file(folder.path().to_owned()),
        "ca": file(folder.certificate(Role::Authority)),
        "server": { "certificate": file(folder.certificate(Role::Server)), "key": file(folder.key(Role::Server)) },
        "client": { "certificate": file(folder.certificate(Role::Client)), "key": file(folder.key(Role::Client)) },
        "names": listed,
        "valid_until_unix_seconds": until,
    }))
}
