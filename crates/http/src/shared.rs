use std::rc::Rc;
use std::sync::Arc;

use plimsoll_net::Network;

use crate::scratch::Scratch;
use crate::settings::Settings;

/// Size of the read buffer. Each worker has one buffer, not each connection. Bytes that remain
/// after a read are copied out.
const SCRATCH: usize = 64 * 1024;

/// The state that the users of one worker share: settings, resolver cache, TLS sessions.
#[derive(Debug)]
pub struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) network: Network,
    pub(crate) scratch: Scratch,
    #[cfg(feature = "http3")]
    pub(crate) endpoints: plimsoll_http3::Endpoints,
}

impl Shared {
    pub fn new(settings: Arc<Settings>) -> Rc<Self> {
        Rc::new(Shared {
            network: Network::new(settings.network.clone()),
            scratch: Scratch::new(SCRATCH),
            #[cfg(feature = "http3")]
            endpoints: plimsoll_http3::Endpoints::default(),
            settings,
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
