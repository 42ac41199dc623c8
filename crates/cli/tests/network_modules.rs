//! Modules from the network: the cache, copies with an import map, digests and error messages.

mod plimsoll;
#[path = "../../http/tests/peer/secure.rs"]
mod secure;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use plimsoll::{RUN, plimsoll};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Ended, Program};
use secure::{acceptor, identity};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// An HTTPS server with two modules, one of which imports the other.
struct Site {
    folder: TempDir,
    address: String,
    requests: Arc<AtomicUsize>,
}

impl Site {
    fn start() -> Site {
        let folder = tempfile::tempdir().unwrap();
        let server = identity(&["127.0.0.1"]);
        fs::write(folder.path().join("ca.pem"), &server.certificate_pem).unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let acceptor = acceptor(&server, &["http/1.1"]);
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let Ok(mut stream) = acceptor.accept(stream).await else {
                        continue;
                    };
                    let mut request = vec![0; 4096];
                    let length = stream.read(&mut request).await.unwrap_or(0);
                    counted.fetch_add(1, Ordering::Relaxed);
                    let request = String::from_utf8_lossy(&request[..length]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default();
                    let body = match path.split('?').next() {
                        Some("/lib/main.js") => "import { two } from './deep/two.js'; export const sum = 1 + two;",
                        Some("/lib/deep/two.js") => "import '/lib/side.js'; export const two = 2;",
                        Some("/lib/side.js") => "console.log('side');",
                        _ => "",
                    };
                    let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
                    let response = format!(
                        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                        body.len()
                    );
                    let _ = stream.write_all(response.as_bytes()).await;
                    let _ = stream.shutdown().await;
                }
            });
        });
        let address = format!("https://{}", receiver.recv().unwrap());
        Site {
            folder,
            address,
            requests,
        }
    }

    fn write(&self, name: &str, text: &str) {
        let text = text.replace("SITE", &self.address);
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        self.program(arguments).run()
    }

    fn program(&self, arguments: &[&str]) -> Program {
        plimsoll(arguments)
            .env("SSL_CERT_FILE", self.path("ca.pem"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .inside(self.folder.path())
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

const SCRIPT: &str =
    "\nimport { sum } from 'SITE/lib/main.js';\nexport default () => console.log(`sum ${sum}`);\n";

#[test]
fn modules_are_cached_and_damage_is_noticed() {
    let site = Site::start();
    site.write("script.js", SCRIPT);
    let run = |more: &[&str]| site.run(&[&RUN, more, &["script.js"]].concat());
    let offline = run(&["--offline"]);
    assert_ne!(offline.status, Some(0));
    let expected = format!("{}/lib/main.js is not in the cache", site.address);
    assert!(offline.stderr.contains(&expected), "{}", offline.stderr);
    let place = format!("(imported at {}:2)", site.path("script.js").display());
    assert!(offline.stderr.contains(&place), "{}", offline.stderr);

    let first = run(&[]);
    assert_eq!(first.status, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("sum 3"), "{}", first.stderr);
    let fetched = site.requests();
    assert!(fetched >= 3, "{fetched}");
    for again in [run(&["--offline"]), run(&[])] {
        assert!(again.stderr.contains("sum 3"), "{}", again.stderr);
    }
    assert_eq!(site.requests(), fetched, "the cache was not used");

    let folder = site.path("cache/plimsoll/modules-2");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("two = 2", "two = 3")).unwrap();
    }
    let damaged = run(&["--offline"]);
    assert!(
        damaged.stderr.contains("two.js is not in the cache"),
        "{}",
        damaged.stderr
    );
    assert!(run(&[]).stderr.contains("sum 3"));
    assert!(site.requests() > fetched);
}

#[test]
fn copies_are_used_and_checked() {
    let site = Site::start();
    site.write("script.js", SCRIPT);
    let copied = site.run(&["vendor", "script.js"]);
    assert_eq!(copied.status, Some(0), "{}", copied.stderr);
    assert!(
        copied.stderr.contains("3 modules are in vendor"),
        "{}",
        copied.stderr
    );
    let map = fs::read_to_string(site.path("vendor/import-map.json")).unwrap();
    let map: Value = serde_json::from_str(&map).unwrap();
    assert_eq!(map["imports"].as_object().unwrap().len(), 3, "{map}");
    assert_eq!(map["integrity"].as_object().unwrap().len(), 3, "{map}");

    let fetched = site.requests();
    fs::remove_dir_all(site.path("cache")).unwrap();
    let with_copies = [
        "--offline",
        "--import-map",
        "vendor/import-map.json",
        "script.js",
    ];
    let run = || site.run(&[&RUN[..], &with_copies].concat());
    let ended = run();
    assert!(ended.stderr.contains("sum 3"), "{}", ended.stderr);
    assert_eq!(site.requests(), fetched);

    // An archive also contains the modules.
    let pack = [
        "archive",
        "--offline",
        "--import-map",
        "vendor/import-map.json",
        "script.js",
    ];
    let packed = site.run(&pack);
    assert_eq!(packed.status, Some(0), "{}", packed.stderr);
    let unpacked = tempfile::tempdir().unwrap();
    fs::copy(
        site.path("archive.tar"),
        unpacked.path().join("archive.tar"),
    )
    .unwrap();
    let ended = plimsoll(&[&RUN[..], &["--offline", "archive.tar"]].concat())
        .inside(unpacked.path())
        .run();
    assert!(ended.stderr.contains("sum 3"), "{}", ended.stderr);

    let target = map["imports"][format!("{}/lib/deep/two.js", site.address)].as_str();
    let copy = site.path("vendor").join(target.unwrap());
    fs::write(&copy, "export const two = 5;").unwrap();
    let changed = run();
    assert_ne!(changed.status, Some(0));
    for part in [
        "two.js has changed",
        "plimsoll vendor SCRIPT",
        "imported at",
    ] {
        assert!(changed.stderr.contains(part), "{part}: {}", changed.stderr);
    }
    fs::remove_file(&copy).unwrap();
    let gone = run();
    assert!(gone.stderr.contains("the copy of"), "{}", gone.stderr);
}

#[test]
fn modules_that_cannot_be_fetched_are_explained() {
    let site = Site::start();
    site.write(
        "missing.js",
        "import 'SITE/lib/none.js';\nexport default () => {};",
    );
    let missing = site.run(&[&RUN[..], &["missing.js"]].concat());
    assert_ne!(missing.status, Some(0));
    assert!(missing.stderr.contains("status 404"), "{}", missing.stderr);
    assert!(
        missing.stderr.contains("missing.js:1"),
        "{}",
        missing.stderr
    );

    let closed = format!(
        "import 'https://{}/a.js';\nexport default () => {{}};",
        ports::closed()
    );
    site.write("closed.js", &closed);
    let closed = site.run(&[&RUN[..], &["closed.js"]].concat());
    for part in ["refused", "plimsoll vendor SCRIPT", "closed.js:1"] {
        assert!(closed.stderr.contains(part), "{part}: {}", closed.stderr);
    }

    site.write("none.js", "export default () => {};");
    let none = site.run(&["vendor", "none.js"]);
    assert_ne!(none.status, Some(0));
    assert!(
        none.stderr.contains("no module from the network"),
        "{}",
        none.stderr
    );
}

#[test]
fn dependencies_are_listed_without_running_the_script() {
    let site = Site::start();
    site.write(
        "script.js",
        "'use k6 > 1.2';\nimport http from 'k6/http';\nimport 'SITE/lib/deep/two.js';\nimport x from 'k6/x/faker';\nthrow 1;",
    );
    let listed = site.run(&["deps", "--json", "script.js"]);
    assert_eq!(listed.status, Some(0), "{}", listed.stderr);
    let json: Value = serde_json::from_str(&listed.stdout).unwrap();
    let script = format!("file://{}", site.path("script.js").display());
    let expected = serde_json::json!({
        "buildDependencies": { "k6": ">1.2", "k6/x/faker": "*" },
        "imports": [
            script,
            format!("{}/lib/deep/two.js", site.address),
            format!("{}/lib/side.js", site.address),
            "k6/http",
            "k6/x/faker",
        ],
        "customBuildRequired": true,
    });
    assert_eq!(json, expected);
    let text = site.run(&["deps", "script.js"]).stdout;
    for part in [
        "Build Dependencies:\n  k6: >1.2\n",
        "  k6/http\n",
        "Custom Build Required: yes",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    site.write("none.js", "export default () => {};");
    let text = site.run(&["deps", "-e", "A=b", "none.js"]).stdout;
    assert!(
        text.contains("  k6: *\n") && text.contains("Required: no"),
        "{text}"
    );
    assert!(Path::new(&script[7..]).exists());
}

#[test]
fn authorities_on_the_command_line_apply_to_modules() {
    let site = Site::start();
    site.write("script.js", SCRIPT);
    let run = |arguments: &[&str]| {
        plimsoll(arguments)
            .env("SSL_CERT_FILE", "/dev/null")
            .env("XDG_CACHE_HOME", site.path("cache"))
            .inside(site.folder.path())
            .run()
    };
    let untrusted = run(&["run", "-q", "script.js"]);
    let reason = "certificate signed by unknown authority";
    assert!(untrusted.stderr.contains(reason), "{}", untrusted.stderr);
    assert!(!untrusted.stderr.contains("without a network"));
    let copied = run(&["vendor", "--ca", "ca.pem", "script.js"]);
    assert_eq!(copied.status, Some(0), "{}", copied.stderr);
    let trusted = run(&["run", "-q", "--ca", "ca.pem", "script.js"]);
    assert!(trusted.stderr.contains("sum 3"), "{}", trusted.stderr);
}
