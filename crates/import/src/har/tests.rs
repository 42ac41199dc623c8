use super::*;

#[test]
fn a_multipart_body_may_be_listed_as_fields() {
    let text = r#"{"log": {"entries": [{
        "startedDateTime": "2026-01-01T00:00:00Z", "time": 5,
        "request": {
            "method": "POST", "url": "http://h/echo", "headers": [],
            "postData": {
                "mimeType": "multipart/form-data; boundary=xx",
                "params": [
                    {"name": "f", "fileName": "a.png", "contentType": "image/png", "value": "bin"},
                    {"name": "lost", "fileName": "b.png"},
                    {"name": "g", "value": "1"}
                ]
            }
        },
        "response": {"status": 200, "headers": [], "content": {}}
    }]}}"#;
    let journey = read(text, &Settings::default()).expect("a journey");
    let file = |name: &str, kind: &str| Some((name.to_owned(), kind.to_owned()));
    let part = |name: &str, value: &str, file| Part {
        name: name.to_owned(),
        value: value.into(),
        file,
    };
    assert_eq!(
        journey.requests[0].body,
        Body::Multipart(vec![
            part("f", "bin", file("a.png", "image/png")),
            part(
                "lost",
                "placeholder",
                file("b.png", "application/octet-stream")
            ),
            part("g", "1", None),
        ])
    );
    let problem = journey.problems[0].to_string();
    assert!(problem.contains("b.png is a placeholder"), "{problem}");
}
