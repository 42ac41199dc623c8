//! Authorization models.

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "zanzibar_model",
    run,
    seeds: &[
        b"types:\n  user: {}\n  group:\n    member: this\n  doc:\n    parent: this\n    viewer:\n      any_of:\n        - this\n        - computed_userset: parent\n        - tuple_to_userset: { tupleset: parent, computed_userset: viewer }\n",
        b"{\"types\":{\"a\":{\"b\":{\"computed_userset\":\"c\"},\"c\":{\"any_of\":[\"this\",{\"computed_userset\":\"b\"}]}}}}",
    ],
    words: &[
        "types", "this", "any_of", "computed_userset", "tuple_to_userset", "tupleset", ": ", "- ",
        "{", "}", "[", "]", "\n  ", "&a", "*a", "'", "\"",
    ],
};

fn run(data: &[u8]) {
    // The message of an error does not matter here, only that it exists.
    let _ = plimsoll_zanzibar::check_model(&text(data));
}
