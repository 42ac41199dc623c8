fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut r = plimsoll_hits::Results::open(std::fs::File::open(&args[2]).unwrap())
        .unwrap_or_else(|e| panic!("{e}"));
    let mut h = plimsoll_hits::Hit::default();
    let b = args
        .get(3)
        .map(|t| plimsoll_hits::Buckets::parse(t).unwrap());
    let mut m = plimsoll_hits::Metrics::with_buckets(b);
    let mut o = String::new();
    loop {
        match r.next(&mut h) {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => panic!("{e}"),
        }
        match args[1].as_str() {
            "json" => plimsoll_hits::json::write(&h, &mut o),
            "csv" => plimsoll_hits::csv::write(&h, &mut o),
            _ => m.add(&h),
        }
    }
    print!("{o}");
    match args[1].as_str() {
        "text" => print!("{}", plimsoll_hits::reports::text(&mut m)),
        "rjson" => print!("{}", plimsoll_hits::reports::json(&mut m)),
        "hist" => print!("{}", plimsoll_hits::reports::histogram(&m)),
        "hdr" => print!("{}", plimsoll_hits::reports::hdr_plot(&mut m)),
        _ => {}
    }
}
