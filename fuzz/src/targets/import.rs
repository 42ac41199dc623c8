//! Files of other tools that are converted to scripts: recordings, API descriptions, collections, commands and test plans.

use plimsoll_import::{Captured, Format, Purpose, Settings};
use plimsoll_k6::pure::typescript::strip;

use super::{Target, halves, text};

pub const HAR: Target = Target {
    name: "import_har",
    run: |data| run(Format::Har, data),
    seeds: &[
        br#"{"log":{"pages":[{"id":"p","title":"Shop"}],"entries":[{"startedDateTime":"2026-03-05T10:11:12Z","time":5,"pageref":"p","request":{"method":"POST","url":"http://h/login","headers":[{"name":"Cookie","value":"a=b"}],"postData":{"mimeType":"application/json","text":"{\"a\":1}"}},"response":{"status":200,"headers":[{"name":"Set-Cookie","value":"s=1"}],"content":{"text":"{\"token\":\"abc123def\",\"id\":7}"}}},{"startedDateTime":"2026-03-05T10:11:14Z","request":{"method":"GET","url":"http://h/items/7?t=abc123def","headers":[{"name":"Authorization","value":"Bearer abc123def"}]},"response":{"status":302,"redirectURL":"/x"}},{"request":{"method":"GET","url":"http://h/x"},"response":{"status":200}}]}}"#,
        br#"{"log":{"entries":[{"request":{"method":"GET","url":"http://h/"},"response":{"status":200,"content":{"text":"<input name=_token value='a`${1}\\'b123456'>"}}},{"request":{"method":"POST","url":"http://h/","postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"_token","value":"a`${1}\\'b123456"}]}},"response":{"status":200}}]}}"#,
    ],
    words: &["\"log\":", "\"entries\":", "\"request\":", "\"url\":", "\"http://h/", "\"response\":", "\"status\":", "\"content\":", "\"text\":", "\"headers\":", "\"postData\":", "base64", "`", "${", "*/", "\\u2028", "\\n"],
};

pub const OPENAPI: Target = Target {
    name: "import_openapi",
    run: |data| run(Format::OpenApi, data),
    seeds: &[
        b"openapi: 3.0.0\nservers: [{url: http://h/v1}]\npaths:\n  /a/{id}:\n    post:\n      operationId: x\n      parameters:\n        - {name: id, in: path, schema: {type: integer}}\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}\n      security: [{t: []}]\n      responses: {'201': {}}\ncomponents:\n  securitySchemes: {t: {type: http, scheme: bearer}}\n  schemas:\n    A: {type: object, properties: {a: {type: array, items: {$ref: '#/components/schemas/A'}}, b: {type: string, format: date}}}\n",
        br#"{"swagger":"2.0","host":"h","paths":{"/a":{"get":{"parameters":[{"name":"q","in":"query","required":true,"type":"string","enum":["x"]},{"name":"f","in":"formData","required":true}]}}},"securityDefinitions":{"k":{"type":"apiKey","in":"query","name":"key"}},"security":[{"k":[]}]}"#,
    ],
    words: &["openapi: 3", "\"swagger\":", "paths:", "\"$ref\":\"#/", "parameters:", "schema:", "type:", "allOf:", "oneOf:", "properties:", "items:", "&a ", "*a", "<<: ", "in: path", "example:", "{id}", "`", "\\u0000"],
};

pub const POSTMAN: Target = Target {
    name: "import_postman",
    run: |data| run(Format::Postman, data),
    seeds: &[
        br#"{"variable":[{"key":"u","value":"http://h"}],"auth":{"type":"bearer","bearer":[{"key":"token","value":"{{t}}"}]},"item":[{"name":"f","item":[{"name":"r","event":[{"listen":"test","script":{"exec":["pm.environment.set('t', pm.response.json().a[0].b);","pm.response.to.have.status(201);"]}}],"request":{"method":"POST","header":[{"key":"A","value":"{{$guid}}"}],"body":{"mode":"raw","raw":"{\"a\":\"{{t}}\"}"},"url":{"raw":"{{u}}/a/:id?x=1","variable":[{"key":"id","value":"7"}],"query":[{"key":"x","value":"1","disabled":true}]}}}]},{"name":"s","request":"http://h/"}]}"#,
        br#"{"item":[{"request":{"url":{"host":["a","b"],"path":["c"],"port":"80","query":[{"key":"d","value":"e"}]},"body":{"mode":"formdata","formdata":[{"key":"f","type":"file","src":"/x"}]}}},{"request":{"url":"http://h","body":{"mode":"graphql","graphql":{"query":"{a}","variables":"{}"}}}}]}"#,
    ],
    words: &["\"item\":", "\"request\":", "\"url\":", "\"raw\":", "{{", "}}", "{{$guid}}", "\"body\":", "\"mode\":", "urlencoded", "\"event\":", "pm.environment.set(", "`", "${"],
};

pub const CURL: Target = Target {
    name: "import_curl",
    run: |data| run(Format::Curl, data),
    seeds: &[
        b"curl 'http://h/a?b=c' -X PUT \\\n -H 'content-type: application/json' -b 'a=b; c=d' --data-raw $'{\"a\":\"\\u0021\\'\"}' --compressed ;\ncurl -G h:80 -d a=b --data-urlencode 'c= d'",
        b"curl -sSLF a=b -F 'c=@d.png;type=image/png' \"http://h/\\\"\" && curl -u a:b -I h # x\ncurl --json '{}' http://h | jq",
    ],
    words: &["curl ", "-H ", "-d ", "-F ", "--data-raw ", "--json ", "-b ", "-u ", "-X ", "http://h/", "$'", "\\u", "\\\n", "'", "\"", ";", "&&", "`", "${"],
};

pub const JMX: Target = Target {
    name: "import_jmx",
    run: |data| run(Format::Jmx, data),
    seeds: &[
        b"<jmeterTestPlan><hashTree><TestPlan testname='t'><collectionProp name='Arguments.arguments'><elementProp><stringProp name='Argument.name'>v</stringProp><stringProp name='Argument.value'>1</stringProp></elementProp></collectionProp></TestPlan><hashTree><ThreadGroup/><hashTree><HTTPSamplerProxy testname='s'><stringProp name='HTTPSampler.domain'>h</stringProp><stringProp name='HTTPSampler.path'>/${v}/${w}?a=${__Random(1,2)}</stringProp><stringProp name='HTTPSampler.method'>POST</stringProp><boolProp name='HTTPSampler.postBodyRaw'>true</boolProp><collectionProp name='Arguments.arguments'><elementProp><stringProp name='Argument.value'>{\"a\":\"${w}\"}</stringProp></elementProp></collectionProp></HTTPSamplerProxy><hashTree><RegexExtractor><stringProp name='RegexExtractor.refname'>w</stringProp><stringProp name='RegexExtractor.regex'>a/(b)\\n</stringProp><stringProp name='RegexExtractor.template'>$1$</stringProp></RegexExtractor><hashTree/><ConstantTimer><stringProp name='ConstantTimer.delay'>5</stringProp></ConstantTimer></hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>",
    ],
    words: &["<hashTree>", "</hashTree>", "<HTTPSamplerProxy>", "<stringProp name='HTTPSampler.path'>", "</stringProp>", "${", "}", "${__UUID}", "<HeaderManager>", "<TransactionController testname='g'/>", "<JSONPostProcessor>", "$.a[0]", "enabled='false'", "&amp;", "<![CDATA[", "]]>"],
};

/// The file, a zero byte, and the responses that a run of the script printed.
fn run(format: Format, data: &[u8]) {
    let (file, responses) = halves(data);
    let (file, responses) = (text(file), text(responses));
    let captured = Captured::parse(&responses);
    for server in [None, Some("http://127.0.0.1:1".to_owned())] {
        let settings = Settings {
            server,
            hosts: vec!["h".to_owned()],
        };
        let Ok(mut journey) = plimsoll_import::read(format, &file, &settings) else {
            continue;
        };
        plimsoll_import::by_recording(&mut journey);
        plimsoll_import::by_captured(&mut journey, &captured);
        for purpose in [Purpose::Keep, Purpose::Capture] {
            let script = plimsoll_import::write(&journey, "plimsoll new", purpose);
            // No text in a file may end a string or a comment of the script.
            assert!(strip(&script).is_ok(), "not a script:\n{script}");
        }
    }
}
