//! A relay between the generator and a system: a process that runs `plimsoll link`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::server::program_path;
use super::start::start;
use crate::resolve::Link;

/// A running relay. Dropping it stops the process.
#[derive(Debug)]
pub struct Relay {
    pub link: Link,
    /// The port to which it relays.
    pub to: u16,
    /// The port on which it listens.
    pub at: u16,
    child: Child,
    /// The file with its output.
    log: PathBuf,
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Relay {
    /// Starts the relay, and waits until it listens.
    ///
    /// # Errors
    /// The reason why it cannot be started.
    pub fn start(link: &Link, to: u16, private: &Path) -> Result<Relay, String> {
        let log = private.join(format!("link-{}-{to}", link.name));
        let file = fs::File::create(&log).map_err(|error| error.to_string())?;
        let mut command = Command::new(program_path()?);
        let time = plimsoll_units::duration::format;
        command
            .args([
                "link",
                "--listen",
                "127.0.0.1:0",
                "--to",
                &format!("127.0.0.1:{to}"),
            ])
            .args([
                "--round-trip",
                &time(link.round_trip),
                "--jitter",
                &time(link.jitter),
            ])
            .args(["--loss", &format!("{}%", link.loss * 100.0)])
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(Stdio::null());
        if let Some(rate) = link.rate {
            command.args(["--rate", &format!("{rate}bit/s")]);
        }
        let child = start(&mut command, &link.cpus)
            .map_err(|error| format!("cannot start a relay: {error}"))?;
        let mut relay = Relay {
            link: link.clone(),
            to,
            at: 0,
            child,
            log,
        };
        let end = Instant::now() + Duration::from_secs(30);
        while relay.at == 0 {
            let text = fs::read_to_string(&relay.log).unwrap_or_default();
            let first_line: Value = serde_json::from_str(text.trim()).unwrap_or_default();
            let port = first_line["listening"]
                .as_str()
                .and_then(|at| at.rsplit_once(':')?.1.parse().ok());
            relay.at = port.unwrap_or(0);
            if Instant::now() > end || !matches!(relay.child.try_wait(), Ok(None)) {
                return Err(format!("the relay for {} did not start", link.name));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(relay)
    }

    /// The relay's lateness since the last call, in milliseconds: the 99th percentile of the later
    /// direction. `None` if it relayed nothing or does not respond.
    pub fn late_p99(&mut self) -> Option<f64> {
        let pid = Pid::from_child(&self.child);
        let before = self.reports().len();
        kill_process(pid, Signal::USR1).ok()?;
        let end = Instant::now() + Duration::from_secs(2);
        loop {
            let reports = self.reports();
            if let Some(report) = reports.get(before) {
                let late = |direction: &str| report[direction]["late_us"]["p99"].as_f64();
                let later = late("forward").into_iter().chain(late("backward"));
                return later.reduce(f64::max).map(|micros| micros / 1000.0);
            }
            if Instant::now() > end || !matches!(self.child.try_wait(), Ok(None)) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn reports(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may still be incomplete.
        let lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        let values = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let reports =
            values.filter_map(|mut line| line.get_mut("since_last_report").map(Value::take));
        reports.collect()
    }
}
