//! The results of a lab: `result.json`, from which reports are generated, and the output of a search.

use plimsoll_results::lab::LabResult;

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "lab_result",
    run,
    seeds: &[
        include_bytes!("../../seeds/lab_result.json"),
        br#"{"schema":"plimsoll/find-result/1","objectives":["p95<50ms"],"trials":[{"rate":100,"kept":true,"metric":"http_req_duration","response_time_ms":{"p95":4.5},"verdict":"valid","reasons":[]},{"rate":200,"kept":false,"soak":true,"response_time_ms":{"p95":60},"verdict":"suspect","reasons":["server: slow"]}],"kept":100,"broken":200,"confirmed":true,"drift":null}"#,
    ],
    words: &[
        "\"cells\":", "\"axes\":", "\"state\":", "\"repeats\":", "\"latency\":", "\"seconds\":", "\"value\":", "null", "-1",
        "1e308", "1e-320", "[]", "{}", "\"\"", "true", ",",
    ],
};

fn run(data: &[u8]) {
    if let Ok(result) = serde_json::from_slice::<LabResult>(data) {
        plimsoll_report::markdown(&result);
        plimsoll_report::html(&result);
        plimsoll_report::answer(&result);
    }
    let _ = plimsoll_lab::limit_search::read(&text(data));
}
