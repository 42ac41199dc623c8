//! The current configuration, with the state that survives a reload.

use std::sync::Arc;

use hyper::Method;
use hyper::header::HeaderValue;
use indexmap::IndexMap;

use crate::config::{self, Config};
use crate::gate::Gate;
use crate::ratelimit::Limiter;
use crate::upstream::Upstream;

pub struct Plan {
    pub config: Config,
    pub upstreams: IndexMap<String, Arc<Upstream>>,
    pub services: IndexMap<String, Arc<Service>>,
    routes: Vec<Route>,
}

pub struct Route {
    pub name: String,
    pub settings: config::Route,
    pub service: Arc<Service>,
    pub limiter: Option<Arc<Limiter>>,
}

pub struct Service {
    pub settings: config::Service,
    pub upstream: Arc<Upstream>,
    pub gate: Gate,
}

impl Plan {
    /// The plan for a configuration. Unchanged parts keep their state: connections, health, queues
    /// and buckets.
    pub fn new(config: Config, before: Option<&Plan>, workers: usize) -> Plan {
        let mut plan = Plan {
            upstreams: IndexMap::new(),
            services: IndexMap::new(),
            routes: Vec::new(),
            config,
        };
        for (name, settings) in &plan.config.upstreams {
            let same = before.and_then(|plan| plan.upstreams.get(name));
            let same = same.filter(|same| *same.settings == *settings).cloned();
            let new = || Arc::new(Upstream::new(settings.clone(), workers));
            plan.upstreams
                .insert(name.clone(), same.unwrap_or_else(new));
        }
        for (name, settings) in &plan.config.services {
            // The configuration was checked: every name exists.
            let Some(upstream) = plan.upstreams.get(&settings.upstream) else {
                continue;
            };
            let same = before
                .and_then(|plan| plan.services.get(name))
                .filter(|same| same.settings == *settings && Arc::ptr_eq(&same.upstream, upstream));
            let new = || Service {
                gate: Gate::new(settings),
                settings: settings.clone(),
                upstream: upstream.clone(),
            };
            let service = same.cloned().unwrap_or_else(|| Arc::new(new()));
            plan.services.insert(name.clone(), service);
        }
        for (name, settings) in &plan.config.routes {
            let Some(service) = plan.services.get(&settings.service) else {
                continue;
            };
            let before =
                before.and_then(|plan| plan.routes.iter().find(|route| route.name == *name));
            let before = before.and_then(|route| route.limiter.as_ref());
            let limiter = settings.rate_limit.as_ref().map(|limit| {
                let same = before.filter(|same| same.settings == *limit).cloned();
                same.unwrap_or_else(|| Arc::new(Limiter::new(limit.clone())))
            });
            plan.routes.push(Route {
                name: name.clone(),
                settings: settings.clone(),
                service: service.clone(),
                limiter,
            });
        }
        plan
    }

    /// The first route that matches a request.
    pub fn route(
        &self,
        entry: &str,
        host: Option<&HeaderValue>,
        method: &Method,
        path: &str,
    ) -> Option<&Route> {
        self.routes.iter().find(|route| {
            let config::Route {
                entries,
                hosts,
                methods,
                prefix,
                regex,
                ..
            } = &route.settings;
            (entries.is_empty() || entries.iter().any(|name| name == entry))
                && (methods.is_empty() || methods.contains(method))
                && prefix.as_deref().is_none_or(|prefix| begins(path, prefix))
                && (hosts.is_empty() || host.is_some_and(|host| is_among(host, hosts)))
                && regex.as_ref().is_none_or(|regex| regex.0.is_match(path))
        })
    }
}

/// Whether a path is `prefix` or below it: `/a` matches `/a` and `/a/b`, not `/ab`.
fn begins(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/'))
}

fn is_among(host: &HeaderValue, hosts: &[String]) -> bool {
    let Ok(host) = host.to_str() else {
        return false;
    };
    // A port follows the last colon, unless that is inside the brackets of an IPv6 address.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    };
    let name = name.strip_suffix('.').unwrap_or(name).as_bytes();
    hosts.iter().any(|known| match known.strip_prefix('*') {
        Some(rest) => name
            .split_at_checked(name.len().saturating_sub(rest.len()))
            .is_some_and(|(sub, end)| !sub.is_empty() && end.eq_ignore_ascii_case(rest.as_bytes())),
        None => name.eq_ignore_ascii_case(known.as_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_without_port_and_case() {
        let among = |host: &'static str, known: &str| {
            is_among(&HeaderValue::from_static(host), &[known.to_owned()])
        };
        assert!(among("API.test:8080", "api.test") && among("api.test.", "api.test"));
        assert!(among("x.api.test", "*.api.test") && !among("api.test", "*.api.test"));
        assert!(!among("xapi.test", "*.api.test"));
        assert!(among("[::1]:80", "[::1]") && among("[::1]", "[::1]"));
    }
}
