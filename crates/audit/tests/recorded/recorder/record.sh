#!/usr/bin/env bash
# Records the outputs beside this folder from the real tools, against server.go on
# loopback (`go build -o srv server.go && ./srv`) and `plimsoll serve payload
# --grpc-port 25051`. Name the recordings to make, or none for all.
set -u
cd "$(dirname "$0")/scripts"
here=$(pwd); out=$here/../..; only=("$@")
base=http://127.0.0.1:28080/
wanted() { [ ${#only[@]} -eq 0 ] && return 0; local x; for x in "${only[@]}"; do [[ $1 == $x ]] && return 0; done; return 1; }
# rec FILE COMMAND…: standard output and error as a person would paste them.
rec() { local f=$1; shift; wanted "$f" || return 0; curl -s "$base?reset=1" >/dev/null; (cd "$here"; "$@") 2>&1 | tr -d '\r' >"$out/$f"; echo "$f"; }
k6q() { NO_COLOR=1 k6 run --no-color "$@"; }

# --- sound runs ---
for r in "100 4" "200 8" "300 12"; do set -- $r
  rec clean/k6_open_$1.txt k6q -e RATE=$1 -e URL="$base?ms=$2" open.js; done
rec clean/k6_full.txt k6q --summary-mode=full -e URL="$base?ms=6" open.js
rec clean/k6_legacy_150.txt k6q --summary-mode=legacy -e RATE=150 -e URL="$base?ms=6" open.js
rec clean/k6_legacy_250.txt k6q --summary-mode=legacy -e RATE=250 -e LIMIT=80 -e URL="$base?ms=9" open.js
rec clean/k6_threshold.txt k6q -e RATE=120 -e LIMIT=90 -e URL="$base?ms=10" open.js
rec clean/k6_p99.txt k6q -e RATE=250 -e 'STATS=avg,min,med,max,p(75),p(95),p(99),count' -e URL="$base?ms=7" open.js
rec clean/k6_h2.txt k6q -e RATE=150 -e URL="https://127.0.0.1:28444/?ms=6" open.js
rec clean/k6_tls.txt k6q -e RATE=150 -e URL="https://127.0.0.1:28443/?ms=6" open.js
rec clean/k6_ramp.txt k6q -e URL="$base?ms=6" ramp.js
rec clean/k6_grpc.txt k6q grpc.js
# clean/plimsoll_two_checks.txt is a run of labs/zanzibar, whose requests have one of two checks.
rec clean/k6_one_user.txt k6q -u 1 -d 8s -e CHECK=body -e URL="$base?ms=5" closed.js
rec clean/k6_quiet.txt k6q --quiet -e RATE=90 -e URL="$base?ms=5" open.js
for r in "110 5" "210 9"; do set -- $r
  wanted clean/k6_export_$1.json && rec clean/k6_export_$1.txt k6q --summary-export="$out/clean/k6_export_$1.json" -e RATE=$1 -e URL="$base?ms=$2" open.js; rm -f "$out/clean/k6_export_$1.txt"
  wanted clean/k6_machine_$1.json && rec clean/k6_machine_$1.txt k6q --new-machine-readable-summary --summary-export="$out/clean/k6_machine_$1.json" -e RATE=$1 -e URL="$base?ms=$2" open.js; rm -f "$out/clean/k6_machine_$1.txt"
done
veg() { local url=$1; shift; local rep=$1; shift; echo "GET $url" | vegeta attack "$@" | vegeta report $rep; }
rec clean/vegeta_100.txt veg "$base?ms=5" -type=text -rate=100 -duration=12s
rec clean/vegeta_200.txt veg "$base?ms=8" -type=text -rate=200 -duration=8s
rec clean/vegeta_300.txt veg "$base?ms=12" -type=text -rate=300 -duration=8s
rec clean/vegeta_150.json veg "$base?ms=7" -type=json -rate=150 -duration=8s
rec clean/vegeta_250.json veg "$base?ms=9" -type=json -rate=250 -duration=8s
rec clean/vegeta_hist.txt veg "$base?ms=8" '-type=hist[0,5ms,10ms,15ms,20ms,50ms]' -rate=150 -duration=8s
both() { local url=$1; shift; echo "GET $url" | vegeta attack "$@" >/tmp/veg.$$; vegeta report -type=text /tmp/veg.$$; vegeta report '-type=hist[0,5ms,10ms,15ms,20ms,50ms]' /tmp/veg.$$; rm /tmp/veg.$$; }
rec clean/vegeta_both.txt both "$base?ms=6" -rate=180 -duration=8s
wanted 'clean/iperf*' || wanted '*/iperf*' && { iperf3 -s -p 25201 -D --pidfile /tmp/iperf.$$ ; sleep 0.3; }
rec clean/iperf3.txt iperf3 -c 127.0.0.1 -p 25201 -t 6
rec clean/iperf3_limited.txt iperf3 -c 127.0.0.1 -p 25201 -t 6 -b 200M
rec clean/iperf3_parallel.txt iperf3 -c 127.0.0.1 -p 25201 -t 6 -P 2
rec clean/iperf3_reverse.txt iperf3 -c 127.0.0.1 -p 25201 -t 6 -R
rec clean/iperf3.json iperf3 -c 127.0.0.1 -p 25201 -t 6 -J
rec clean/iperf3_limited.json iperf3 -c 127.0.0.1 -p 25201 -t 6 -b 100M -J
rec wrong/iperf3_baseline.txt iperf3 -c 127.0.0.1 -p 25201 -t 6 -b 20M
[ -f /tmp/iperf.$$ ] && kill "$(tr -d '\0' </tmp/iperf.$$)"; rm -f /tmp/iperf.$$
rec clean/wrk_1.txt wrk -t1 -c1 -d8s "$base?ms=4"
rec clean/wrk_1_latency.txt wrk -t1 -c1 -d8s --latency "$base?ms=5"
rec clean/wrk_2_latency.txt wrk -t2 -c2 -d8s --latency "$base?ms=6"
rec clean/wrk_4.txt wrk -t2 -c4 -d8s "$base?ms=9"
rec clean/hey_1.txt hey -z 8s -c 1 "$base?ms=6"
rec clean/hey_2.txt hey -z 10s -c 2 -q 60 "$base?ms=5"
rec clean/hey_4.txt hey -n 3000 -c 4 "$base?ms=9"
# oha 1.16.0, from its crate (OHA names the program).
oha() { NO_COLOR=1 "${OHA:-oha}" --no-tui "$@"; }
rec clean/oha.txt oha -z 8s -c 2 "$base?ms=6"
rec clean/oha_200.txt oha -n 2400 -c 4 -q 200 "$base?ms=8"
rec clean/oha.json oha -z 8s -c 4 "$base?ms=9" --output-format json
rec wrong/oha_404.txt oha -z 6s -c 1 "$base?ms=5&status=404"
rec wrong/oha_refused.txt oha -n 200 -c 2 "http://127.0.0.1:28089/"
# wrk2 has no package: clean/wrk2*.txt are what it printed for its own author, in the README of
# wrk2 (github.com/giltene/wrk2, Apache-2.0).
rec clean/ab_1.txt ab -k -c 1 -n 1100 "$base?ms=12"
rec clean/ab_2.txt ab -k -c 2 -n 1200 "$base?ms=25"
rec clean/ab_4.txt ab -k -c 4 -n 2000 "$base?ms=15"
ghzt() { ghz --insecure --proto helloworld.proto --call helloworld.Greeter.Slow -d '{"ms":5}' "$@" 127.0.0.1:25051; }
rec clean/ghz_150.txt ghzt --rps 150 -n 1200 -c 4
rec clean/ghz_200.txt ghzt --rps 200 -z 8s -c 4
rec clean/ghz_150.json ghzt --rps 150 -n 1200 -c 4 -O json
rec clean/h2load_1.txt h2load -c1 -m1 -D 8 "https://127.0.0.1:28444/?ms=5"
rec clean/h2load_2.txt h2load -c2 -m1 -n 2400 "https://127.0.0.1:28444/?ms=6"
rec clean/h2load_h1.txt h2load --h1 -c2 -n 2400 "$base?ms=6"

# --- runs with a fault, made on purpose ---
rec wrong/k6_skewed.txt k6q -e SKEW=40 -e URL="$base?ms=2" clocks.js
rec wrong/k6_wall_clock.txt k6q -e URL="$base" clocks.js
rec wrong/k6_startup.txt k6q -u 150 -d 24s -e CHECK=status -e SLEEP=1 -e URL="$base?startup=400&ms=1" closed.js
rec wrong/k6_startup_legacy.txt k6q --summary-mode=legacy -u 150 -d 24s -e CHECK=status -e SLEEP=1 -e URL="$base?startup=400&ms=1" closed.js
rec wrong/k6_think_20.txt k6q -u 20 -d 6s -e CHECK=status -e SLEEP=1 -e URL="$base?ms=2" closed.js
rec wrong/k6_saturated.txt k6q -u 100 -d 6s -e CHECK=body -e URL="$base" closed.js
rec wrong/k6_saturated_h2.txt k6q --summary-mode=legacy -u 50 -d 6s -e CHECK=body -e URL="https://127.0.0.1:28444/" closed.js
rec wrong/k6_saturated_plain.txt k6q --summary-mode=legacy -u 50 -d 6s -e CHECK=body -e URL="$base" closed.js
rec wrong/k6_saturated_tls.txt k6q --summary-mode=legacy -u 50 -d 6s -e CHECK=body -e URL="https://127.0.0.1:28443/" closed.js
rec wrong/k6_stall.txt k6q -u 10 -d 8s -e CHECK=body -e URL="$base?ms=2&stall=3,1.5" closed.js
rec wrong/k6_rounded.txt k6q --summary-mode=legacy -u 60 -d 8s -e CHECK=body -e URL="$base?failn=40000" closed.js
rec wrong/k6_rounded_new.txt k6q -u 60 -d 8s -e CHECK=body -e URL="$base?failn=40000" closed.js
rec wrong/k6_failing.txt k6q -u 2 -d 6s -e CHECK=any -e URL="$base?ms=3&fail=0.1" closed.js
rec wrong/k6_refused.txt k6q -u 2 -d 6s -e SLEEP=0.01 -e URL="http://127.0.0.1:28089/" closed.js
rec wrong/k6_no_checks.txt k6q -u 1 -d 6s -e URL="$base?ms=4" closed.js
rec wrong/k6_fresh.txt k6q --summary-mode=full --no-connection-reuse -u 2 -d 6s -e CHECK=body -e URL="$base?ms=1" closed.js
rec wrong/k6_fresh_tls.txt k6q --summary-mode=legacy --no-connection-reuse -u 2 -d 6s -e CHECK=body -e URL="https://127.0.0.1:28443/?ms=1" closed.js
rec wrong/k6_server_closes.txt k6q --summary-mode=full -u 2 -d 6s -e CHECK=body -e URL="$base?ms=1&close=1" closed.js
rec wrong/k6_cut_short.txt k6q -e URL="$base?ms=20" shared.js
rec wrong/k6_dropped.txt k6q -e RATE=300 -e USERS=5 -e URL="$base?ms=40" open.js
rec wrong/k6_gauge.txt k6q -u 900 -d 6s -e CHECK=status -e SLEEP=1 -e URL="$base?startup=500" closed.js
rec wrong/k6_timeouts.txt k6q -u 20 -d 8s -e TIMEOUT=1s -e CHECK=body -e URL="$base?ms=10&hang=0.004" closed.js
rec wrong/k6_serial_10.txt k6q --summary-mode=legacy -u 10 -d 6s -e CHECK=body -e URL="$base?serial=4" closed.js
rec wrong/k6_serial_40.txt k6q --summary-mode=legacy -u 40 -d 6s -e CHECK=body -e URL="$base?serial=4" closed.js
rec clean/k6_ten_users.txt k6q -u 10 -d 8s -e CHECK=body -e URL="$base?ms=2" closed.js
rec clean/k6_large_answers.txt k6q -u 1 -d 6s -e CHECK=body -e URL="$base?ms=2&len=4000" closed.js
rec wrong/k6_drained.txt k6q -u 4 -d 5s -e CHECK=body -e URL="$base?ms=2000" closed.js
rec wrong/k6_setup.txt k6q -e URL="$base?ms=4" setup.js
rec wrong/k6_partial_check.txt k6q -u 1 -d 6s -e CHECK=body -e SECOND="$base?ms=3" -e URL="$base?ms=3" closed.js
rec wrong/k6_short.txt k6q -u 1 -d 1s -e CHECK=body -e URL="$base?ms=4" closed.js
rec wrong/k6_threshold_crossed.txt k6q -e RATE=100 -e LIMIT=2 -e URL="$base?ms=5" open.js
rec wrong/vegeta_overdriven.txt veg "$base?serial=8" -type=text -rate=300 -duration=6s
rec wrong/vegeta_starved.txt veg "$base?ms=20" -type=text -rate=300 -duration=6s -max-workers=2
rec wrong/vegeta_404.txt veg "$base?status=404" -type=text -rate=100 -duration=6s
rec wrong/vegeta_rounded.txt veg "$base?failn=20001" -type=text -rate=3000 -duration=10s
rec wrong/vegeta_timeouts.txt veg "$base?ms=5&hang=0.02" -type=text -rate=50 -duration=6s -timeout=1s
rec wrong/wrk_stuck.txt wrk -t1 -c10 -d8s --timeout 20s --latency "$base?ms=4&hang=0.003"
rec wrong/wrk_404.txt wrk -t1 -c2 -d6s "$base?status=404"
rec wrong/wrk_large.txt wrk -t1 -c4 -d6s "$base?len=200000"
rec wrong/hey_200.txt hey -n 200 -c 2 "$base"
rec wrong/hey_404.txt hey -z 6s -c 1 "$base?ms=5&status=404"
rec wrong/ab_fast.txt ab -k -c 10 -n 60000 "$base"
rec wrong/ab_no_keepalive.txt ab -c 2 -n 1000 "$base?ms=12"
rec wrong/ab_closed.txt ab -k -c 2 -n 1000 "$base?ms=12&close=1"
rec wrong/ab_length.txt ab -k -c 1 -n 600 "$base?ms=12&jitterlen=60"
rec wrong/h2load_pipelined.txt h2load -c2 -m20 -D 6 "https://127.0.0.1:28444/?ms=5"
rec wrong/h2load_500.txt h2load -c1 -m1 -D 6 "https://127.0.0.1:28444/?ms=5&status=500"
rec wrong/ghz_refused.txt ghz --insecure --proto helloworld.proto --call helloworld.Greeter.SayHello -d '{"name":"x"}' -n 100 -c 2 --connect-timeout 1s 127.0.0.1:25059

# --- the layout with ✓ and ✗, from k6 0.47 (K6_OLD names the program) ---
k6old() { NO_COLOR=1 "${K6_OLD:-k6-0.47}" run --no-color "$@"; }
rec clean/k6_old_150.txt k6old -e RATE=150 -e URL="$base?ms=6" open.js
rec clean/k6_old_tls.txt k6old -e RATE=100 -e URL="https://127.0.0.1:28443/?ms=7" open.js
rec wrong/k6_old_rounded.txt k6old -u 60 -d 8s -e CHECK=body -e URL="$base?failn=40000" closed.js
rec wrong/k6_old_think.txt k6old -u 30 -d 6s -e CHECK=status -e SLEEP=1 -e URL="$base?ms=2" closed.js
