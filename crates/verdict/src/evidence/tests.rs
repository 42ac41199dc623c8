use super::*;

fn second(cpu_ms: u64, wait_ms: u64, late: Duration) -> ThreadReading {
    ThreadReading {
        span: Duration::from_secs(1),
        cpu: Duration::from_millis(cpu_ms),
        run_queue_wait: Some(Duration::from_millis(wait_ms)),
        lateness: vec![late; 100],
    }
}

fn after(seconds: usize, pulse: &ThreadReading) -> Evidence {
    let mut evidence = Evidence::default();
    for _ in 0..seconds {
        evidence.add(0, pulse);
    }
    evidence
}

#[test]
fn a_quiet_run_is_valid_and_lists_the_checks() {
    let verdict = after(10, &second(300, 2, Duration::from_micros(60))).judge();
    assert_eq!(verdict.level, Level::Valid);
    assert!(verdict.reasons[0].text.contains("30% of its processor"));
}

#[test]
fn a_saturated_worker_is_suspect() {
    let verdict = after(10, &second(990, 2, Duration::from_micros(60))).judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert_eq!(verdict.reasons[0].cause, Cause::Client);
    assert!(verdict.reasons[0].text.contains("99%"));
}

#[test]
fn a_starved_worker_is_invalid() {
    let verdict = after(10, &second(500, 400, Duration::from_micros(60))).judge();
    assert_eq!(verdict.level, Level::Invalid);
}

#[test]
fn waiting_on_other_processors_is_not_the_generators() {
    let pressed = |known| {
        let mut evidence = after(10, &second(300, 20, Duration::from_micros(60)));
        for worker in &mut evidence.workers {
            worker.reports_waiting = known;
        }
        evidence.machine.span = Duration::from_secs(10);
        evidence.machine.processor_pressure = Some(Duration::from_secs(7));
        evidence.judge()
    };
    assert_eq!(pressed(true).level, Level::Valid);
    let unknown = pressed(false);
    let texts: Vec<&str> = unknown
        .reasons
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert!(texts.iter().any(|text| text.contains("(PSI)")), "{texts:?}");
}

#[test]
fn segments_that_arrived_twice_were_not_lost() {
    let mut evidence = after(10, &second(100, 0, Duration::ZERO));
    evidence.machine.retransmitted = Some(401);
    evidence.machine.segments_sent = Some(13_590);
    assert_eq!(evidence.judge().level, Level::Suspect);
    evidence.machine.retransmitted_needlessly = Some(401);
    assert_eq!(evidence.judge().level, Level::Valid);
    evidence.machine.retransmitted = Some(801);
    let verdict = evidence.judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert!(
        verdict.reasons[0].text.starts_with("400 of 13590"),
        "{verdict:?}"
    );
}

#[test]
fn late_timers_are_reported() {
    let verdict = after(10, &second(100, 0, Duration::from_millis(20))).judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert!(verdict.reasons[0].text.contains("timers"));
}

#[test]
fn late_starts_are_a_disturbance_if_others_had_the_processor() {
    let judged = |cpu_ms, wait_ms| {
        let mut evidence = after(10, &second(cpu_ms, wait_ms, Duration::ZERO));
        evidence.send_lag_p99 = Some(Duration::from_millis(3));
        evidence.judge()
    };
    assert!(!judged(100, 0).disturbed, "late on its own");
    assert!(!judged(700, 20).disturbed, "a worker with much to do");
    let verdict = judged(100, 12);
    assert!(verdict.disturbed);
    assert_eq!(verdict.level, Level::Suspect);
    let text = &verdict.reasons[0].text;
    assert!(
        text.contains("send lag") && text.contains("for 1.2% of the time"),
        "{text}"
    );
}

#[test]
fn throttling_drops_and_exhaustion_are_reported_with_their_causes() {
    let mut evidence = after(10, &second(100, 0, Duration::ZERO));
    evidence.machine.throttled = Some(3);
    evidence.machine.quota_periods = Some(30);
    evidence.exhausted = 2;
    evidence.dropped = 10;
    evidence.scheduled = 100;
    (evidence.requests, evidence.responses) = (90, 90);
    let verdict = evidence.judge();
    assert_eq!(verdict.level, Level::Invalid);
    let causes: Vec<_> = verdict.reasons.iter().map(|reason| reason.cause).collect();
    assert_eq!(causes, [Cause::Client, Cause::Client, Cause::Server]);
}

#[test]
fn without_requests_no_server_is_blamed_for_dropped_iterations() {
    let evidence = Evidence {
        scheduled: 30,
        dropped: 27,
        started: 2_900,
        ..Evidence::default()
    };
    let verdict = evidence.judge();
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(verdict.reasons[0].cause, Cause::Client);
    let text = &verdict.reasons[0].text;
    assert!(
        text.starts_with("27 of 30 scheduled") && !text.contains("server"),
        "{text}"
    );
}

#[test]
fn a_short_run_does_not_pretend_to_know() {
    let verdict = Evidence::default().judge();
    assert_eq!(verdict.level, Level::Valid);
    assert!(verdict.reasons[0].text.contains("too short"));
}

fn closed(users: u32) -> ServiceTimes {
    ServiceTimes {
        count: 1_000,
        total: Duration::from_secs(100),
        least: Duration::from_millis(80),
        p10: Duration::from_millis(90),
        median: Duration::from_millis(100),
        closed_users: Some(users),
        elapsed: Duration::from_secs(10),
        ..ServiceTimes::default()
    }
}

/// The findings for a run with these request times and without any other problem.
fn of_service(service: ServiceTimes) -> Verdict {
    let mut evidence = after(10, &second(100, 0, Duration::ZERO));
    evidence.service = Some(service);
    evidence.judge()
}

#[test]
fn a_saturated_closed_loop_is_distinguished_from_a_slow_one() {
    assert_eq!(of_service(closed(10)).level, Level::Valid);
    let quick = ServiceTimes {
        least: Duration::from_millis(5),
        ..closed(10)
    };
    let verdict = of_service(quick.clone());
    assert_eq!(
        (verdict.level, verdict.reasons[0].cause),
        (Level::Suspect, Cause::Server)
    );
    assert!(
        verdict.reasons[0].text.contains("below 100/s"),
        "{verdict:?}"
    );
    // Think time, fast requests, or an open model must not cause a finding.
    let thinking = ServiceTimes {
        closed_users: Some(20),
        ..quick.clone()
    };
    let mixed = ServiceTimes {
        p10: Duration::from_millis(6),
        ..quick.clone()
    };
    let open = ServiceTimes {
        closed_users: None,
        ..quick
    };
    for service in [thinking, mixed, open] {
        assert_eq!(of_service(service).level, Level::Valid);
    }
}

#[test]
fn stalls_that_percentiles_hide_are_reported() {
    let stalled = |slow| ServiceTimes {
        slow,
        slow_total: Duration::from_secs(2 * slow),
        ..closed(10)
    };
    assert_eq!(of_service(stalled(1)).level, Level::Valid);
    let verdict = of_service(stalled(10));
    assert_eq!(
        (verdict.level, verdict.reasons[0].cause),
        (Level::Suspect, Cause::Server)
    );
    assert!(
        verdict.reasons[0].text.contains("10 of 1000") && verdict.reasons[0].text.contains("20%")
    );
    // If the 99th percentile shows the stalls, they are not hidden.
    assert_eq!(of_service(stalled(20)).level, Level::Valid);
}

#[test]
fn a_full_link_is_detected_by_transfer_times() {
    let moved = |bytes| ServiceTimes {
        moving: Duration::from_secs(80),
        bytes: plimsoll_units::Bytes(bytes),
        ..closed(10)
    };
    assert_eq!(of_service(moved(1_000_000)).level, Level::Valid);
    let verdict = of_service(moved(100_000_000));
    assert_eq!(
        (verdict.level, verdict.reasons[0].cause),
        (Level::Suspect, Cause::Network)
    );
    assert!(
        verdict.reasons[0].text.contains("80.0 Mbit/s"),
        "{verdict:?}"
    );
}

#[test]
fn the_machine_is_judged_by_its_counters() {
    let seconds = Duration::from_secs;
    let judge = |change: &dyn Fn(&mut Evidence)| {
        let mut evidence = after(10, &second(100, 20, Duration::ZERO));
        evidence.machine.span = seconds(10);
        change(&mut evidence);
        let verdict = evidence.judge();
        (
            verdict.level,
            verdict.reasons[0].cause,
            verdict.reasons[0].text.clone(),
        )
    };
    type Case = (Level, Cause, &'static str, Box<dyn Fn(&mut Evidence)>);
    let cases: [Case; 11] = [
        (
            Level::Suspect,
            Cause::Client,
            "quota",
            Box::new(|e| {
                (e.machine.throttled, e.machine.quota_periods) = (Some(1), Some(100));
            }),
        ),
        (
            Level::Invalid,
            Cause::Client,
            "quota",
            Box::new(|e| {
                (e.machine.throttled, e.machine.quota_periods) = (Some(3), Some(100));
            }),
        ),
        (
            Level::Suspect,
            Cause::Client,
            "steal",
            Box::new(move |e| {
                (e.machine.steal, e.machine.processor_time) = (Some(seconds(1)), Some(seconds(20)));
            }),
        ),
        (
            Level::Suspect,
            Cause::Client,
            "60% with other programs",
            Box::new(move |e| {
                (e.machine.allowed_busy, e.machine.allowed_time) =
                    (Some(seconds(10)), Some(seconds(10)));
                e.machine.own = seconds(4);
            }),
        ),
        (
            Level::Invalid,
            Cause::Client,
            "memory (PSI)",
            Box::new(move |e| {
                e.machine.memory_pressure = Some(seconds(3));
            }),
        ),
        (
            Level::Suspect,
            Cause::Network,
            "retransmitted",
            Box::new(|e| {
                (e.machine.retransmitted, e.machine.segments_sent) = (Some(30), Some(2_000));
            }),
        ),
        (
            Level::Suspect,
            Cause::Client,
            "TIME_WAIT",
            Box::new(|e| {
                e.waiting_ports = Some((25_000, 28_000));
            }),
        ),
        (
            Level::Suspect,
            Cause::Client,
            "900 of 1024 file descriptors",
            Box::new(|e| {
                e.descriptors = Some((900, 1_024));
            }),
        ),
        (
            Level::Suspect,
            Cause::Clock,
            "resolution is 10ms",
            Box::new(|e| {
                e.clock_step = Some(Duration::from_millis(10));
                e.latency_median = Some(Duration::from_millis(50));
            }),
        ),
        (
            Level::Suspect,
            Cause::Clock,
            "clock was changed by 2s",
            Box::new(move |e| {
                e.machine.calendar = Some(seconds(8));
            }),
        ),
        (
            Level::Invalid,
            Cause::Clock,
            "suspended for 5s",
            Box::new(move |e| {
                e.machine.since_boot = Some(seconds(15));
            }),
        ),
    ];
    for (level, cause, part, change) in cases {
        let (seen, blamed, text) = judge(&*change);
        assert_eq!((seen, blamed), (level, cause), "{text}");
        assert!(text.contains(part), "{text}");
    }
    // The counters are the same, but there is no problem.
    let (level, ..) = judge(&|e| {
        e.machine.throttled = Some(0);
        e.machine.processor_pressure = Some(seconds(1));
        (e.machine.allowed_busy, e.machine.allowed_time) = (Some(seconds(10)), Some(seconds(10)));
        e.machine.own = seconds(9);
        (e.machine.calendar, e.machine.since_boot) = (Some(seconds(10)), Some(seconds(10)));
        e.waiting_ports = Some((100, 28_000));
        e.descriptors = Some((100, 1_024));
        e.clock_step = Some(Duration::from_nanos(30));
        e.latency_median = Some(Duration::from_micros(50));
    });
    assert_eq!(level, Level::Valid);
    // The ports were used before the run, which opened hardly any connections itself.
    let (level, ..) = judge(&|e| {
        e.waiting_ports = Some((25_000, 28_000));
        e.machine.opened = Some(500);
    });
    assert_eq!(level, Level::Valid);
}

fn requests(requests: u64, responses: u64, failed: u64, failure: (Cause, u64)) -> Evidence {
    Evidence {
        requests,
        responses,
        failed,
        started: requests,
        main_failure: Some(MainFailure {
            cause: failure.0,
            text: "connection refused: is the server running?".to_owned(),
            count: failure.1,
            is_of_body: false,
        }),
        ..Evidence::default()
    }
}

#[test]
fn a_run_without_a_response_is_invalid_and_names_the_failure() {
    let verdict = requests(20, 0, 20, (Cause::Client, 20)).judge();
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(verdict.reasons[0].cause, Cause::Client);
    assert_eq!(
        verdict.reasons[0].text,
        "none of 20 requests got a response: connection refused: is the server running?"
    );
    let one = requests(20, 1, 19, (Cause::Client, 19)).judge();
    assert_eq!(one.level, Level::Suspect);
    assert_eq!(one.reasons[0].cause, Cause::Client);
    assert!(one.reasons[0].text.ends_with("running?)"));
    // Half of the failures are of other kinds, so no single kind explains the result.
    let mixed = requests(20, 1, 19, (Cause::Client, 9)).judge();
    assert_eq!(mixed.reasons[0].cause, Cause::Server);
    assert!(mixed.reasons[0].text.ends_with("of failures"));
}

#[test]
fn responses_that_could_not_be_decompressed_are_not_called_missing() {
    let mut evidence = requests(8, 0, 8, (Cause::Client, 8));
    if let Some(failure) = &mut evidence.main_failure {
        failure.is_of_body = true;
    }
    let verdict = evidence.judge();
    let text = &verdict.reasons[0].text;
    assert!(
        text.starts_with("none of 8 requests got a response that could be used: "),
        "{text}"
    );
}

#[test]
fn websocket_messages_without_any_response_make_the_run_suspect() {
    let sent = Evidence {
        requests: 3,
        responses: 3,
        websocket_handshakes: 3,
        messages_sent: 6,
        started: 3,
        ..Evidence::default()
    };
    let verdict = sent.judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert_eq!(
        verdict.reasons[0].text,
        "no WebSocket message was received after 6 were sent; if the service never responds, this is expected"
    );
    let no_handshake = Evidence {
        responses: 0,
        websocket_handshakes: 0,
        failed: 3,
        ..sent.clone()
    };
    assert_eq!(no_handshake.judge().level, Level::Invalid);
    // A single message, HTTP response, or session without messages counts as a response.
    let others = [
        Evidence {
            messages_received: 1,
            ..sent.clone()
        },
        Evidence {
            requests: 4,
            responses: 4,
            ..sent.clone()
        },
        Evidence {
            messages_sent: 0,
            ..sent
        },
    ];
    for evidence in others {
        assert_eq!(evidence.judge().level, Level::Valid, "{evidence:?}");
    }
}

#[test]
fn a_run_in_which_nothing_ended_is_invalid() {
    let nothing = Evidence {
        is_request_load: true,
        ..Evidence::default()
    };
    let verdict = nothing.judge();
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(verdict.reasons[0].cause, Cause::Server);
    // If the machine ended the run, the server is not the cause.
    let refused = Evidence {
        machine_failure: Some("could not start a thread".to_owned()),
        ..nothing
    };
    let verdict = refused.judge();
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(verdict.reasons[0].cause, Cause::Client);
    let text = "nothing was measured: could not start a thread";
    assert_eq!(verdict.reasons[0].text, text);
    let interrupted = Evidence {
        started: 3,
        interrupted: 3,
        ..Evidence::default()
    };
    let verdict = interrupted.judge();
    assert_eq!(verdict.level, Level::Invalid);
    // A script that only computes does not test a server.
    assert_eq!(verdict.reasons[0].cause, Cause::Client);
    let text = &verdict.reasons[0].text;
    assert!(text.contains("nothing had been sent"), "{text}");
    let waiting = Evidence {
        sent: Bytes(70),
        ..interrupted.clone()
    };
    assert_eq!(waiting.judge().reasons[0].cause, Cause::Server);
    // One iteration kept a connection open for the whole run and received data.
    let session = Evidence {
        received: Bytes(70),
        ..interrupted
    };
    assert_eq!(session.judge().level, Level::Valid);
    assert_eq!(Evidence::default().judge().level, Level::Valid);
    // The setup of a script failed.
    let unstarted = Evidence {
        is_unstarted: true,
        ..Evidence::default()
    };
    let verdict = unstarted.judge();
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(
        verdict.reasons[0].text,
        "nothing was measured: no iteration started"
    );
}

#[test]
fn unreadable_evidence_lowers_the_verdict() {
    let quiet = second(300, 2, Duration::from_micros(60));
    let mut evidence = after(10, &quiet);
    evidence.unreadable = vec!["processor time (/proc/stat)"];
    let verdict = evidence.judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert!(
        verdict.reasons[0].text.contains("/proc/stat"),
        "{verdict:?}"
    );
    let verdict = after(
        10,
        &ThreadReading {
            run_queue_wait: None,
            ..quiet
        },
    )
    .judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert!(verdict.reasons[0].text.contains("schedstat"), "{verdict:?}");
}

#[test]
fn exceptions_of_the_script_are_judged_by_their_share() {
    let threw = |threw| {
        let mut evidence = after(10, &second(300, 2, Duration::from_micros(60)));
        (evidence.started, evidence.interrupted) = (210, 10);
        evidence.threw = threw;
        evidence.judge().level
    };
    assert_eq!(threw(0), Level::Valid);
    assert_eq!(threw(2), Level::Valid);
    assert_eq!(threw(3), Level::Suspect);
    assert_eq!(threw(200), Level::Invalid);
}
