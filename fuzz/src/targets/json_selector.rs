//! JSON bodies, and the paths with which scripts select values from them.

use plimsoll_k6::pure::{gjson, json_syntax};

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "json_selector",
    run,
    seeds: &[
        br#"{"a":{"b":[1,2,{"c":"d"}]},"e\u0041":true,"f":null}"#,
        b"{\"a\":{\"b\":[1,2,{\"c\":\"d\"}]}}\0a.b.2.c",
        b"{\"a\":[{\"x\":1,\"y\":\"p\"},{\"x\":2,\"y\":\"q\"}]}\0a.#(x>1).y",
        b"{\"a\":[{\"x\":1},{\"x\":2}]}\0a.#(x>=1)#.x",
        b"[1,[2,3],\"\\ud83d\\ude00\"]\0#",
        b"{\"a.b\":{\"*\":1}}\0a\\.b.*",
        b"{\"a\":[3,1,2]}\0a|@reverse|0",
        b"{\"a\":1,\"b\":2}\0{a,\"x\":b}",
        b"{\"a\":1}\0[a,@this,@pretty:{\"indent\":\"\"}]",
        b"[[[[[[[[1]]]]]]]]\0..#",
    ],
    words: &[
        "\0", ".", "#", "#(", ")#", "|", "@reverse", "@flatten", "@join", "@ugly", "@this",
        "@valid", "@keys", "@values", "@tostr", "@fromstr", "@group", "*", "?", "\\", "==", "!=",
        "<=", "%", "!%", "\"", "{", "}", "[", "]", ":", ",", "\\u", "\\ud800", "true", "null",
        "~true",
    ],
};

fn run(data: &[u8]) {
    let (json, path) = halves(data);
    if let Err(error) = json_syntax::check(json) {
        let (line, column) = error.position(json);
        assert!(line >= 1 && column <= json.len() + 1);
        error.sentence(json);
    }
    // Selecting must also survive invalid JSON.
    gjson::get(json, &text(path));
}
