//! Determines where a write is when a store acknowledges it: on disk, or only in memory. The settings that the lab read
//! from the store decide this.

use plimsoll_results::lab::{LabResult, Placed};

/// `redis-server 7.0.15: a write is on disk before its response (appendfsync = always)` for each store; the file system
/// of the stores at the end.
pub fn describe_stores(result: &LabResult) -> String {
    let mut texts: Vec<String> = Vec::new();
    for placed in &result.topology {
        let Some((promise, settings)) = promise(placed) else {
            continue;
        };
        let name = placed.version.as_deref().unwrap_or(&placed.name);
        let settings = settings.join(", ");
        let text = format!("{name}: {promise} ({settings})");
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let mut settings = result.environment.settings.iter();
    let disk = settings.find(|(name, _)| name == "file system of the stores");
    if let (Some((name, disk)), false) = (disk, texts.is_empty()) {
        texts.push(format!("{name}: {disk}"));
    }
    texts.join("; ")
}

/// The promise of a store, and the settings that determine it. `None` for other processes.
fn promise(placed: &Placed) -> Option<(&'static str, Vec<String>)> {
    let setting = |name: &str| {
        let mut settings = placed.settings.iter();
        settings
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    let (names, promise): (&[&str], &str) = match (setting("appendfsync"), setting("fsync")) {
        // redis.io, "Redis persistence".
        (Some(_), _) if setting("appendonly") == Some("no") => (
            &["appendonly"],
            "a write is only in memory when its response is sent",
        ),
        (Some("always"), _) => (
            &["appendonly", "appendfsync"],
            "a write is on disk before its response",
        ),
        (Some("everysec"), _) => (
            &["appendonly", "appendfsync"],
            "a write is on disk within about a second after its response",
        ),
        (Some(_), _) => (
            &["appendonly", "appendfsync"],
            "a write is on disk when the operating system writes it, after its response",
        ),
        // postgresql.org, "Asynchronous Commit" and "Write Ahead Log".
        (None, Some(fsync)) => {
            let is_sure = fsync == "on" && setting("synchronous_commit") != Some("off");
            let promise = match is_sure {
                true => "a write is on disk before its response",
                false => "a write may be only in memory when its response is sent",
            };
            (&["fsync", "synchronous_commit"], promise)
        }
        (None, None) => return None,
    };
    let settings = names
        .iter()
        .filter_map(|name| Some(format!("{name} = {}", setting(name)?)))
        .collect();
    Some((promise, settings))
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{LabResult, Placed};

    use super::describe_stores;

    fn with(stores: &[(&str, &[(&str, &str)])]) -> LabResult {
        let placed = |(version, settings): &(&str, &[(&str, &str)])| Placed {
            name: "db".to_owned(),
            cpus: Vec::new(),
            command: String::new(),
            version: Some((*version).to_owned()),
            settings: settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let mut result = LabResult {
            topology: stores.iter().map(placed).collect(),
            ..LabResult::default()
        };
        let disk = ("file system of the stores", "ext4 on /dev/vda");
        let settings = &mut result.environment.settings;
        settings.push((disk.0.to_owned(), disk.1.to_owned()));
        result
    }

    #[test]
    fn each_store_promises_what_its_settings_say() {
        let result = with(&[
            (
                "redis 7",
                &[("appendonly", "yes"), ("appendfsync", "always")],
            ),
            (
                "redis 7",
                &[("appendonly", "yes"), ("appendfsync", "everysec")],
            ),
            (
                "redis 8",
                &[("appendonly", "no"), ("appendfsync", "always")],
            ),
            (
                "postgres 15",
                &[("fsync", "on"), ("synchronous_commit", "on")],
            ),
            (
                "postgres 16",
                &[("fsync", "on"), ("synchronous_commit", "off")],
            ),
            (
                "postgres 17",
                &[("fsync", "off"), ("synchronous_commit", "on")],
            ),
            ("a proxy", &[("threads", "1")]),
        ]);
        let text = describe_stores(&result);
        let promises: Vec<&str> = text.split("; ").collect();
        assert_eq!(
            promises,
            [
                "redis 7: a write is on disk before its response (appendonly = yes, appendfsync = always)",
                "redis 7: a write is on disk within about a second after its response (appendonly = yes, appendfsync = everysec)",
                "redis 8: a write is only in memory when its response is sent (appendonly = no)",
                "postgres 15: a write is on disk before its response (fsync = on, synchronous_commit = on)",
                "postgres 16: a write may be only in memory when its response is sent (fsync = on, synchronous_commit = off)",
                "postgres 17: a write may be only in memory when its response is sent (fsync = off, synchronous_commit = on)",
                "file system of the stores: ext4 on /dev/vda",
            ]
        );
    }

    #[test]
    fn a_lab_without_stores_says_nothing() {
        assert_eq!(
            describe_stores(&with(&[("a proxy", &[("threads", "1")])])),
            ""
        );
    }
}
