//! Load-test reports of any tool, alone or in Markdown.

use plimsoll_audit::formats;

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "report",
    run,
    seeds: &[
        "     execution: local\n  * default: 10 looping VUs for 30s (gracefulStop: 30s)\n\
         http_req_duration..............: avg=1.89ms min=0s med=1.03ms max=4.31s p(90)=3.01ms p(95)=4.82ms\n\
         http_req_failed................: 0.00%  ✓ 1 ✗ 122117\nhttp_reqs......: 122117 4070.081052/s\n\
         iteration_duration....: avg=2.38ms min=0s med=1.22ms\niterations......: 122117 4070.08/s\nvus.....: 1 min=1 max=10\n"
            .as_bytes(),
        b"Requests [total, rate, throughput] 1200, 100.08, 100.03\nDuration [total, attack, wait] 12s, 11.9s, 5ms\n\
          Latencies [mean, 50, 95, 99, max] 5ms, 5ms, 6ms, 7ms, 14ms\nStatus Codes [code:count] 200:1200\nError Set:\n\
          Bucket # % Histogram\n[0, 1ms] 0 0.00%\n[1ms, +Inf] 1200 100.00% ##\n",
        b"Connecting to host a, port 1\n[  5]   0.00-10.00  sec  1.09 GBytes   933 Mbits/sec    0   sender\n",
        b"Running 8s test @ http://a/\n  1 threads and 1 connections\n    Latency 5.44ms 812.00us 14.62ms 94.73%\n\
          50% 5.27ms\n  1473 requests in 8.01s, 270.43KB read\nRequests/sec: 183.84\n",
        b"Summary:\n  Total: 8.0 secs\n  Fastest: 0.006 secs\n  Average: 0.0064 secs\n  Requests/sec: 155\n\
          Response time histogram:\n  0.006 [1] |\nLatency distribution:\n  95% in 0.0065 secs\nStatus code distribution:\n  [200] 1243 responses\n",
        b"Concurrency Level: 2\nTime taken for tests: 0.6 seconds\nComplete requests: 100\nFailed requests: 3\n\
          (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)\nTotal: 12 12 0.1 12 13\n  50% 12\n",
        b"finished in 1.08s, 185.41 req/s, 16.96KB/s\nrequests: 200 total, 200 done, 200 succeeded, 0 failed\n\
          status codes: 200 2xx, 0 3xx\ntime for request: 5.22ms 6.16ms 5.36ms 144us 86.00%\n",
        b"$ bombardier -c 125 -n 100 http://a:8080/\n  Reqs/sec 30252.67 5526.41 57624.34\n  Latency 4.15ms 3.53ms 95.44ms\n\
          1xx - 0, 2xx - 90, 3xx - 0, 4xx - 0, 5xx - 0\n  others - 10\n",
        "Running 10s test @ http://a/\n10 connections\n\u{2502} Stat \u{2502} 50% \u{2502} 99% \u{2502} Avg \u{2502} Max \u{2502}\n\
         \u{2502} Latency \u{2502} 1 ms \u{2502} 6 ms \u{2502} 1.88 ms \u{2502} 44 ms \u{2502}\n\u{2502} Stat \u{2502} Avg \u{2502}\n\
         \u{2502} Req/Sec \u{2502} 4,165.95 \u{2502}\n83k requests in 20.01s, 29.7 MB read\n19 errors (18 timeouts)\n"
            .as_bytes(),
        b"{\"metrics\":{\"http_reqs\":{\"count\":9,\"rate\":1},\"http_req_duration\":{\"avg\":1,\"p(95)\":2}},\"root_group\":{}}",
        b"Running 10s test @ http://a/\n  10 connections, target rate 1\xe2\x86\x92100 req/s\n  50%    5.31ms\n    max    11.07ms\n\
          506 requests in 10.01s, 560.36KiB read\nRequests/sec: 50.57\n",
        b"  5500 requests in 10.00s, 1.2MiB read  \xc2\xb7  550 req/s  \xc2\xb7  120KiB/s\n  ramp 100 \xe2\x86\x92 1000 req/s  \xc2\xb7  955 req/s over the final 1.0s\n",
        b"{\"achieved_rate\":99,\"requests\":9,\"duration_s\":1,\"target_rate\":1,\"target_rate_end\":99,\"config\":{\"connections\":2},\"latency_us\":{\"p99_9\":5}}",
        b"gcannon \xe2\x80\x94 io_uring HTTP load generator\n  Conns:     200 (200/thread)\n  Pipeline:  16\n    Latency   8.99ms   8.43ms   14.10ms   22.30ms   26.90ms\n\
          5 requests in 30.01s, 4 responses\n  Throughput: 355.94K req/s\n  Status codes: 2xx=6, 3xx=0\n",
        b"{\"framework\":\"a\",\"results\":{\"b-512\":{\"rps\":5403,\"avg_latency\":\"402.26ms\",\"duration\":\"5s\",\"connections\":512,\"status_2xx\":54036}}}",
        b"summary +   5 in 00:00:01 =    5.0/s Avg:    31 Min:     2 Max:   134 Err:     1 (20.00%) Active: 1 Started: 1 Finished: 0\n\
          summary =   9 in     2s =    4.5/s Avg:    30 Min:     2 Max:   134 Err:     1 (11.11%)\n",
        b" Name  # reqs  # fails | Avg Min Max Med | req/s failures/s\n GET /  3  1(33.33%) | 5 1 9 5 | 1.0 0.3\n Aggregated 3 1(33.33%) | 5 1 9 5 | 1.0 0.3\n\
          Name 50% 99% 100% # reqs\n Aggregated 5 9 9 3\n",
        b"algorithm,parameters,k-nn,qps,p50\n\"a\",\"b(c=1, d)\",0.9,812.5,1.1\n",
        b"{\"start\":{},\"end\":{\"sum_sent\":{\"bytes\":1,\"bits_per_second\":8,\"seconds\":1}}}",
        b"# A\n\n| S | Requests | Failed | Error rate | RPS | p50 (ms) | p99 (ms) | Ratio |\n|---|---|---|---|---|---|---|---|\n\
          | a | 4,000 | 9 | 0.00% | 400 | 4 | 19 | 1.00x |\n| b | 4,500 | 0 | 0% | >450 | ~3 | 7.0 | 1.13x |\n| Total | 8500 | 9 | - | 850 | 3 | 9 | 8.5 : 1 |\n\n\
          b is 30% faster than a. a has the lowest p99 latency. b outperforms a. b reached 900 rps.\nAll SLOs are met. p99: <5ms PASS\nFixed rate: 900\n",
        b"# A\n\n| Metric | Before | After |\n|---|---|---|\n| p95 | 5 ms | 3 ms |\n\n- Total requests: 60 000\n- Duration: 30 s\n- RPS: 2,600\n\n```\ntps = 3.1 (x)\nlatency average = 2 ms\n```\n",
        b"# A\n\nOur SLA of 5ms holds on the 95percentile. `{a|b}-{n}[-c]`\n\n| Test | From | Time |\n|---|---|---|\n| 1MB x 10 | a | 5s |\n\n\
          ## 10 VUs\n\n```\nhttp_reqs.....: 1 1/s\nhttp_req_duration....: avg=1ms min=1ms\n```\n",
    ],
    words: &[
        "```\n", "|---|\n", "# ", "..: ", "avg=", "p(95)=", "min=", "-1ns", "0s", "1e308", "NaN", "%", "✓", "✗",
        "[total, rate", "Bucket # % Histogram", "[1ms, +Inf]", "execution: ", "100 looping VUs for ",
        "running (", "http_reqs......: ", "iterations......: ", "9999999999999999999999", "sec", "Mbits/sec",
        "MB/s", "to be determined", " is slower than ", "25 %", "`{a|", "}`", "seq 1 10", "\n\n", "\u{feff}",
        "target rate ", "ramp ", "gcannon io_uring", "\"rps\":", "algorithm,qps,k-nn\n",
        "summary = ", " in 00:00:01 = ", " Avg: ", "# reqs", "# fails", "Aggregated ", "\u{a0}", "http\\_reqs",
        "| p99 (ms) |", "| RPS |", "Error rate", " outperforms ", " is 3x faster than ", " has the lowest ",
        "All SLOs are met", ": 100% success", "x |", " : 1 |", " = ", ">1",
    ],
};

fn run(data: &[u8]) {
    if let Ok(audit) = plimsoll_audit::audit("fuzzed", &text(data)) {
        let audits = [audit];
        formats::text(&audits);
        formats::markdown(&audits);
        formats::github(&audits);
        formats::sarif(&audits, "0");
        let json = formats::json(&audits);
        assert!(
            serde_json::from_str::<serde_json::Value>(&json).is_ok(),
            "{json}"
        );
    }
}
