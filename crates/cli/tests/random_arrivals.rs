//! Each run of a search, a comparison or a lab has different random arrivals.
#![cfg(target_os = "linux")]

mod plimsoll;
mod tiny_lab;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use plimsoll::plimsoll;
use serde_json::Value;
use tiny_lab::{Lab, one_cell};

/// Reports the arrivals of each run to a server.
const SCRIPT: &str = "
import http from 'k6/http';
export const options = { scenarios: { visitors: {
  executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 5, arrivals: 'poisson',
} } };
export function setup() {
  const [scenario] = Object.values(options.scenarios);
  http.get(`${__ENV.BASE}/${scenario.arrivals}`);
}
export default function () { http.get(`${__ENV.BASE}/`); }
";

/// The requested paths in order, except for `/`.
#[derive(Clone, Default)]
struct Paths(Arc<Mutex<Vec<String>>>);

impl Paths {
    /// Starts a server that records the paths. Returns its URL.
    fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let paths = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let paths = paths.clone();
                thread::spawn(move || {
                    let mut writer = stream.try_clone().expect("a socket");
                    for line in BufReader::new(stream).lines().map_while(Result::ok) {
                        if let Some(path) = line.strip_prefix("GET /") {
                            let path = path.split(' ').next().unwrap_or_default();
                            paths.0.lock().expect("no panic").push(path.to_owned());
                        } else if line.is_empty() {
                            let _ =
                                writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
                        }
                    }
                });
            }
        });
        format!("http://{address}")
    }

    fn arrivals(&self) -> Vec<String> {
        let paths = self.0.lock().expect("no panic");
        paths
            .iter()
            .filter(|path| !path.is_empty())
            .cloned()
            .collect()
    }
}

#[track_caller]
fn each_differs(arrivals: &[String], runs: usize) {
    let different: BTreeSet<_> = arrivals.iter().collect();
    assert_eq!(
        (arrivals.len(), different.len()),
        (runs, runs),
        "{arrivals:?}"
    );
}

#[test]
fn trials_have_different_random_arrivals() {
    let paths = Paths::default();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("script.js"), SCRIPT).expect("a file");
    let base = format!("BASE={}", paths.serve());
    let settings = "find --objective p99<10s --start 20 --trial 1s --soak 1s --warm-up 0s --repeats 1 --trials 3 --";
    let arguments: Vec<&str> = settings
        .split(' ')
        .chain(["run", "-e", &base, "script.js"])
        .collect();
    let ended = plimsoll(&arguments).inside(folder.path()).run();
    assert!(ended.stderr.contains("80/s"), "{ended:?}");
    each_differs(&paths.arrivals(), 3);
}

#[test]
fn compared_runs_have_different_random_arrivals() {
    let paths = Paths::default();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("script.js"), SCRIPT).expect("a file");
    let base = format!("BASE={}", paths.serve());
    let command = ["--", "run", "-e", &base, "script.js"];
    let compare = |seed: &str| {
        plimsoll(&[&["compare", "--pairs", "3"], &command[..], &command].concat())
            .env("PLIMSOLL_ARRIVALS_SEED", seed)
            .inside(folder.path())
            .run()
    };
    let ended = compare("");
    each_differs(&paths.arrivals(), 6);
    assert_eq!(paths.arrivals()[0], "poisson@1", "{ended:?}");
    // A lab may also compare.
    compare("5");
    each_differs(&paths.arrivals(), 12);
    assert_eq!(paths.arrivals()[11], "poisson@5006");
}

#[test]
fn restarts_of_a_lab_derive_random_arrivals_from_its_seed() {
    let lab = one_cell().replace(
        "script = \"get.js\"\nenvironment = { BASE = \"{pages.url}/\" }\nusers = \"{users}\"",
        "http = { url = \"{pages.url}/\" }\nrate = 20\narguments = [\"--arrivals\", \"poisson\"]",
    );
    let lab = Lab::new(&lab.replace("restarts = 1", "restarts = 2"));
    let result = lab.run_well();
    let arrivals = [1, 2].map(|run| {
        let record = lab.the_run().join(format!("cells/1/{run}/record.jsonl"));
        let text = fs::read_to_string(record).expect("a record");
        let header: Value =
            serde_json::from_str(text.lines().next().unwrap_or_default()).expect("JSON");
        let load = header["load"][0].as_str().expect("a load");
        let (_, arrivals) = load.split_once("arrivals: ").expect(load);
        let end = arrivals.find([',', ')']).expect(load);
        arrivals[..end].to_owned()
    });
    let seed = result["seed"].as_u64().expect("a seed");
    assert_eq!(
        arrivals,
        [1, 2].map(|run| format!("poisson@{}", seed * 1_000 + run))
    );
}
