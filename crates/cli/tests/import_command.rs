//! `plimsoll new --from`: files of each format become scripts that run against a shop. The shop issues new tokens to
//! every visitor.

mod plimsoll;
#[path = "imports/shop.rs"]
mod shop;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_testkit::program::Ended;

/// Imports one of the files, and returns the result and the script.
fn import(format: &str, file: &str, server: Option<SocketAddr>, flags: &[&str]) -> (Ended, String) {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/imports")
        .join(file);
    fs::copy(&source, folder.path().join(file)).unwrap();
    let url = server.map(|address| format!("http://{address}/"));
    let mut arguments = vec!["new", "--from", format, file];
    arguments.extend(url.as_deref());
    if url.is_some() {
        arguments.push("script.js");
    }
    arguments.extend(flags);
    let ended = plimsoll(&arguments).inside(folder.path()).run();
    let script = fs::read_to_string(folder.path().join("script.js")).unwrap_or_default();
    (ended, script)
}

/// Imports a file. Every check of its smoke run must pass.
#[track_caller]
fn runs(format: &str, file: &str, parts: &[&str], messages: &[&str]) {
    let (ended, script) = import(format, file, Some(shop::start()), &[]);
    assert_eq!(ended.status, Some(0), "{}\n{script}", ended.stderr);
    assert!(
        ended.stderr.contains("smoke run passed"),
        "{}\n{script}",
        ended.stderr
    );
    for part in parts {
        assert!(script.contains(part), "{part} is not in\n{script}");
    }
    for part in messages {
        assert!(
            ended.stderr.contains(part),
            "{part} is not in\n{}",
            ended.stderr
        );
    }
}

#[test]
fn a_script_from_a_chrome_recording_runs_with_new_tokens() {
    runs(
        "har",
        "chrome.har",
        &[
            "group('/account', () => {",
            "jar.set(BASE, 'theme', 'dark');",
            "user: 'ann@shop.example'",
            "_token: csrfToken",
            "sleep(7.9 * thinkTime);",
            "Authorization: `Bearer ${accessToken}`",
            "`${BASE}/api/users/${userId}/orders?page=1`",
            "userId: userId",
            "`${BASE}/api/orders/${id}`",
            "Origin: `${BASE}`",
            "'POST /api/orders: status is 201'",
            "...HEADERS",
        ],
        &[
            "entry 3, GET data:image/png",
            "entry 4: requests to another site are left out; --host www.metrics.example.net",
            "entry 11, GET https://shop.example/live: it is a WebSocket",
            "entry 12, GET https://shop.example/blocked.js: it had no response",
            "ERR_BLOCKED_BY_CLIENT",
        ],
    );
}

#[test]
fn a_script_from_a_firefox_recording_runs_with_new_tokens() {
    runs(
        "har",
        "firefox.har",
        &[
            "group('Shop', () => {",
            "_token: csrfToken",
            "The response redirects to /account.",
        ],
        &[],
    );
}

#[test]
fn a_script_from_openapi_yaml_matches_and_runs() {
    runs(
        "openapi",
        "openapi.yaml",
        &[
            "item: 'anchor'",
            "Bearer ${accessToken}",
            "encodeURIComponent(id)",
            "http.del(",
        ],
        &[
            "the webhook orderShipped",
            "the parameter common.yaml#/parameters/Locale is in another file",
        ],
    );
}

#[test]
fn a_script_from_a_postman_collection_runs() {
    runs(
        "postman",
        "postman.json",
        &[
            "group('Orders', () => {",
            "accessToken = needed('accessToken', response.json('access_token'));",
            "password: `${crypto.randomUUID()}`",
            "'Create an order: status is 201'",
        ],
        &[
            "the item A note: it has no request",
            "the request Create an order: its prerequest script is left out",
            "the request Create an order: some lines of its test script are left out",
        ],
    );
}

#[test]
fn a_script_from_curl_commands_matches_and_runs() {
    let (ended, script) = import("curl", "browser.curl", Some(shop::start()), &[]);
    // The shop does not accept uploads.
    assert_eq!(ended.status, Some(1), "{}\n{script}", ended.stderr);
    assert!(
        ended.stderr.contains("3 of 4 checks passed"),
        "{}\n{script}",
        ended.stderr
    );
    for part in [
        "jar.set(BASE, 'consent', 'yes');",
        "it\\'s !",
        "Bearer ${accessToken}",
        "http.file(",
    ] {
        assert!(script.contains(part), "{part} is not in\n{script}");
    }
    for part in [
        "command 4: it starts with wget, not with curl",
        "command 5: the content of the file cat.png is a placeholder",
        "command 5: the flag --proto is left out",
        "failed: POST /upload: status is below 400",
    ] {
        assert!(
            ended.stderr.contains(part),
            "{part} is not in\n{}",
            ended.stderr
        );
    }
}

#[test]
fn a_script_from_a_jmeter_plan_runs() {
    runs(
        "jmx",
        "shop.jmx",
        &[
            "group('Log in', () => {",
            "sleep(1.5 * thinkTime);",
            "_token: csrf",
            "user: 'ann & co'",
            "${BASE}/api/users/${user}/orders?page=1&item=${encodeURIComponent(ITEM)}",
            "const ITEM = __ENV.item || 'anchor';",
            "trace: `${crypto.randomUUID()}`",
        ],
        &[
            "ThreadGroup \"Buyers\": its load is not in the script; use plimsoll run -u 25",
            "LoopController \"Again\": its requests are sent once",
            "JDBCSampler \"Count rows\": it cannot be translated",
            "JSR223PostProcessor \"Groovy\": it cannot be translated",
        ],
    );
}

#[test]
fn without_a_server_the_script_is_only_written() {
    let (ended, script) = import("openapi", "petstore.json", None, &["--no-smoke"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("It was not run"), "{}", ended.stderr);
    for part in [
        "const BASE = __ENV.BASE || 'https://pets.example';",
        "`${BASE}/v2/pet/findByStatus?status=available`",
        "const API_KEY = __ENV.API_KEY || '';",
        "`${BASE}/v2/pet/${encodeURIComponent(PET_ID)}`",
        "{ name: 'text' }",
    ] {
        assert!(script.contains(part), "{part} is not in\n{script}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("script.js"), script).unwrap();
    let inspected = plimsoll(&["inspect", "script.js"])
        .inside(folder.path())
        .run();
    assert_eq!(inspected.status, Some(0), "{}", inspected.stderr);
}

#[test]
fn a_server_that_does_not_respond_fails_the_smoke_run() {
    let nowhere = plimsoll_testkit::ports::closed();
    let (ended, script) = import("har", "firefox.har", Some(nowhere), &[]);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("connection refused"),
        "{}",
        ended.stderr
    );
    assert!(!script.is_empty());
}

#[test]
fn files_of_another_format_are_refused() {
    for (format, file, why) in [
        ("har", "postman.json", "not a recording"),
        (
            "openapi",
            "chrome.har",
            "neither \"openapi\" nor \"swagger\"",
        ),
        ("postman", "petstore.json", "no \"item\""),
        ("jmx", "openapi.yaml", "this is not XML"),
        ("curl", "openapi.yaml", "no request that can be translated"),
        (
            "wsdl",
            "openapi.yaml",
            "use one of har, openapi, postman, curl, jmx",
        ),
    ] {
        let (ended, script) = import(format, file, None, &[]);
        let status = if format == "wsdl" { 104 } else { 2 };
        assert_eq!(ended.status, Some(status), "{format}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{format}: {}", ended.stderr);
        assert_eq!(script, "");
    }
}

/// For each format, a file with an entry that becomes a request and an entry that cannot be translated, and the name of
/// the latter.
const ONE_OF_TWO: [(&str, &str, &str); 5] = [
    (
        "har",
        r#"{"log": {"entries": [
            {"request": {"method": "GET", "url": "http://shop.example/first"}, "response": {"status": 200}},
            {"request": {"method": "GET", "url": "http://shop.example/second"}, "response": {"status": 101}}
        ]}}"#,
        "entry 2, GET http://shop.example/second: it is a WebSocket",
    ),
    (
        "openapi",
        r#"{"openapi": "3.1.0", "servers": [{"url": "http://shop.example"}], "paths": {
            "/first": {"get": {"responses": {}}},
            "/second": {"$ref": "other.yaml#/second"}
        }}"#,
        "/second: it is in another file",
    ),
    (
        "postman",
        r#"{"info": {"name": "shop"}, "item": [
            {"name": "One", "request": {"method": "GET", "url": "http://shop.example/first"}},
            {"name": "Second", "request": {"method": "GET", "url": ""}}
        ]}"#,
        "the request Second: it has no URL",
    ),
    (
        "curl",
        "curl http://shop.example/first\nwget http://shop.example/second\n",
        "command 2: it starts with wget, not with curl",
    ),
    (
        "jmx",
        r#"<jmeterTestPlan><hashTree>
            <HTTPSamplerProxy testname="One">
                <stringProp name="HTTPSampler.protocol">http</stringProp>
                <stringProp name="HTTPSampler.domain">shop.example</stringProp>
                <stringProp name="HTTPSampler.path">/first</stringProp>
            </HTTPSamplerProxy><hashTree/>
            <JDBCSampler testname="Second"/><hashTree/>
        </hashTree></jmeterTestPlan>"#,
        "JDBCSampler \"Second\": it cannot be translated",
    ),
];

#[test]
fn every_format_names_the_entry_that_cannot_be_translated() {
    for (format, text, name) in ONE_OF_TWO {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["new", "--from", format, "-", "script.js", "--no-smoke"];
        let ended = plimsoll(&arguments).inside(folder.path()).input(text).run();
        assert_eq!(ended.status, Some(0), "{format}: {}", ended.stderr);
        let of_messages: Vec<_> = (ended.stderr.lines())
            .filter_map(|line| line.strip_prefix("not translated: "))
            .collect();
        assert_eq!(of_messages.len(), 1, "{format}: {}", ended.stderr);
        assert!(of_messages[0].starts_with(name), "{of_messages:?}");
        let script = fs::read_to_string(folder.path().join("script.js")).unwrap();
        // The other entry becomes a request, and the script contains a comment about the missing one.
        assert!(script.contains("/first"), "{format}: {script}");
        let listed = format!("//   {name}");
        assert!(script.contains(&listed), "{format}: {script}");
    }
}
