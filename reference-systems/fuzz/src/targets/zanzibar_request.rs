//! Requests to the authorization service, in JSON and in binary.

use std::cell::OnceCell;

use plimsoll_zanzibar::in_memory::Requests;

use super::Target;

pub const TARGET: Target = Target {
    name: "zanzibar_request",
    run,
    seeds: &[
        br#"{"tuple":{"objectType":"doc","objectId":"1","objectRelation":"viewer","subjectType":"user","subjectId":"me"}}"#,
        br#"{"filter":{"object_type":"doc"},"pagination":{"limit":"5","cursor":"t0000000000000007"}}"#,
        b"\x0a\x1f\x0a\x03doc\x12\x011\x1a\x06viewer\x22\x04user\x2a\x02me\x32\x05owner",
        br#"{"pagination":{"limit":4294967296}}"#,
    ],
    words: &[
        "\"tuple\":", "\"filter\":", "\"objectType\":", "\"object_id\":", "\"subjectRelation\":", "\"pagination\":", "\"limit\":",
        "\"cursor\":", "null", "{}", "\"user\"", "\"doc\"", "\"group\"", "\"member\"", "\u{a}", "\u{12}", "\u{1a}", "t00000000",
    ],
};

thread_local! {
    static REQUESTS: OnceCell<Option<Requests>> = const { OnceCell::new() };
}

fn run(data: &[u8]) {
    REQUESTS.with(|cell| {
        if let Some(requests) = cell.get_or_init(|| Requests::new().ok()) {
            assert!(requests.count_accepted(data) <= 4);
        }
    });
}
