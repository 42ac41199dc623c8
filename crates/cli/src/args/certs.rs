//! `plimsoll certs`.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_certs::{KeyKind, Name};

/// Create a certificate authority and certificates for tests
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/certs.txt"))]
pub struct CertsArgs {
    /// Folder for the files; created if it does not exist
    #[arg(value_name = "FOLDER", default_value = "certs")]
    pub folder: PathBuf,
    /// Additional name or address that the server's certificate is valid for; repeat for several
    #[arg(long = "name", value_name = "NAME", value_parser = Name::parse)]
    pub names: Vec<Name>,
    /// Common name of the client's certificate
    #[arg(long, value_name = "NAME", default_value = "Plimsoll test client")]
    pub client: String,
    /// Type of the keys: ecdsa (P-256), rsa2048, rsa3072, rsa4096
    #[arg(long, value_name = "KIND", default_value = "ecdsa", value_parser = KeyKind::parse)]
    pub key: KeyKind,
    /// How long they are valid, like 24h or 365d
    #[arg(long, value_name = "TIME", default_value = "365d", value_parser = super::time)]
    pub lifetime: Duration,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
}
