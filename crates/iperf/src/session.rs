//! A running test. Both roles use this code.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_units::Moment;
use socket2::SockRef;

use crate::Print;
use crate::error::Error;
use crate::flow::{Budget, Flow, Snapshot};
use crate::kernel;
use crate::meter::Meter;
use crate::report::{Report, Role, Stream};
use crate::results::{Cpu, Results, StreamResult};
use crate::sockets;
use crate::test::{Direction, End, Protocol, Test};
use crate::text::Layout;

/// How a side reports its measurements.
#[derive(Clone, Copy)]
pub struct ReportSettings {
    /// Time between two reports; `None` for no reports.
    pub interval: Option<Duration>,
    /// Store periods instead of printing them.
    pub json: bool,
}

/// The message that the control connection received during the test.
pub enum ControlEvent {
    Nothing,
    /// The client has ended the test.
    TestEnd,
}

/// Streams that are open but not started.
pub struct Session<'a> {
    pub reporting: ReportSettings,
    pub layout: Layout,
    pub flows: Vec<Flow>,
    /// Set when the user of this side wants to stop.
    pub stop: &'a AtomicBool,
    /// The amount that this side's streams may still send.
    /// What each stream may still send.
    budgets: Vec<Arc<Budget>>,
}

/// A TCP stream that receives nothing for this long is considered dead.
const SILENCE: Duration = Duration::from_secs(120);
/// How long to wait for the last datagrams of a fixed number. Later datagrams count as lost.
const LAST_DATAGRAM: Duration = Duration::from_secs(2);
/// How long a server waits after a test's duration for the client to end the test.
const GRACE: Duration = Duration::from_secs(30);
/// How long a server waits for the last bytes of a fixed number: in total, and for each of them.
const LAST_BYTES: Duration = Duration::from_secs(1);
const LAST_BYTE: Duration = Duration::from_millis(100);
const SLICE: Duration = Duration::from_millis(100);
const SHORT_SLICE: Duration = Duration::from_millis(2);

impl<'a> Session<'a> {
    pub fn new(
        test: &Test,
        role: Role,
        flows: Vec<Flow>,
        reporting: ReportSettings,
        layout: Layout,
        stop: &'a AtomicBool,
    ) -> Self {
        let streams = flows.iter().filter(|flow| flow.sending).count() as u64;
        let mut sending = 0..;
        let budgets = flows.iter().map(|flow| {
            let stream = if flow.sending { sending.next() } else { None };
            Arc::new(Budget::share(test, role, stream.unwrap_or(0), streams))
        });
        let budgets = budgets.collect();
        Session {
            reporting,
            layout,
            flows,
            stop,
            budgets,
        }
    }

    /// Adds the streams to the report.
    pub fn list(&self, report: &mut Report) {
        report.streams = self
            .flows
            .iter()
            .map(|flow| Stream {
                id: flow.id,
                socket: flow.number(),
                local: flow.local,
                remote: flow.remote,
                sending: flow.sending,
                send_buffer: flow.socket().send_buffer_size().unwrap_or(0),
                receive_buffer: flow.socket().recv_buffer_size().unwrap_or(0),
                total: crate::report::Total::default(),
            })
            .collect();
        if report.test.protocol == Protocol::Tcp {
            report.congestion = self.flows.first().and_then(|flow| {
                let socket: SockRef<'_> = flow.socket();
                sockets::congestion(&socket)
            });
        }
    }

    /// Runs the test until this side, the other side or the user ends it. The report contains
    /// everything measured, even after an error. `watch` waits until a deadline for messages from the
    /// other side.
    ///
    /// # Errors
    /// The reason why the test did not end properly.
    pub fn run(
        &mut self,
        report: &mut Report,
        watch: &mut dyn FnMut(Moment) -> Result<ControlEvent, Error>,
        print: &mut Print<'_>,
    ) -> Result<(), Error> {
        let test = report.test.clone();
        let role = report.role;
        let (user, system) = kernel::processor_time();
        let started = plimsoll_clock::now();
        let mut meter = Meter::new(started, !test.omit.is_zero(), &self.snapshots());
        let mut outcome = Ok(());
        for (flow, budget) in self.flows.iter_mut().zip(&self.budgets) {
            outcome = outcome.and_then(|()| flow.start(&test, budget));
        }
        if outcome.is_ok() {
            outcome = self.watch_over(&test, role, &mut meter, report, watch, print);
        }
        let ended = if outcome.is_ok() && role == Role::Server {
            self.await_last_bytes(&test)
        } else {
            plimsoll_clock::now()
        };
        let mut last = self.snapshots();
        // Data that the other side sent after the end may still arrive, but no longer counts.
        for flow in &self.flows {
            flow.stop();
        }
        if !matches!(test.end, End::Time(_)) {
            // Data that the kernel has accepted but the stream has not counted yet is part of a fixed amount.
            for flow in &mut self.flows {
                flow.join();
            }
            last = self.snapshots();
        }
        let interval = self.reporting.interval.unwrap_or(Duration::MAX);
        if self.reporting.interval.is_some() {
            let enough = meter.running(ended) >= interval / 10;
            let period = meter.period(ended, &last);
            if enough || period.parts.iter().any(|part| part.bytes > 0) {
                self.show(report, period, print);
            }
        } else {
            // Record the final windows and round trips.
            meter.period(ended, &last);
        }
        for (stream, total) in report.streams.iter_mut().zip(meter.totals(ended, &last)) {
            stream.total = total;
        }
        let (user_now, system_now) = kernel::processor_time();
        report.cpu = cpu(
            user_now.saturating_sub(user),
            system_now.saturating_sub(system),
            ended.since(started),
        );
        outcome
    }

    fn watch_over(
        &self,
        test: &Test,
        role: Role,
        meter: &mut Meter,
        report: &mut Report,
        watch: &mut dyn FnMut(Moment) -> Result<ControlEvent, Error>,
        print: &mut Print<'_>,
    ) -> Result<(), Error> {
        let mut counting_from = plimsoll_clock::now() + test.omit;
        let mut tick = self
            .reporting
            .interval
            .map(|interval| plimsoll_clock::now() + interval);
        let mut progress = Progress::new(self);
        let slice = match test.end {
            End::Time(_) => SLICE,
            End::Bytes(_) | End::Blocks(_) => SHORT_SLICE,
        };
        loop {
            let now = plimsoll_clock::now();
            let omitted = meter.is_omitting() && now >= counting_from;
            let deadline = match test.end {
                End::Time(time) => Some(counting_from + time),
                _ => None,
            };
            if let (Some(at), Some(interval)) = (tick, self.reporting.interval)
                && (now >= at || omitted)
            {
                // The last period includes the short remainder after it.
                let at_the_end = role == Role::Client
                    && deadline.is_some_and(|deadline| deadline.since(now) < interval / 20);
                if !at_the_end && meter.running(now) >= interval / 10 {
                    let period = meter.period(now, &self.snapshots());
                    self.show(report, period, print);
                }
                tick = Some(if at + interval > now {
                    at + interval
                } else {
                    now + interval
                });
            }
            if omitted {
                let now = plimsoll_clock::now();
                meter.count_from(now, &self.snapshots());
                counting_from = now;
                tick = self.reporting.interval.map(|interval| now + interval);
                continue;
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted(if role == Role::Client {
                    "client"
                } else {
                    "server"
                }));
            }
            if let Some(failure) = self.flows.iter().find_map(Flow::failure) {
                return Err(failure);
            }
            let quiet = progress.idle_time(self, now);
            match role {
                Role::Client if deadline.is_some_and(|deadline| now >= deadline) => return Ok(()),
                Role::Client if deadline.is_none() && self.is_all_done(test, quiet) => {
                    return Ok(());
                }
                Role::Server if deadline.is_some_and(|deadline| now >= deadline + GRACE) => {
                    return Err(Error::new("the client did not end the test in time"));
                }
                _ if quiet > SILENCE => {
                    return Err(Error::new(format!(
                        "no stream has transferred a byte for {}",
                        plimsoll_units::duration::format(SILENCE)
                    )));
                }
                _ => {}
            }
            let mut until = now + slice;
            for moment in [tick, deadline.filter(|_| role == Role::Client)]
                .into_iter()
                .flatten()
            {
                until = until.min(moment);
            }
            if meter.is_omitting() {
                until = until.min(counting_from);
            }
            match watch(until.max(now))? {
                ControlEvent::Nothing => {}
                ControlEvent::TestEnd => return Ok(()),
            }
        }
    }

    /// Whether a test of a fixed amount has transferred that amount, in both directions if it has two.
    /// Data that the kernel has accepted but not delivered does not count.
    fn is_all_done(&self, test: &Test, quiet: Duration) -> bool {
        let is_sent = |flow: &Flow| {
            flow.is_done()
                && !flow
                    .snapshot()
                    .tcp
                    .is_some_and(|tcp| tcp.has_data_in_flight)
        };
        let sent = test.direction == Direction::Reverse
            || self
                .flows
                .iter()
                .zip(&self.budgets)
                .all(|(flow, budget)| !flow.sending || budget.is_spent() && is_sent(flow));
        let received = test.direction == Direction::Forward
            || self.received() >= bytes_to_transfer(test)
            || test.protocol == Protocol::Udp && quiet > LAST_DATAGRAM;
        sent && received
    }

    fn received(&self) -> u64 {
        self.flows
            .iter()
            .filter(|flow| !flow.sending)
            .map(Flow::bytes)
            .sum()
    }

    /// The end of a test can overtake its last bytes, because they use other connections. Waits while
    /// bytes arrive, and returns when the last ones arrived.
    fn await_last_bytes(&self, test: &Test) -> Moment {
        let mut last = plimsoll_clock::now();
        let waits =
            self.flows.iter().any(|flow| !flow.sending) && !matches!(test.end, End::Time(_));
        let until = last + LAST_BYTES;
        let mut received = self.received();
        while waits
            && received < bytes_to_transfer(test)
            && plimsoll_clock::now() < (last + LAST_BYTE).min(until)
        {
            std::thread::sleep(SHORT_SLICE);
            let now = self.received();
            if now > received {
                received = now;
                last = plimsoll_clock::now();
            }
        }
        last
    }

    fn snapshots(&self) -> Vec<Snapshot> {
        self.flows.iter().map(Flow::snapshot).collect()
    }

    fn show(&self, report: &mut Report, period: crate::report::Period, print: &mut Print<'_>) {
        if self.reporting.json {
            report.periods.push(period);
        } else {
            self.layout.period(&report.streams, &period, print);
        }
    }
}

/// Bytes to transfer in each direction.
fn bytes_to_transfer(test: &Test) -> u64 {
    match test.end {
        End::Time(_) => u64::MAX,
        End::Bytes(bytes) => bytes,
        End::Blocks(blocks) => blocks.saturating_mul(test.length as u64),
    }
}

/// When bytes were last transferred.
struct Progress {
    bytes: u64,
    at: Moment,
}

impl Progress {
    fn new(session: &Session<'_>) -> Self {
        Progress {
            bytes: session.flows.iter().map(Flow::bytes).sum(),
            at: plimsoll_clock::now(),
        }
    }

    fn idle_time(&mut self, session: &Session<'_>, now: Moment) -> Duration {
        let bytes = session.flows.iter().map(Flow::bytes).sum();
        if bytes != self.bytes {
            self.bytes = bytes;
            self.at = now;
        }
        now.since(self.at)
    }
}

fn cpu(user: Duration, system: Duration, wall: Duration) -> Cpu {
    let percent = |time: Duration| {
        if wall.is_zero() {
            0.0
        } else {
            100.0 * time.as_secs_f64() / wall.as_secs_f64()
        }
    };
    Cpu {
        total: percent(user + system),
        user: percent(user),
        system: percent(system),
    }
}

/// This side's results, to send to the other side.
pub fn results(report: &Report, output: Option<serde_json::Value>) -> Results {
    let sends = report.streams.iter().any(|stream| stream.sending);
    let knows = report
        .streams
        .iter()
        .any(|stream| stream.total.retransmits.is_some());
    Results {
        cpu: report.cpu,
        has_retransmits: sends.then_some(knows),
        congestion: report.congestion.clone(),
        streams: report
            .streams
            .iter()
            .map(|stream| StreamResult {
                id: stream.id,
                bytes: stream.total.bytes,
                retransmits: stream.total.retransmits,
                jitter: stream.total.jitter,
                lost: stream.total.lost + stream.total.omitted.lost,
                packets: stream.total.packets + stream.total.omitted.packets,
                omitted: Some(stream.total.omitted),
                time: stream.total.time,
            })
            .collect(),
        output,
    }
}
