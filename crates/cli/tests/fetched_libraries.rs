//! Common libraries of k6 scripts, which are fetched when the test runs and then used from the cache.

mod fetched;
mod plimsoll;

use std::fs;
use std::path::Path;

use fetched::{skip, web_file};
use plimsoll::{RUN, plimsoll};
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::npm;
use serde_json::json;

/// A library, a script that uses it, and what the script logs.
struct Library {
    address: &'static str,
    /// The file with the same library in an npm package.
    npm: Option<&'static str>,
    script: &'static str,
    logs: &'static [&'static str],
}

const LIBRARIES: &[Library] = &[
    Library {
        address: "https://jslib.k6.io/k6-utils/1.4.0/index.js",
        npm: None,
        script: r"import { randomIntBetween, randomItem, randomString, uuidv4, findBetween } from 'LIBRARY';
            export default function () {
              console.log(randomIntBetween(3, 3), randomItem(['a']), randomString(4, 'x'), findBetween('a<b>c', '<', '>'));
              console.log(/^[0-9a-f-]{36}$/.test(uuidv4()));
            }",
        logs: &["3 a xxxx b", "true"],
    },
    Library {
        address: "https://jslib.k6.io/httpx/0.1.0/index.js",
        npm: None,
        script: r"import { Httpx } from 'LIBRARY';
            export default function () {
              const session = new Httpx({ baseURL: __ENV.BASE, headers: { 'X-A': 'b' } });
              session.addTag('kind', 'c');
              console.log(session.get('/').status > 0, session.post('/', 'x').status > 0);
            }",
        logs: &["true true"],
    },
    Library {
        address: "https://jslib.k6.io/k6chaijs/4.3.4.3/index.js",
        npm: None,
        script: r"import { describe, expect } from 'LIBRARY';
            export default function () {
              const good = describe('good', () => { expect([1, 2], 'list').to.have.lengthOf(2); expect({ a: 1 }).to.deep.equal({ a: 1 }); });
              const bad = describe('bad', () => { expect(1, 'one').to.equal(2); });
              console.log(good, bad);
            }",
        logs: &["true false"],
    },
    Library {
        address: "https://jslib.k6.io/k6-testing/0.5.0/index.js",
        npm: None,
        script: r"import { expect } from 'LIBRARY';
            export default function () {
              expect(1).toBe(1); expect([1, 2]).toContain(2); expect({ a: 1 }).toEqual({ a: 1 }); expect(0.1 + 0.2).toBeCloseTo(0.3);
              console.log('held');
            }",
        logs: &["held"],
    },
    Library {
        address: "https://jslib.k6.io/k6-summary/0.1.0/index.js",
        npm: None,
        script: r"import { textSummary } from 'LIBRARY';
            export const options = { summaryTrendStats: ['avg', 'p(95)'] };
            export default function () {}
            export function handleSummary(data) {
              const text = textSummary(data, { indent: ' ', enableColors: false });
              console.log(/iterations\.+: 1 /.test(text), /iteration_duration\.+: avg=/.test(text));
              return {};
            }",
        logs: &["true true"],
    },
    Library {
        address: "https://jslib.k6.io/papaparse/5.1.1/index.js",
        npm: Some("papaparse/papaparse.min.js"),
        script: r#"import papaparse from 'LIBRARY';
            export default function () {
              console.log(JSON.stringify(papaparse.parse('a,b\n1,"2,3"', { header: true }).data));
              console.log(papaparse.unparse([{ a: 1, b: 'x y' }]).replace('\r\n', '|'));
            }"#,
        logs: &[r#"[{"a":"1","b":"2,3"}]"#, "a,b|1,x y"],
    },
    Library {
        address: "https://jslib.k6.io/ajv/6.12.5/index.js",
        npm: Some("ajv/dist/ajv.min.js"),
        script: r"import Ajv from 'LIBRARY';
            const validate = new Ajv({ allErrors: true }).compile({ type: 'object', required: ['a'], properties: { a: { type: 'integer', minimum: 2 } } });
            export default function () {
              console.log(validate({ a: 2 }), validate({ a: 1 }), validate.errors[0].message, validate({}));
            }",
        logs: &["true false should be >= 2 false"],
    },
    Library {
        address: "https://jslib.k6.io/totp/1.0.0/index.js",
        npm: None,
        script: r"import { TOTP } from 'LIBRARY';
            export default async function () {
              console.log(/^\d{6}$/.test(await new TOTP('GAXG2MTEOR3DMMDG', 6).gen()));
            }",
        logs: &["true"],
    },
    Library {
        address: "https://jslib.k6.io/aws/0.13.0/index.js",
        npm: None,
        script: r"import { AWSConfig, S3Client, SecretsManagerClient } from 'LIBRARY';
            const config = new AWSConfig({ region: 'us-east-1', accessKeyId: 'a'.repeat(20), secretAccessKey: 'b'.repeat(40) });
            export default function () {
              console.log(typeof new S3Client(config).getObject, typeof new SecretsManagerClient(config).getSecret);
            }",
        logs: &["function function"],
    },
];

#[test]
fn common_libraries_run_unchanged() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
    fs::create_dir_all(&folder).unwrap();
    let packages = folder.join("npm");
    npm::install(
        &packages,
        include_str!("fetched/package.json"),
        include_str!("fetched/package-lock.json"),
    );
    let server = Server::start().unwrap();
    let mut wrong = Vec::new();
    for library in LIBRARIES {
        let script = folder.join("script.js");
        fs::write(&script, library.script.replace("LIBRARY", library.address)).unwrap();
        let probe = folder.join("probe");
        let is_reached = web_file(library.address, &probe);
        let map = folder.join("map.json");
        let mut run: Vec<String> = RUN.map(str::to_owned).to_vec();
        match (&is_reached, library.npm) {
            (Ok(()), _) => {
                // This fills the cache for the run below.
                let cached = program(&folder, &[&RUN[..], &["script.js"]].concat(), &server).run();
                if cached.status != Some(0) {
                    wrong.push(format!("{}: {}", library.address, cached.stderr));
                    continue;
                }
                run.push("--offline".to_owned());
            }
            (Err(_), Some(file)) => {
                let copy = packages.join("node_modules").join(file);
                let imports = json!({ "imports": { library.address: copy } });
                fs::write(&map, imports.to_string()).unwrap();
                run.extend(["--import-map".to_owned(), map.display().to_string()]);
            }
            (Err(reason), None) => {
                skip(library.address, reason);
                continue;
            }
        }
        let arguments: Vec<&str> = run
            .iter()
            .map(String::as_str)
            .chain(["script.js"])
            .collect();
        let ended = program(&folder, &arguments, &server).run();
        let logs: Vec<&str> = ended.stderr.lines().collect();
        if logs != library.logs {
            wrong.push(format!("{}: {}", library.address, ended.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn program(
    folder: &Path,
    arguments: &[&str],
    server: &Server,
) -> plimsoll_testkit::program::Program {
    let mut program = plimsoll(arguments)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .inside(folder);
    for (name, value) in &server.addresses.variables {
        program = program.args(["-e", &format!("{name}={value}")]);
    }
    program
}
