//! How a client connects to its server: address, TLS, and the networks that the users of a thread share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_grpc::Endpoint;
use plimsoll_net::{ClientCertificate, Network, NetworkSettings};

use super::parameters::{ConnectParameters, Tls};
use crate::user::User;

/// The server at `address`.
///
/// # Errors
/// If the address is incomplete.
pub fn endpoint(address: &str, parameters: &ConnectParameters) -> Result<Endpoint, String> {
    if !address.contains(':') {
        let whose = if address.is_empty() {
            String::new()
        } else {
            format!("address {address}: ")
        };
        return Err(format!(
            "connection error: desc = \"transport: error while dialing: {whose}missing port in address\""
        ));
    }
    let endpoint = Endpoint::parse(address, !parameters.plaintext)
        .map_err(|error| format!("connection error: desc = \"transport: {error}\""))?;
    Ok(match &parameters.authority {
        Some(authority) => endpoint.with_authority(authority),
        None => endpoint,
    })
}

/// The `user-agent` of the run.
pub fn agent(user: &User) -> String {
    let run = user.run.as_ref();
    run.map_or_else(String::new, |run| run.client.user_agent.clone())
}

/// Identifies a network: the run's settings and the client's own.
type Key = (usize, Option<Tls>);

thread_local! {
    /// The networks that the users of this thread share, one for each TLS configuration.
    static NETWORKS: RefCell<Vec<(Key, Rc<Network>)>> = const { RefCell::new(Vec::new()) };
}

/// Maximum number of networks kept per thread.
const MAX_NETWORKS: usize = 16;

/// The network for this TLS configuration.
///
/// # Errors
/// If the certificates are invalid.
pub fn network(user: &User, tls: Option<&Tls>) -> Result<Rc<Network>, String> {
    let client = user.run.as_ref().map(|run| Arc::clone(&run.client));
    let place = client
        .as_ref()
        .map_or(0, |client| Arc::as_ptr(client) as usize);
    let key = (place, tls.cloned());
    NETWORKS.with_borrow_mut(|networks| {
        if let Some((_, network)) = networks.iter().find(|(known, _)| *known == key) {
            return Ok(Rc::clone(network));
        }
        let mut settings =
            client.map_or_else(NetworkSettings::default, |client| client.network.clone());
        if let Some(tls) = tls {
            secure(&mut settings, tls)?;
        }
        let network = Rc::new(Network::new(settings));
        if networks.len() >= MAX_NETWORKS {
            networks.remove(0);
        }
        networks.push((key, Rc::clone(&network)));
        Ok(network)
    })
}

fn secure(settings: &mut NetworkSettings, tls: &Tls) -> Result<(), String> {
    settings.tls.insecure_skip_verify |= tls.accepts_any;
    if !tls.cacerts.is_empty() {
        settings.tls.extra_roots = tls
            .cacerts
            .iter()
            .map(|text| text.clone().into_bytes())
            .collect();
    }
    if !tls.cert.is_empty() && !tls.key.is_empty() {
        if !tls.password.is_empty() {
            return Err(
                "tls: a key with a password is not supported: decrypt it first, with `openssl pkey -in KEY -out PLAIN`"
                    .to_owned(),
            );
        }
        settings.tls.client_certificates = vec![ClientCertificate {
            domains: Vec::new(),
            certificate_pem: tls.cert.clone().into_bytes(),
            key_pem: tls.key.clone().into_bytes(),
        }];
    }
    settings
        .tls
        .check()
        .map_err(|error| format!("failed to append certificate from PEM: {error}"))
}
