//! Resource usage of other hosts during a run.

use std::sync::Arc;

use plimsoll_results::environment::Environment;
use serde::{Deserialize, Serialize};

use super::super::server::Server;
use super::{Connection, Reading};

/// A host and its usage during a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostUse {
    pub name: String,
    /// The processes of the lab on it.
    pub processes: Vec<String>,
    /// Its hardware and software.
    pub environment: Environment,
    /// Average number of busy processors, including those of other programs.
    pub busy_processors: Option<f64>,
}

/// The hosts of a run while it is in progress.
#[derive(Debug)]
pub struct HostsInUse(Vec<HostInUse>);

#[derive(Debug)]
struct HostInUse {
    connection: Arc<Connection>,
    processes: Vec<String>,
    before: Reading,
}

impl HostsInUse {
    /// Reads the usage of all hosts of these processes, once for each host.
    pub fn begin(servers: &[Server]) -> HostsInUse {
        let mut hosts: Vec<HostInUse> = Vec::new();
        for server in servers {
            let Some(connection) = &server.connection else {
                continue;
            };
            let known = hosts
                .iter_mut()
                .find(|host| host.connection.name == connection.name);
            match known {
                Some(host) => host.processes.push(server.name.clone()),
                None => hosts.push(HostInUse {
                    connection: Arc::clone(connection),
                    processes: vec![server.name.clone()],
                    before: connection.read(),
                }),
            }
        }
        HostsInUse(hosts)
    }

    /// Reads the usage again.
    pub fn end(self) -> Vec<HostUse> {
        self.0
            .into_iter()
            .map(|host| {
                let after = host.connection.read();
                let busy = after.busy.zip(host.before.busy);
                let took = after.at - host.before.at;
                HostUse {
                    name: host.connection.name.clone(),
                    processes: host.processes,
                    environment: host.connection.prepared.environment.clone(),
                    busy_processors: busy
                        .filter(|_| took > 0.0)
                        .map(|(after, before)| (after - before).max(0.0) / took),
                }
            })
            .collect()
    }
}
