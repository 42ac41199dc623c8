//! The current configuration, with the state that survives a reload.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::Method;
use hyper::header::HeaderValue;

use crate::config::{self, Config};
use crate::gate::Gate;
use crate::ratelimit::Limiter;
use crate::upstream::Upstream;

pub struct Plan {
    pub config: Config,
    routes: Vec<Route>,
    services: Vec<Arc<Service>>,
    upstreams: Vec<Arc<Upstream>>,
}

pub struct Route {
    pub settings: config::Route,
    pub service: Arc<Service>,
    pub limiter: Option<Arc<Limiter>>,
    /// The indices of its entries; empty for all.
    entries: Vec<String>,
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
        let upstreams: Vec<_> = config
            .upstreams
            .iter()
            .map(|settings| {
                let same = before.and_then(|plan| {
                    plan.upstreams
                        .iter()
                        .find(|upstream| upstream.settings == *settings)
                });
                same.cloned()
                    .unwrap_or_else(|| Arc::new(Upstream::new(settings.clone(), workers)))
            })
            .collect();
        let by_name: HashMap<&str, &Arc<Upstream>> = upstreams
            .iter()
            .map(|upstream| (upstream.settings.name.as_str(), upstream))
            .collect();
        // The configuration was checked: every name exists.
        let services: Vec<_> = config
            .services
            .iter()
            .filter_map(|settings| {
                let upstream = *by_name.get(settings.upstream.as_str())?;
                let same = before.and_then(|plan| {
                    plan.services.iter().find(|service| {
                        service.settings == *settings && Arc::ptr_eq(&service.upstream, upstream)
                    })
                });
                Some(same.cloned().unwrap_or_else(|| {
                    Arc::new(Service {
                        gate: Gate::new(settings),
                        settings: settings.clone(),
                        upstream: upstream.clone(),
                    })
                }))
            })
            .collect();
        let routes = config
            .routes
            .iter()
            .filter_map(|settings| {
                let service = services
                    .iter()
                    .find(|service| service.settings.name == settings.service)?;
                Some(Route {
                    service: service.clone(),
                    limiter: settings.rate_limit.as_ref().map(|limit| {
                        let same = before.and_then(|plan| plan.limiter(&settings.name));
                        same.filter(|same| same.settings == *limit)
                            .unwrap_or_else(|| Arc::new(Limiter::new(limit.clone())))
                    }),
                    entries: settings.entries.clone(),
                    settings: settings.clone(),
                })
            })
            .collect();
        Plan {
            config,
            routes,
            services,
            upstreams,
        }
    }

    fn limiter(&self, route: &str) -> Option<Arc<Limiter>> {
        let route = self
            .routes
            .iter()
            .find(|other| other.settings.name == route)?;
        route.limiter.clone()
    }

    /// The first route that matches a request.
    pub fn route(
        &self,
        entry: &str,
        host: Option<&HeaderValue>,
        method: &Method,
        path: &str,
    ) -> Option<&Route> {
        self.routes
            .iter()
            .find(|route| route.fits(entry, host, method, path))
    }

    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    pub fn services(&self) -> &[Arc<Service>] {
        &self.services
    }

    pub fn upstreams(&self) -> &[Arc<Upstream>] {
        &self.upstreams
    }
}

impl Route {
    fn fits(&self, entry: &str, host: Option<&HeaderValue>, method: &Method, path: &str) -> bool {
        let config::Route {
            hosts,
            methods,
            prefix,
            regex,
            ..
        } = &self.settings;
        (self.entries.is_empty() || self.entries.iter().any(|name| name == entry))
            && (methods.is_empty() || methods.contains(method))
            && prefix.as_deref().is_none_or(|prefix| begins(path, prefix))
            && (hosts.is_empty() || host.is_some_and(|host| is_among(host, hosts)))
            && regex.as_ref().is_none_or(|regex| regex.0.is_match(path))
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
    let name = name.strip_suffix('.').unwrap_or(name);
    hosts.iter().any(|known| match known.strip_prefix('*') {
        Some(rest) => {
            name.len() > rest.len()
                && name
                    .get(name.len() - rest.len()..)
                    .is_some_and(|end| end.eq_ignore_ascii_case(rest))
        }
        None => name.eq_ignore_ascii_case(known),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_slashes() {
        assert!(begins("/a", "/a") && begins("/a/b", "/a") && begins("/a/b", "/a/"));
        assert!(!begins("/ab", "/a") && !begins("/a", "/a/"));
        assert!(begins("/anything", "/"));
    }

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
