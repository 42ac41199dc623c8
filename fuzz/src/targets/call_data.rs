//! The data of `plimsoll grpc`, with templates that are filled in for each call.

use plimsoll_scriptless::{Facts, Generated, Random};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "call_data",
    run,
    seeds: &[
        b"{\"n\":{{.RequestNumber}},\"id\":\"{{.UUID}}\"}",
        b"{{randomInt -5 5}} {{randomString 3 9}} {{.Timestamp}}",
    ],
    words: &[
        "{{",
        "}}",
        "randomInt ",
        "randomString ",
        ".UUID",
        ".MethodName",
        "-1",
        "99",
    ],
};

fn run(data: &[u8]) {
    if let Ok(generated) = Generated::parse(&text(data), "/a.B/C") {
        let mut random = Random::new(1);
        let mut facts = Facts {
            number: 1,
            user: 1,
            random: &mut random,
        };
        generated.write(&mut String::new(), &mut facts);
    }
}
