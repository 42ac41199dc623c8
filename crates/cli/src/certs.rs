//! `plimsoll certs`: creates certificates for tests in a folder.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use plimsoll_certs::{Folder, KeyKind, Name, Order, Role, make};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::print_message;

/// Create a certificate authority and certificates for tests
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/certs.txt"))]
pub struct CertsArgs {
    /// Folder for the files; created if it does not exist
    #[arg(value_name = "FOLDER", default_value = "certs")]
    pub folder: PathBuf,
    /// Additional host name or address for the server's certificate; can be repeated
    #[arg(long = "name", value_name = "NAME", value_parser = Name::parse)]
    pub names: Vec<Name>,
    /// Common name of the client's certificate
    #[arg(long, value_name = "NAME", default_value = "Plimsoll test client")]
    pub client: String,
    /// Type of the keys: ecdsa (P-256), rsa2048, rsa3072, rsa4096
    #[arg(long, value_name = "KIND", default_value = "ecdsa", value_parser = KeyKind::parse)]
    pub key: KeyKind,
    /// Period of validity, like 24h or 365d
    #[arg(long, value_name = "TIME", default_value = "365d", value_parser = crate::args::time)]
    pub lifetime: Duration,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
}

/// Creates the certificates and prints their paths as one JSON object.
pub fn certs(args: &CertsArgs) -> Exit {
    Exit::of_text(run(args).map(|created| format!("{created}\n")))
}

fn run(args: &CertsArgs) -> Result<serde_json::Value, String> {
    let folder = Folder::new(&args.folder);
    if !args.force {
        // Check this before creating the keys, which may take seconds.
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
    print_message(&format!(
        "Created a certificate authority, a server certificate ({}) and a client certificate in {}",
        listed.join(", "),
        folder.path().display()
    ));
    let until = made
        .valid_until
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let file = |path: PathBuf| path.to_string_lossy().into_owned();
    Ok(serde_json::json!({
        "folder": file(folder.path().to_owned()),
        "ca": file(folder.certificate(Role::Authority)),
        "server": { "certificate": file(folder.certificate(Role::Server)), "key": file(folder.key(Role::Server)) },
        "client": { "certificate": file(folder.certificate(Role::Client)), "key": file(folder.key(Role::Client)) },
        "names": listed,
        "valid_until_unix_seconds": until,
    }))
}
