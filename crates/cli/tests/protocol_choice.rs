//! Selects the HTTP version for the whole run and for one request. The server supports HTTP/1.1 and, by prior
//! knowledge, HTTP/2.

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::cases::suite::Server;

/// The lines that a script logs about responses, with `flags` on its command line.
fn script_output(script: &str, flags: &[&str]) -> String {
    let server = Server::start().unwrap();
    let base = server
        .addresses
        .variables
        .iter()
        .find(|(name, _)| name == "BASE");
    let (_, base) = base.unwrap();
    let ended = plimsoll(&["run", "--quiet", "--log-format", "raw"])
        .args(["-e", &format!("URL={base}/get")])
        .args(flags)
        .arg("-")
        .input(format!(
            "import http from 'k6/http';
             const proto = (params) => {{ const r = http.get(__ENV.URL, params); return r.proto || r.error; }};
             export default function () {{ {script} }}"
        ))
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    ended.stderr
}

#[test]
fn a_request_may_choose_its_own_version() {
    let script = "
        const h2c = { plimsoll: { protocol: 'h2c' } };
        console.log(proto(), proto(h2c), proto(), proto(h2c), proto({ plimsoll: { protocol: 'http1' } }));";
    let expected = "HTTP/1.1 HTTP/2.0 HTTP/1.1 HTTP/2.0 HTTP/1.1";
    assert!(
        script_output(script, &[]).contains(expected),
        "{}",
        script_output(script, &[])
    );
    let script = "console.log(proto(), proto({ plimsoll: { protocol: 'auto' } }));";
    let printed = script_output(script, &["--protocol", "h2c"]);
    assert!(printed.contains("HTTP/2.0 HTTP/1.1"), "{printed}");
}

#[test]
fn an_impossible_protocol_fails_the_request() {
    let printed = script_output(
        "console.log(proto({ plimsoll: { protocol: 'http2' } }));",
        &[],
    );
    assert!(printed.contains("request h2c, or use https"), "{printed}");
    for (params, expected) in [
        ("{ protocol: 'h3' }", "unknown plimsoll.protocol \"h3\""),
        ("{ protocl: 'h2c' }", "there is plimsoll.protocol"),
    ] {
        let script = format!("console.log(proto({{ plimsoll: {params} }}));");
        let printed = script_output(&script, &[]);
        assert!(printed.contains(expected), "{printed}");
    }
}
