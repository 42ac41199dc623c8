use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use net::{Traffic, TrafficCounter};
use units::Moment;

use crate::exchange::Exchange;
use crate::leg::{HeadSource, Leg};
use crate::outcome::Outcome;
use crate::pool::{Limits, Pool};
use crate::prepared::Prepared;
use crate::shared::Shared;

/// One virtual user's HTTP: its connections and its traffic. Methods take
/// `&self`, so several requests can run at once.
#[derive(Debug)]
pub struct Client {
    pub(crate) shared: Rc<Shared>,
    pub(crate) pool: Pool,
    pub(crate) traffic: Rc<TrafficCounter>,
    pub(crate) local_ip: Option<IpAddr>,
    /// The head sent last: users mostly send the same one again.
    pub(crate) last_sent: RefCell<Rc<[u8]>>,
}

impl Client {
    /// The client of user `number`, counted from 1: the number chooses the
    /// local address where there is a choice.
    pub fn new(shared: Rc<Shared>, number: u64) -> Self {
        let settings = shared.settings();
        let limits = Limits {
            idle_per_host: settings.idle_per_host,
            idle_total: settings.idle_total,
            open_per_host: settings.connections_per_host,
        };
        Client {
            pool: Pool::new(limits),
            traffic: Rc::default(),
            local_ip: shared.network.local_ip(number),
            last_sent: RefCell::new(Rc::default()),
            shared,
        }
    }

    /// Socket bytes since the last call.
    pub fn traffic(&self) -> Traffic {
        self.traffic.take()
    }

    /// Closes the connections that no request is using.
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }

    /// Sends a prepared request. `started` is when it was asked for: a reading
    /// of the clock that the caller has made anyway.
    pub async fn send_prepared(&self, prepared: &Prepared, started: Moment) -> Exchange {
        let leg = Leg {
            head: HeadSource::Prepared(prepared),
            method: &prepared.method,
            url: &prepared.url,
            body: &prepared.body,
            keep_body: false,
            deadline: started + prepared.timeout,
            protocol: prepared.protocol,
            is_upgrade: false,
        };
        let mut outcome = Outcome::begin(&prepared.method, &prepared.url, started);
        self.leg(&leg, &mut outcome).await;
        outcome.exchange
    }
}
