//! The other hosts of a lab, and their resource usage over all its runs.

use plimsoll_results::lab::Host;

use crate::resolve::Lab;
use crate::run::store::Store;

/// Each host is listed once.
pub fn of(lab: &Lab, store: &Store) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    let runs = lab
        .cells
        .iter()
        .filter(|cell| cell.link.as_ref().is_some_and(|link| link.host.is_some()))
        .flat_map(|cell| (1..=cell.load.runs()).map(move |run| (cell.number, run)));
    let uses = runs
        .filter_map(|(cell, run)| store.facts(cell, run))
        .flat_map(|facts| facts.hosts);
    for it in uses {
        let at = hosts.iter().position(|host| host.name == it.name);
        let at = at.unwrap_or_else(|| {
            hosts.push(Host {
                name: it.name,
                environment: it.environment,
                ..Host::default()
            });
            hosts.len() - 1
        });
        let Some(host) = hosts.get_mut(at) else {
            continue;
        };
        for process in it.processes {
            if !host.processes.contains(&process) {
                host.processes.push(process);
            }
        }
        if let Some(busy) = it.busy_processors {
            let (least, most) = host.busy_processors.unwrap_or((busy, busy));
            host.busy_processors = Some((least.min(busy), most.max(busy)));
        }
    }
    hosts
}
