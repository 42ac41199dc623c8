//! `plimsoll certs`.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_certs::{KeyKind, Name};

/// Make an authority and certificates for tests
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll certs                                   ./certs, for localhost, 127.0.0.1 and ::1\n  \
    plimsoll certs --name api.test --name 10.0.0.7 /tmp/certs\n  \
    plimsoll certs --key rsa2048 --lifetime 24h --force certs\n\n\
    The folder gets ca.pem, ca.key, server.pem, server.key, client.pem and client.key. Keys can be\n\
    read by their owner alone. Clients trust ca.pem; a server that asks its clients for\n\
    certificates trusts it too:\n  \
    plimsoll serve payload --certs certs\n  \
    curl --cacert certs/ca.pem --cert certs/client.pem --key certs/client.key https://localhost:10444/\n\n\
    These are for tests: whoever has ca.key can speak for any name where ca.pem is trusted.")]
pub struct CertsArgs {
    /// Where to put them; made if need be
    #[arg(value_name = "FOLDER", default_value = "certs")]
    pub folder: PathBuf,
    /// A further name or address the server's certificate is valid for; give it several times
    #[arg(long = "name", value_name = "NAME", value_parser = Name::parse)]
    pub names: Vec<Name>,
    /// The common name of the client's certificate
    #[arg(long, value_name = "NAME", default_value = "Plimsoll test client")]
    pub client: String,
    /// The kind of the keys: ecdsa (P-256), rsa2048, rsa3072, rsa4096
    #[arg(long, value_name = "KIND", default_value = "ecdsa", value_parser = KeyKind::parse)]
    pub key: KeyKind,
    /// For how long they are valid, like 24h or 365d
    #[arg(long, value_name = "TIME", default_value = "365d", value_parser = super::time)]
    pub lifetime: Duration,
    /// Write over files that are there
    #[arg(long)]
    pub force: bool,
}
