//! Secrets of `k6/secrets`. No log, sample or file shows a secret that the script has read.

mod plimsoll;

use std::fs;

use plimsoll::plimsoll;

const SCRIPT: &str = r#"
import http from 'k6/http';
import exec from 'k6/execution';
import secrets from 'k6/secrets';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';

const mine = new Counter('mine');

// Thresholds may select samples by a secret.
const early = await secrets.get('token');
export const options = {
  thresholds: {
    [`http_reqs{own:${early}}`]: ['count==1', `rate>${early.length}e9`],
    [`mine{value:${early}}`]: [{ threshold: 'count==1', abortOnFail: true }],
  },
};

export async function setup() {
  return { token: await secrets.get('token') };
}

export default function ({ token }) {
  exec.vu.tags.user = token;
  exec.vu.metrics.metadata.note = token;
  // Nothing listens at this address, so the error also contains the URL.
  http.get(`http://127.0.0.1:1/?token=${token}&encoded=${encodeURIComponent(token)}`);
  http.get('http://127.0.0.1:1/', { tags: { name: `named ${token}`, own: token } });
  group(`group of ${token}`, () => check(token, { [`${token} is there`]: (text) => text.length === 10 }));
  mine.add(1, { [token]: 'key', value: token });
  throw new Error(`${token} is wrong`);
}

export function teardown({ token }) {
  if (__ENV.ABORTS === 'yes') {
    exec.test.abort(`${token} was refused`);
  }
}

export function handleSummary(data) {
  return __ENV.WRITES === 'yes' ? { 'handled.json': JSON.stringify(data) } : undefined;
}
"#;

/// In URLs, this secret has another form.
const SECRET: &str = "top/secret";

#[test]
fn no_output_shows_a_secret_that_a_script_has_read() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("script.js"), SCRIPT).expect("a file");
    let run = |flags: &[&str]| {
        let secret = format!("mock=token={SECRET}");
        let common = ["run", "--secret-source", &secret, "script.js"];
        let arguments = [&common[..], flags].concat();
        plimsoll(&arguments).inside(folder.path()).run()
    };
    let all = run(&[
        "--summary-mode=full",
        "--summary-export=export.json",
        "--record=record.jsonl",
        "--report=report.html",
        "--out=json=samples.json",
        "--out=csv=samples.csv",
    ]);
    let handled = run(&[
        "--env=WRITES=yes",
        "--summary-export=new.json",
        "--new-machine-readable-summary",
    ]);
    let aborted = run(&["--env=ABORTS=yes", "--record=aborted.jsonl"]);
    let mut shown = vec![
        ("stdout", all.stdout),
        ("stderr", all.stderr),
        ("stderr with handleSummary", handled.stderr),
        ("stderr of an abort", aborted.stderr),
    ];
    for name in [
        "export.json",
        "record.jsonl",
        "report.html",
        "samples.json",
        "samples.csv",
        "handled.json",
        "new.json",
        "aborted.jsonl",
    ] {
        let text = fs::read_to_string(folder.path().join(name)).expect(name);
        shown.push((name, text));
    }
    let encoded = SECRET.replace('/', "%2F");
    for (name, text) in shown {
        assert!(
            !text.contains(SECRET) && !text.contains(&encoded),
            "{name} shows the secret: {text}"
        );
        assert!(
            text.contains("SECRET_REDACTED"),
            "{name} hides nothing: {text}"
        );
    }
}

#[test]
fn options_show_no_secret_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "
import secrets from 'k6/secrets';
const secret = await secrets.get('token');
export const options = { thresholds: { [`unknown{own:${secret}}`]: ['count>1'] } };
export default function () {}
";
    fs::write(folder.path().join("script.js"), script).expect("a file");
    for command in ["run", "inspect"] {
        let source = format!("mock=token={SECRET}");
        let arguments = [command, "--secret-source", &source, "script.js"];
        let ended = plimsoll(&arguments).inside(folder.path()).run();
        let shown = ended.stdout + &ended.stderr;
        assert!(
            shown.contains("SECRET_REDACTED") && !shown.contains(SECRET),
            "{command}: {shown}"
        );
    }
}

#[test]
fn archives_contain_no_secret_and_run_with_the_secrets_of_their_own_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "
import secrets from 'k6/secrets';
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
const secret = await secrets.get('token');
export const options = {
  tags: { token: secret },
  thresholds: { [`mine{own:${secret}}`]: ['count==2'] },
};
export default function () { mine.add(1, { own: secret }); }
";
    fs::write(folder.path().join("script.js"), script).expect("a file");
    let run = |arguments: &[&str]| plimsoll(arguments).inside(folder.path()).run();
    let source = format!("mock=token={SECRET}");
    let flags = ["--iterations=2", "--secret-source", &source, "script.js"];
    let packed = run(&[&["archive"], &flags[..]].concat());
    assert!(
        packed.stderr.contains("thresholds, tags"),
        "{}",
        packed.stderr
    );
    let archive = fs::read(folder.path().join("archive.tar")).expect("an archive");
    let text = String::from_utf8_lossy(&archive);
    assert!(!text.contains(SECRET), "{text}");
    for secret in [SECRET, "another one"] {
        let source = format!("mock=token={secret}");
        let ended = run(&["run", "--secret-source", &source, "archive.tar"]);
        assert_eq!(ended.status, Some(0), "{}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stdout.contains("'count==2' count=2"),
            "{}",
            ended.stdout
        );
    }
}
