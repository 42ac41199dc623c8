use net::{Alpn, Steps};

use crate::client::Client;
use crate::error::ErrorInfo;
use crate::h1;
use crate::pool::Kept;
use crate::url::Url;

impl Client {
    /// Opens a connection to `url`'s origin. `steps` tells how far it came.
    pub(crate) async fn connect(
        &self,
        url: &Url,
        steps: &mut Steps,
    ) -> Result<Box<Kept>, ErrorInfo> {
        let network = &self.shared.network;
        let dialled = network
            .dial(url.host(), url.port(), self.local_ip, &self.traffic, steps)
            .await
            .map_err(|error| ErrorInfo::from(&error))?;
        let (stream, tls) = if url.is_https() {
            let (stream, facts) = network
                .secure(dialled.stream, url.host(), Alpn::Http1, steps)
                .await
                .map_err(|error| ErrorInfo::from(&error))?;
            (stream, Some(facts))
        } else {
            (dialled.stream, None)
        };
        Ok(Box::new(Kept {
            wire: h1::Connection::new(stream),
            remote: dialled.remote,
            tls,
            out: Vec::new(),
        }))
    }
}
