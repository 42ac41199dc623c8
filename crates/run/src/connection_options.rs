//! Options for connections, shared by all load commands.

use plimsoll_address::IpPool;
use plimsoll_net::NetworkSettings;
use plimsoll_plan::DnsOptions;

use crate::settings::{self, IoMode};
use crate::tls_files::TlsFiles;

#[derive(Clone, Debug, Default)]
pub struct ConnectionOptions {
    pub dns: Option<DnsOptions>,
    /// Local addresses to connect from, distributed over the users.
    pub local_ips: Option<IpPool>,
    /// Connect to this socket, whatever the host is.
    pub unix_socket: Option<String>,
    pub io: IoMode,
    pub tls: TlsFiles,
}

impl ConnectionOptions {
    /// The settings for an open or a closed model.
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn network(&self, is_open: bool) -> Result<NetworkSettings, String> {
        Ok(NetworkSettings {
            dns: settings::dns(self.dns.as_ref()),
            local_ips: self.local_ips.clone().unwrap_or_default(),
            tls: self.tls.read()?,
            io: settings::io(self.io, is_open)?,
            unix_socket: self
                .unix_socket
                .as_deref()
                .map(|path| settings::unix_socket("--unix-socket", path))
                .transpose()?,
            ..NetworkSettings::default()
        })
    }

    /// Adds the options to those of the load, in the form of a record.
    pub(crate) fn describe(&self, record: &mut serde_json::Value) {
        record["dns"] = match &self.dns {
            Some(dns) => format!("{dns:?}").into(),
            None => serde_json::Value::Null,
        };
        record["local_ips"] = self.local_ips.as_ref().map(IpPool::as_str).into();
        record["unix_socket"] = self.unix_socket.clone().into();
        record["io"] = self.io.name().into();
        record["insecure"] = self.tls.insecure.into();
        record["client_certificate"] = self.tls.cert.is_some().into();
        record["root_certs"] = self.tls.ca.len().into();
    }
}
