//! The start of a connection: encryption and authentication.

use plimsoll_net::{Alpn, Steps, Stream};

use super::address::{Address, Security};
use super::packets::{self, Greeting};
use super::value::put_text;
use super::{Failed, Packets, malformed, password};
use crate::connect_options::ConnectOptions;

/// Capability flags (MySQL manual, "Capabilities Flags").
mod capability {
    pub const LONG_PASSWORD: u32 = 1;
    pub const FOUND_ROWS: u32 = 1 << 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const WITH_DATABASE: u32 = 1 << 3;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const TLS: u32 = 1 << 11;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MANY_STATEMENTS: u32 = 1 << 16;
    pub const MANY_RESULTS: u32 = 1 << 17;
    pub const PLUGIN: u32 = 1 << 19;
    pub const LONG_PROOF: u32 = 1 << 21;
}

const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

/// The character set utf8mb4 with its general collation, which every version supports.
const CHARACTERS: u8 = 45;
const MAXIMUM_PACKET: u32 = super::MAX_PACKET as u32;

/// Logs in on a new stream.
pub async fn log_in(
    stream: Stream,
    address: &Address,
    options: &ConnectOptions,
) -> Result<Packets, Failed> {
    let mut packets = Packets::new(stream);
    let packet = packets.read_success().await?;
    let greeting = packets::greeting(&packet).ok_or_else(malformed)?;
    let accepts_tls = greeting.capabilities & capability::TLS != 0;
    let is_encrypted = match address.security {
        Security::Clear => false,
        Security::Preferred => accepts_tls,
        Security::Unverified | Security::Verified if accepts_tls => true,
        Security::Unverified | Security::Verified => {
            let text = "the server does not accept TLS, which the address requires with tls=";
            return Err(Failed::Broken(text.to_owned()));
        }
    };
    let flags =
        capabilities(address, is_encrypted) & (greeting.capabilities | capability::LONG_PASSWORD);
    let mut opening = flags.to_le_bytes().to_vec();
    opening.extend(MAXIMUM_PACKET.to_le_bytes());
    opening.push(CHARACTERS);
    opening.extend([0; 23]);
    if is_encrypted {
        packets.write(&opening).await?;
        packets = encrypt(packets, address, options).await?;
    }
    // Try an unknown method, too: the server then requests another one.
    let method = match greeting.plugin.as_str() {
        SHA2 => SHA2,
        _ => NATIVE,
    };
    let proof = proof(method, &address.password, &greeting.nonce)?;
    let mut response = opening;
    response.extend_from_slice(address.user.as_bytes());
    response.push(0);
    put_text(&mut response, &proof);
    if !address.database.is_empty() {
        response.extend_from_slice(address.database.as_bytes());
        response.push(0);
    }
    response.extend_from_slice(method.as_bytes());
    response.push(0);
    packets.write(&response).await?;
    authenticate(&mut packets, address, &greeting, is_encrypted).await?;
    Ok(packets)
}

fn capabilities(address: &Address, is_encrypted: bool) -> u32 {
    let mut flags = capability::LONG_PASSWORD
        | capability::LONG_FLAG
        | capability::PROTOCOL_41
        | capability::TRANSACTIONS
        | capability::SECURE_CONNECTION
        | capability::MANY_RESULTS
        | capability::PLUGIN
        | capability::LONG_PROOF;
    for (bit, is_set) in [
        (capability::TLS, is_encrypted),
        (capability::WITH_DATABASE, !address.database.is_empty()),
        (capability::MANY_STATEMENTS, address.has_many_statements),
        (capability::FOUND_ROWS, address.counts_found_rows),
    ] {
        if is_set {
            flags |= bit;
        }
    }
    flags
}

/// Starts TLS. The packet numbers continue.
async fn encrypt(
    packets: Packets,
    address: &Address,
    options: &ConnectOptions,
) -> Result<Packets, Failed> {
    let number = packets.number;
    let mut steps = Steps::default();
    // Nothing has been read after the first packet, because the server waits.
    let stream = packets.stream.into_inner();
    let secured = options
        .network
        .secure(stream, &address.host, Alpn::None, &mut steps);
    let (stream, _) = secured
        .await
        .map_err(|error| Failed::Broken(error.to_string()))?;
    let mut packets = Packets::new(stream);
    packets.number = number;
    Ok(packets)
}

fn proof(method: &str, password: &str, nonce: &[u8]) -> Result<Vec<u8>, Failed> {
    match method {
        NATIVE => Ok(password::native(password, nonce)),
        SHA2 => Ok(password::sha256(password, nonce)),
        other => Err(Failed::Broken(format!(
            "the server requires {other}: only {NATIVE} and {SHA2} are supported"
        ))),
    }
}

/// Responds until the server accepts the user.
async fn authenticate(
    packets: &mut Packets,
    address: &Address,
    greeting: &Greeting,
    is_encrypted: bool,
) -> Result<(), Failed> {
    const SWITCH_METHOD: u8 = 0xFE;
    const MORE: u8 = 1;
    const CACHED: u8 = 3;
    const PASSWORD_NEEDED: u8 = 4;
    const KEY_PLEASE: u8 = 2;
    let mut nonce = greeting.nonce.clone();
    loop {
        let packet = packets.read_success().await?;
        match packet.as_slice() {
            [0, ..] => return Ok(()),
            [SWITCH_METHOD, ..] => {
                let (method, other) = packets::other_plugin(&packet).ok_or_else(malformed)?;
                let proof = proof(&method, &address.password, &other)?;
                nonce = other;
                packets.write(&proof).await?;
            }
            // The server's success message follows.
            [MORE, CACHED] => {}
            [MORE, PASSWORD_NEEDED] if is_encrypted => {
                let mut password = address.password.clone().into_bytes();
                password.push(0);
                packets.write(&password).await?;
            }
            [MORE, PASSWORD_NEEDED] => packets.write(&[KEY_PLEASE]).await?,
            [MORE, key @ ..] => {
                let hidden = password::encrypted(&address.password, &nonce, key);
                let hidden = hidden.map_err(Failed::Broken)?;
                packets.write(&hidden).await?;
            }
            _ => return Err(malformed()),
        }
    }
}
