//! Identifies what was measured: versions of programs, and the settings of a database, which are
//! read from it while it runs.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::process::run;
use super::service;
use crate::resolve::process::{Process, ProcessKind};

/// How programs print their version, by file name.
const VERSION_FLAGS: [(&str, &str); 10] = [
    ("nginx", "-v"),
    ("haproxy", "-v"),
    ("caddy", "version"),
    ("postgres", "--version"),
    ("redis-server", "--version"),
    ("iperf3", "--version"),
    ("vegeta", "--version"),
    ("k6", "version"),
    ("wrk", "--version"),
    ("ghz", "--version"),
];
const WITHIN: Duration = Duration::from_secs(10);

/// The settings of PostgreSQL that determine its durability and speed, and the versions of the extensions that
/// the lab has created.
const POSTGRES: &str = "select name, current_setting(name) from pg_settings where name in ('fsync', \
     'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'shared_buffers', 'effective_cache_size', \
     'max_connections', 'autovacuum') \
     union all select 'extension ' || extname, extversion from pg_extension where extname <> 'plpgsql' order by 1";
/// The settings of Redis that determine its durability and speed.
const REDIS: [&str; 5] = [
    "appendonly",
    "appendfsync",
    "save",
    "maxmemory",
    "io-threads",
];

/// Name and version of the program that was started with `words`. `version_command` is a command that prints
/// the version. `None` if no such command is known.
pub fn version(version_command: Option<&[String]>, words: &[String]) -> Option<String> {
    if let Some(version_command) = version_command {
        return first_line(version_command);
    }
    let program = words.first()?;
    let name = Path::new(program).file_name()?.to_str()?;
    if name.starts_with("plimsoll") {
        return Some(format!("plimsoll {}", env!("CARGO_PKG_VERSION")));
    }
    let (_, flag) = VERSION_FLAGS.iter().find(|(known, _)| *known == name)?;
    let text = first_line(&[program.clone(), (*flag).to_owned()])?;
    Some(format!("{name} {}", number_in(&text)?))
}

/// The commit of the repository that contains a file, followed by ` (changed)` if the repository
/// has uncommitted changes.
pub fn commit_of(file: &Path) -> Option<String> {
    let folder = std::path::absolute(file).ok()?.parent()?.to_owned();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(&folder).args(arguments);
        let finished = run(&mut git, &[], WITHIN).ok()?;
        (finished.code == Some(0)).then(|| finished.output.trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"]).filter(|commit| !commit.is_empty())?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(match changed.is_empty() {
        true => commit,
        false => format!("{commit} (changed)"),
    })
}

fn first_line(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let output = Command::new(program).args(arguments).output().ok()?;
    // nginx writes to stderr.
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The version number in `nginx version: nginx/1.22.1` or `Redis server v=7.0.15 sha=0`.
fn number_in(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| {
        let from = word.find(|c: char| c.is_ascii_digit())?;
        let number = word.get(from..)?;
        let is_version = number.contains('.') && !word.contains("://");
        is_version.then(|| number.trim_end_matches([',', ')', ';']))
    })
}

/// The settings of a database that the lab started; empty for other programs.
pub fn settings(process: &Process, port: u16) -> Vec<(String, String)> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    match process.kind {
        ProcessKind::Postgres => of_postgres(process, address),
        ProcessKind::Redis => of_redis(address).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn of_postgres(process: &Process, address: SocketAddr) -> Vec<(String, String)> {
    let Ok(program) = service::program(process) else {
        return Vec::new();
    };
    let mut psql = Command::new(program.with_file_name("psql"));
    psql.args(["-qAtX", "-F", "\t", "-c", POSTGRES]);
    psql.arg(format!(
        "postgres://{}@{address}/{}",
        service::USER,
        process.database
    ));
    let finished = run(&mut psql, &[], WITHIN);
    let text = finished.map_or_else(|_| String::new(), |finished| finished.output);
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Reads the settings of Redis. Inline commands and arrays of bulk strings are enough (Redis
/// serialization protocol).
fn of_redis(address: SocketAddr) -> std::io::Result<Vec<(String, String)>> {
    let mut stream = TcpStream::connect_timeout(&address, WITHIN)?;
    stream.set_read_timeout(Some(WITHIN))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut settings = Vec::new();
    for name in REDIS {
        stream.write_all(format!("CONFIG GET {name}\r\n").as_bytes())?;
        let mut next = || lines.next().unwrap_or_else(|| Ok(String::new()));
        if next()? != "*2" {
            return Ok(settings);
        }
        // Each string is preceded by its length.
        let (_, name, _, value) = (next()?, next()?, next()?, next()?);
        settings.push((name, value));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_numbers_are_found_in_the_output_of_programs() {
        for (text, number) in [
            ("nginx version: nginx/1.22.1", "1.22.1"),
            (
                "HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/",
                "2.6.12-1+deb12u4",
            ),
            ("2.6.2", "2.6.2"),
            ("v2.6.2 h1:abc=", "2.6.2"),
            (
                "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)",
                "15.14",
            ),
            (
                "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0",
                "7.0.15",
            ),
            ("iperf 3.12 (cJSON 1.7.15)", "3.12"),
            ("k6 v1.8.1 (go1.24)", "1.8.1"),
        ] {
            assert_eq!(number_in(text), Some(number), "{text}");
        }
        assert_eq!(number_in("unknown"), None);
    }
}
