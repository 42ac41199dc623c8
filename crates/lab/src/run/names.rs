//! The values of variables when processes run.

use std::collections::HashMap;

use crate::problem::{Location, Problem};
use crate::template::{self, Lookup};

/// Variables and their values.
#[derive(Clone, Debug, Default)]
pub struct Names(HashMap<String, String>);

impl Names {
    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.insert(name.into(), text.into());
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Substitutes all variables in a string.
    ///
    /// # Errors
    /// A variable that is not known yet.
    pub fn fill(&self, text: &str, place: &Location) -> Result<String, Problem> {
        template::finish(text, |name| match self.0.get(name) {
            Some(text) => Lookup::Text(text.clone()),
            None => Lookup::Unknown(format!(
                "{{{name}}} is not known yet: it belongs to a process that starts later, or it was never set"
            )),
        })
        .map_err(|why| place.problem(why))
    }

    /// Substitutes all variables in each text.
    ///
    /// # Errors
    /// See [`Names::fill`].
    pub fn fill_all(&self, texts: &[String], place: &Location) -> Result<Vec<String>, Problem> {
        texts.iter().map(|text| self.fill(text, place)).collect()
    }

    /// Substitutes all variables in the values of pairs.
    ///
    /// # Errors
    /// See [`Names::fill`].
    pub fn fill_pairs(
        &self,
        pairs: &[(String, String)],
        place: &Location,
    ) -> Result<Vec<(String, String)>, Problem> {
        pairs
            .iter()
            .map(|(name, text)| Ok((name.clone(), self.fill(text, place)?)))
            .collect()
    }

    /// The same variables as seen through relays. `ports` contains pairs of a port and its relay's
    /// port.
    pub fn through(&self, ports: &[(u16, u16)]) -> Names {
        let through = |text: &str| {
            // The port may be alone, or follow this host's name.
            let mut text = text.to_owned();
            for (port, relay) in ports {
                if text == port.to_string() {
                    return relay.to_string();
                }
                for host in ["127.0.0.1", "localhost"] {
                    text = replace_port(&text, host, *port, *relay);
                }
            }
            text
        };
        Names(
            self.0
                .iter()
                .map(|(name, text)| (name.clone(), through(text)))
                .collect(),
        )
    }

    /// The addresses of a process's ports. Its main port is first.
    pub fn addresses_of(&self, process: &str) -> Vec<String> {
        let own = format!("{process}.address");
        let mut named: Vec<(&String, &String)> = self
            .0
            .iter()
            .filter(|(name, _)| {
                name.strip_prefix(&own)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
            .collect();
        named.sort();
        named
            .into_iter()
            .map(|(_, address)| address.clone())
            .collect()
    }

    /// All ports of this host that belong to a process.
    pub fn ports_of(&self, process: &str) -> Vec<u16> {
        let mut ports = Vec::new();
        for (name, text) in &self.0 {
            let owner = name.split_once('.').map(|(owner, _)| owner);
            if owner != Some(process) {
                continue;
            }
            let bare = text.parse().ok().filter(|_| name.contains(".port"));
            // An address inside the path or query of a URL is part of the request, and not an address of this
            // host.
            let behind_host = ["127.0.0.1:", "localhost:"]
                .iter()
                .filter_map(|host| Some(text.find(host)? + host.len()))
                .min()
                .and_then(|at| {
                    let after = text.get(at..)?;
                    after
                        .split(|c: char| !c.is_ascii_digit())
                        .next()?
                        .parse()
                        .ok()
                });
            for port in bare.into_iter().chain(behind_host) {
                if !ports.contains(&port) {
                    ports.push(port);
                }
            }
        }
        ports.sort_unstable();
        ports
    }
}

fn replace_port(text: &str, host: &str, port: u16, relay: u16) -> String {
    let from = format!("{host}:{port}");
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&from) {
        let (before, after) = rest.split_at(at);
        let after = &after[from.len()..];
        out.push_str(before);
        if after.starts_with(|c: char| c.is_ascii_digit()) {
            out.push_str(&from);
        } else {
            out.push_str(&format!("{host}:{relay}"));
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_replaced_with_those_of_the_relay() {
        let mut names = Names::default();
        names.set("s.port", "80");
        names.set("s.plain", "https://localhost:80/x?to=127.0.0.1:8080");
        names.set("db.url", "postgres://me@127.0.0.1:5432/x");
        assert_eq!(names.ports_of("s"), [80]);
        let far = names.through(&[(80, 9000)]);
        assert_eq!(far.get("s.port"), Some("9000"));
        assert_eq!(
            far.get("s.plain"),
            Some("https://localhost:9000/x?to=127.0.0.1:8080")
        );
        assert_eq!(far.get("db.url"), names.get("db.url"));
    }

    #[test]
    fn a_process_has_the_addresses_of_all_its_ports() {
        let mut names = Names::default();
        for name in [
            "s.address.tls",
            "s.addresses",
            "s2.address",
            "s.address",
            "s.port",
        ] {
            names.set(name, name);
        }
        assert_eq!(names.addresses_of("s"), ["s.address", "s.address.tls"]);
    }
}
