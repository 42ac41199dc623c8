//! An attack with vegeta's flags: converts their values to a run that is ready to start.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_plan::{Arrivals, Executor, Rate, Scenario};
use plimsoll_results::secrets::url_for_display;
use plimsoll_scriptless::attack_values::{
    body_limit, header, name_servers, positive_time, proxy_fields, rules,
};
use plimsoll_scriptless::{Aim, AttackSettings, Defaults, Format};

use crate::attack::{Attack, TargetList};
use crate::connection_options::ConnectionOptions;
use crate::load_options::read_trace_file;
use crate::request::Load;
use crate::resolved::ResolvedLoad;
use crate::results_file::Destination;

/// The values of vegeta's flags. Each field has the name of its flag.
pub struct AttackOptions {
    pub targets: String,
    pub format: String,
    pub lazy: bool,
    pub body: Option<PathBuf>,
    pub headers: Vec<String>,
    pub rate: String,
    pub duration: String,
    pub workers: u32,
    pub max_workers: Option<u64>,
    pub arrivals: Arrivals,
    /// The default seed of random arrivals.
    pub arrivals_seed: Option<u64>,
    pub name: String,
    /// Idle connections to keep per host.
    pub connections: usize,
    pub max_connections: usize,
    pub keepalive: bool,
    pub protocol: plimsoll_http::Protocol,
    pub resolvers: Option<String>,
    pub dns_ttl: String,
    pub connect_to: Vec<String>,
    pub proxy_headers: Vec<String>,
    pub session_tickets: bool,
    pub redirects: i64,
    pub timeout: String,
    pub chunked: bool,
    pub max_body: String,
    pub prometheus_addr: Option<String>,
    pub connection: ConnectionOptions,
    pub threads: Option<usize>,
}

/// The duration of an attack without a limit, which the value `0` requests.
pub(crate) const UNLIMITED: Duration = Duration::from_secs(100 * 365 * 86_400);

/// When hits start, and for how long they do.
struct Schedule {
    /// `None` to send as many hits as the workers can.
    rate: Option<Rate>,
    duration: Option<Duration>,
    workers: u32,
    max_workers: u32,
    arrivals: Arrivals,
    timeout: Duration,
    threads: usize,
}

impl AttackOptions {
    /// Fills in what the flags leave open, and reads the targets. Results go to `results`.
    ///
    /// # Errors
    /// If a flag or a target is invalid.
    pub fn resolve(mut self, results: Destination) -> Result<ResolvedLoad, String> {
        self.arrivals = self.arrivals.seeded(self.arrivals_seed);
        self.arrivals
            .read_trace(read_trace_file)
            .map_err(|error| format!("-arrivals={error}"))?;
        let schedule = self.schedule()?;
        let http = self.http_settings(schedule.threads, schedule.rate.is_some())?;
        let settings = AttackSettings {
            name: self.name.clone(),
            redirects: u32::try_from(self.redirects).ok(),
            max_body: body_limit(&self.max_body)?,
            timeout: schedule.timeout,
            chunked: self.chunked,
            shown_url: url_for_display,
        };
        let aim = self.target_list()?.open()?;
        let scenario = schedule.scenario();
        Ok(ResolvedLoad {
            title: self.title(&aim),
            configuration: self.describe(&aim, &scenario),
            duration: schedule.duration,
            is_fixed_work: false,
            threads: Some(schedule.threads),
            load: Load::Attack(Box::new(Attack {
                aim,
                list_name: self.targets,
                settings,
                http,
                scenario,
                results,
                metrics_address: self.prometheus_addr.filter(|address| !address.is_empty()),
            })),
        })
    }

    fn schedule(&self) -> Result<Schedule, String> {
        let mut rate = rate(&self.rate)?;
        let max_workers = self.max_workers.unwrap_or(u64::MAX);
        if rate.is_none() && self.max_workers.is_none() {
            return Err("-rate=0 requires setting -max-workers: write -max-workers=100".to_owned());
        }
        if max_workers == 0 {
            return Err("-max-workers=0: at least one is needed to send anything".to_owned());
        }
        if rate.is_none() && max_workers > 1_000_000 {
            return Err(format!(
                "-max-workers={max_workers}: with -rate=0 they all send at the same time; at most 1000000 are allowed"
            ));
        }
        let duration = positive_time("-duration", &self.duration)?;
        let mut duration = (!duration.is_zero()).then_some(duration);
        if let Some(trace) = self.arrivals.trace() {
            let (length, mean) = trace.extent(duration);
            if mean.count == 0 {
                return Err(format!("-arrivals={trace}: no arrival within -duration"));
            }
            (duration, rate) = (Some(length), Some(mean));
        }
        let mut threads = self
            .threads
            .unwrap_or_else(plimsoll_machine::processors)
            .max(1);
        if self.max_connections > 0 {
            // Each thread has its own connections.
            threads = threads.min(self.max_connections);
        }
        let max_workers = u32::try_from(max_workers).unwrap_or(u32::MAX);
        Ok(Schedule {
            rate,
            duration,
            workers: self.workers.clamp(1, max_workers),
            max_workers,
            arrivals: self.arrivals.clone(),
            timeout: match positive_time("-timeout", &self.timeout)? {
                Duration::ZERO => UNLIMITED,
                timeout => timeout,
            },
            threads,
        })
    }

    /// The target list, and the defaults for its targets.
    fn target_list(&self) -> Result<TargetList, String> {
        let format = match self.format.as_str() {
            "http" | "text" => Format::Text,
            "json" => Format::Json,
            other => return Err(format!("-format={other}: use http (text) or json")),
        };
        let body = match &self.body {
            Some(path) => plimsoll_machine::read_file(path)
                .map_err(|error| format!("-body={}: cannot read it: {error}", path.display()))?,
            None => Vec::new(),
        };
        let headers = self.headers.iter().map(|line| header("-header", line));
        Ok(TargetList {
            name: self.targets.clone(),
            format,
            defaults: Defaults {
                headers: headers.collect::<Result<_, String>>()?,
                body: body.into(),
            },
            is_lazy: self.lazy,
        })
    }

    fn http_settings(
        &self,
        threads: usize,
        is_open: bool,
    ) -> Result<plimsoll_http::Settings, String> {
        let idle = match self.connections {
            // Go's client treats 0 as its default.
            0 => 2,
            connections => connections,
        };
        // A unix socket replaces every other destination, even a proxy.
        let proxies = match self.connection.unix_socket {
            Some(_) => plimsoll_http::Proxies::default(),
            None => plimsoll_http::Proxies::from_env(|name| std::env::var(name).ok())?,
        };
        let mut network = self.connection.network(is_open)?;
        network.rules = rules(&self.connect_to)?;
        network.dns.ttl = match self.dns_ttl.as_str() {
            text if text.starts_with("-1") => Duration::ZERO,
            text => match positive_time("-dns-ttl", text)? {
                Duration::ZERO => Duration::MAX,
                ttl => ttl,
            },
        };
        if let Some(text) = &self.resolvers {
            network.name_servers = name_servers(text)?;
        }
        network.tls.resume_sessions = self.session_tickets;
        Ok(plimsoll_http::Settings {
            user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
            no_connection_reuse: !self.keepalive,
            idle_per_host: idle.div_ceil(threads),
            idle_total: usize::MAX,
            connections_per_host: match self.max_connections {
                0 => None,
                most => Some((most / threads).max(1)),
            },
            protocol: crate::settings::built_with(self.protocol)?,
            proxies: proxies.with_connect_fields(proxy_fields(&self.proxy_headers)?),
            network,
            ..plimsoll_http::Settings::default()
        })
    }

    fn title(&self, aim: &Aim) -> String {
        let targets = match aim {
            Aim::Stream(_) => format!("targets of {}", self.targets),
            Aim::Cycle(targets) => match &**targets {
                [only] => format!("{} {}", only.method, only.url),
                targets => format!("{} targets", targets.len()),
            },
        };
        let load = match (self.rate.as_str(), self.max_workers) {
            _ if self.arrivals.trace().is_some() => "requests at recorded times".to_owned(),
            ("0" | "infinity", Some(workers)) => format!("{workers} workers"),
            (rate, _) if rate.contains('/') => format!("{rate} requests"),
            (rate, _) => format!("{rate} requests/s"),
        };
        let load = match self.arrivals.is_even() {
            true => load,
            false => format!("{load} (arrivals: {})", self.arrivals),
        };
        match self.name.as_str() {
            "" => format!("{targets}, {load}"),
            name => format!("{name}: {targets}, {load}"),
        }
    }

    /// The settings for the header of the record.
    fn describe(&self, aim: &Aim, scenario: &Scenario) -> serde_json::Value {
        let mut record = serde_json::json!({
            "targets": self.targets,
            "targets_content": TargetList::content_hash(aim, &self.targets),
            "format": self.format,
            "lazy": self.lazy,
            "headers": self.headers,
            "load": [scenario.description()],
            "rate": self.rate,
            "duration": self.duration,
            "workers": self.workers,
            "max_workers": self.max_workers,
            "cpus": self.threads,
            "connections": self.connections,
            "max_connections": self.max_connections,
            "keep_alive": self.keepalive,
            "protocol": format!("{:?}", self.protocol),
            "redirects": self.redirects,
            "timeout": self.timeout,
            "chunked": self.chunked,
            "max_body": self.max_body,
            "resolvers": self.resolvers,
            "dns_ttl": self.dns_ttl,
            "connect_to": self.connect_to,
            "proxy_headers": self.proxy_headers,
            "session_tickets": self.session_tickets,
            "name": self.name,
        });
        if !self.arrivals.is_even() {
            record["arrivals"] = self.arrivals.to_string().into();
        }
        self.connection.describe(&mut record);
        record
    }
}

impl Schedule {
    fn scenario(&self) -> Scenario {
        let duration = self.duration.unwrap_or(UNLIMITED);
        let executor = match self.rate {
            Some(rate) => Executor::ConstantArrivalRate {
                rate,
                duration,
                pre_allocated: self.workers,
                max_users: self.max_workers,
            },
            None => Executor::ConstantUsers {
                users: self.max_workers,
                duration,
            },
        };
        let mut scenario = Scenario::new("attack", executor);
        // Wait for all hits that were sent, no matter how long they take.
        scenario.graceful_stop = self.timeout + Duration::from_secs(1);
        scenario.arrivals = self.arrivals.clone();
        scenario
    }
}

/// Parses `50`, `50/s` or `10.5/1m`. `None` for 0, which means as fast as the workers can send.
fn rate(text: &str) -> Result<Option<Rate>, String> {
    if text == "infinity" {
        return Ok(None);
    }
    let rate = Rate::parse(text).map_err(|error| format!("-rate={error}"))?;
    Ok((rate.count > 0).then_some(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_vegeta_reads_them() {
        let read = |text: &str| rate(text).map(|rate| rate.map(|r| (r.count, r.per)));
        let second = Duration::from_secs(1);
        assert_eq!(read("50"), Ok(Some((50, second))));
        assert_eq!(read("3/2s"), Ok(Some((3, 2 * second))));
        for unlimited in ["0", "0/1s", "5/0s", "infinity"] {
            assert_eq!(read(unlimited), Ok(None), "{unlimited}");
        }
        assert!(read("x").unwrap_err().starts_with("-rate=x: "));
    }
}
