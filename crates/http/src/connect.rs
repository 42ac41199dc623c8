use net::Steps;

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
        if url.is_https() {
            return Err(ErrorInfo::new(
                crate::code::TLS,
                "https is not supported in this build",
            ));
        }
        let dialled = self
            .shared
            .network
            .dial(url.host(), url.port(), self.local_ip, &self.traffic, steps)
            .await
            .map_err(|error| ErrorInfo::from(&error))?;
        Ok(Box::new(Kept {
            wire: h1::Connection::new(dialled.stream),
            remote: dialled.remote,
            tls: None,
            out: Vec::new(),
        }))
    }
}
