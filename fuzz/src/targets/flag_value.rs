//! Values of flags: rates, sizes, addresses and names, as a person types them.

use std::path::Path;

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "flag_value",
    run,
    seeds: &[
        b"10.5/2s",
        b"600/m",
        b"50mbit",
        b"example.test:443",
        b"[::1]:8080",
        b"unix:/run/a.sock",
        b"PATCH",
        b"json=-",
        b"csv=a.csv.gz",
        b"p99",
        b"*.example.test",
        b"{\"imports\":{\"a\":\"./b.js\",\"c/\":\"https://d/\"}}",
        b"1/3:2/3",
        b"0,1/3,2/3,1",
        b"rsa-2048",
        b"p95<50ms",
        b"poisson@7",
        b"gamma:0.5",
        b"on-off:2s/8s",
        b"name=other,key=value,default",
    ],
    words: &[
        "/",
        ":",
        ".",
        "s",
        "ms",
        "m",
        "h",
        "bit",
        "Gbit",
        "kbit",
        "[",
        "]",
        "::",
        "unix:",
        "json",
        "csv",
        "=",
        "-",
        "p99",
        "\"imports\":",
        "./",
        "../",
        "https://",
        "*.",
        "999999999999",
        "1e9",
        "gamma:",
        "on-off:",
        "@",
        "name=",
        ",default",
    ],
};

fn run(data: &[u8]) {
    let text = text(data);
    if let Ok(rate) = plimsoll_plan::Rate::parse(&text) {
        assert!(rate.per_second().is_finite());
    }
    if let Ok(time) = plimsoll_units::duration::parse_with_unit(&text) {
        assert!(time <= plimsoll_units::duration::LONGEST);
    }
    if let Ok(arrivals) = plimsoll_plan::Arrivals::parse(&text) {
        let written = arrivals.to_string();
        assert_eq!(plimsoll_plan::Arrivals::parse(&written), Ok(arrivals));
    }
    let _ = plimsoll_k6::secrets::Secrets::open(&[format!("mock={text}")], &|path| {
        std::fs::read_to_string(path)
    });
    let _ = plimsoll_units::BitRate::parse(&text);
    for tls in [false, true] {
        let _ = plimsoll_grpc::Endpoint::parse(&text, tls);
    }
    let _ = plimsoll_net::UnixPath::parse(&text);
    let _ = plimsoll_http::Method::parse(&text);
    let _ = plimsoll_results::figures::find(&text);
    let _ = plimsoll_plan::Segment::parse(&text);
    let _ = plimsoll_plan::SegmentSequence::parse(&text);
    if let Ok(map) = plimsoll_script::ImportMap::parse(&text, Path::new("/a")) {
        let entries = map.to_entries();
        assert_eq!(
            plimsoll_script::ImportMap::from_entries(entries.as_ref()),
            Ok(map.clone())
        );
        map.find("c/x");
    }
}
