//! The network that connections use.

use std::net::IpAddr;
use std::rc::Rc;

use plimsoll_net::{Network, TrafficCounter};

/// The settings for opening connections.
#[derive(Clone)]
pub struct ConnectOptions {
    pub network: Rc<Network>,
    pub local: Option<IpAddr>,
    pub counter: Rc<TrafficCounter>,
}
