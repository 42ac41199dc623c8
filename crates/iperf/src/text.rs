//! Formats a report as lines of text in iperf3's layout.

use crate::Print;
use crate::amounts::{Format, bytes};
use crate::report::{self, End, Part, Period, Report, Role, Stream, per_second, percent};
use crate::test::{Direction, Protocol, Test};

/// The format of a test's lines.
#[derive(Clone, Debug)]
pub struct Layout {
    role: Role,
    protocol: Protocol,
    direction: Direction,
    parallel: u32,
    /// Whether to show periods.
    periods: bool,
    format: Format,
    title: String,
}

const SEPARATOR: &str = "- - - - - - - - - - - - - - - - - - - - - - - - -\n";
const RULE: &str = "-----------------------------------------------------------\n";

impl Layout {
    pub fn new(role: Role, test: &Test, format: Format, periods: bool) -> Self {
        Layout {
            role,
            protocol: test.protocol,
            direction: test.direction,
            parallel: test.parallel,
            periods,
            format,
            title: test
                .title
                .as_ref()
                .map_or_else(String::new, |title| format!("{title}:  ")),
        }
    }

    fn line(&self, text: &str, print: &mut Print<'_>) {
        print(&format!("{}{text}", self.title));
    }

    /// Prints the first lines of a client.
    pub fn connecting(&self, host: &str, port: u16, print: &mut Print<'_>) {
        self.line(&format!("Connecting to host {host}, port {port}\n"), print);
        if self.direction == Direction::Reverse {
            self.line(
                &format!("Reverse mode, remote host {host} is sending\n"),
                print,
            );
        }
    }

    /// Prints the list of streams and the column headings.
    pub fn streams(&self, streams: &[Stream], print: &mut Print<'_>) {
        for stream in streams {
            let text = format!(
                "[{:3}] local {} port {} connected to {} port {}\n",
                stream.socket,
                stream.local.ip(),
                stream.local.port(),
                stream.remote.ip(),
                stream.remote.port()
            );
            self.line(&text, print);
        }
        let sends = self.sends_only();
        let receives = self.receives_only();
        let columns = match (self.protocol, self.direction) {
            (Protocol::Tcp, Direction::Both) => "         Retr  Cwnd",
            (Protocol::Tcp, _) if sends => "         Retr  Cwnd",
            (Protocol::Udp, Direction::Both) => "         Jitter    Lost/Total Datagrams",
            (Protocol::Udp, _) if receives => "         Jitter    Lost/Total Datagrams",
            (Protocol::Udp, _) => "         Total Datagrams",
            (Protocol::Tcp, _) => "",
        };
        self.head(columns, print);
    }

    fn head(&self, columns: &str, print: &mut Print<'_>) {
        let role = if self.direction == Direction::Both {
            "[Role]"
        } else {
            ""
        };
        let text = format!("[ ID]{role} Interval           Transfer     Bitrate{columns}\n");
        self.line(&text, print);
    }

    fn sends_only(&self) -> bool {
        matches!(
            (self.role, self.direction),
            (Role::Client, Direction::Forward) | (Role::Server, Direction::Reverse)
        )
    }

    fn receives_only(&self) -> bool {
        self.direction != Direction::Both && !self.sends_only()
    }

    /// The label of a stream's direction in a bidirectional test.
    fn mark(&self, sending: bool) -> &'static str {
        match (self.direction, sending, self.role) {
            (Direction::Both, true, Role::Client) => "[TX-C]",
            (Direction::Both, true, Role::Server) => "[TX-S]",
            (Direction::Both, false, Role::Client) => "[RX-C]",
            (Direction::Both, false, Role::Server) => "[RX-S]",
            _ => "",
        }
    }

    /// Prints the lines of a period.
    pub fn period(&self, streams: &[Stream], period: &Period, print: &mut Print<'_>) {
        for (stream, part) in streams.iter().zip(&period.parts) {
            let id = format!("[{:3}]{}", stream.socket, self.mark(stream.sending));
            self.line(&self.part(&id, stream.sending, period, part, true), print);
        }
        if self.parallel < 2 {
            return;
        }
        for sending in [true, false] {
            let sum = sum(streams, period, sending);
            let Some(sum) = sum else { continue };
            let id = format!("[SUM]{}", self.mark(sending));
            self.line(&self.part(&id, sending, period, &sum, false), print);
        }
        self.line(SEPARATOR, print);
    }

    fn part(&self, id: &str, sending: bool, period: &Period, part: &Part, single: bool) -> String {
        let time = period.end.saturating_sub(period.start);
        let omitted = if period.omitted { "(omitted)" } else { "" };
        let start = format!(
            "{id} {:6.2}-{:<6.2} sec  {}  {}/sec",
            period.start.as_secs_f64(),
            period.end.as_secs_f64(),
            bytes(part.bytes),
            self.format.rate(per_second(part.bytes, time))
        );
        let rest = match (self.protocol, sending, part.retransmits) {
            (Protocol::Tcp, true, Some(count)) if single => {
                let window = bytes(part.tcp.map_or(0, |tcp| tcp.congestion_window));
                format!("  {count:3}   {window}       {omitted}")
            }
            (Protocol::Tcp, true, Some(count)) => format!("  {count:3}             {omitted}"),
            (Protocol::Tcp, ..) => format!("                  {omitted}"),
            (Protocol::Udp, true, _) => {
                let gap = if self.direction == Direction::Both {
                    "          "
                } else {
                    ""
                };
                format!(" {gap} {}  {omitted}", part.packets)
            }
            (Protocol::Udp, false, _) => {
                let jitter = part.jitter.as_secs_f64() * 1e3;
                format!(
                    "  {jitter:5.3} ms  {}  {omitted}",
                    losses(part.lost, part.packets)
                )
            }
        };
        format!("{start}{rest}\n")
    }

    /// Prints the final lines: a client shows the counts of both sides, a server only its own.
    pub fn totals(&self, report: &Report, print: &mut Print<'_>) {
        if self.parallel < 2 || !self.periods {
            self.line(SEPARATOR, print);
        }
        let sender_is_here =
            self.direction == Direction::Both || self.sends_only() || self.role == Role::Client;
        self.head(
            match self.protocol {
                Protocol::Tcp if sender_is_here => "         Retr",
                Protocol::Tcp => "",
                Protocol::Udp => "         Jitter    Lost/Total Datagrams",
            },
            print,
        );
        for stream in &report.streams {
            let id = format!("[{:3}]{}", stream.socket, self.mark(stream.sending));
            let ends = report.ends(stream);
            self.ends(&id, stream.sending, ends.sender, ends.receiver, print);
        }
        if self.parallel < 2 {
            return;
        }
        for sending in [true, false] {
            let id = format!("[SUM]{}", self.mark(sending));
            let (sender, receiver) = sums(report, sending);
            if sender.is_some() || receiver.is_some() {
                self.ends(&id, sending, sender, receiver, print);
            }
        }
    }

    fn ends(
        &self,
        id: &str,
        sending: bool,
        sender: Option<End>,
        receiver: Option<End>,
        print: &mut Print<'_>,
    ) {
        let both = self.role == Role::Client;
        if let Some(end) = sender.filter(|_| both || sending) {
            self.line(&self.end(id, &end, "sender"), print);
        }
        if let Some(end) = receiver.filter(|_| both || !sending) {
            self.line(&self.end(id, &end, "receiver"), print);
        }
    }

    fn end(&self, id: &str, end: &End, who: &str) -> String {
        let start = format!(
            "{id} {:6.2}-{:<6.2} sec  {}  {}/sec",
            0.0,
            end.time.as_secs_f64(),
            bytes(end.bytes),
            self.format.rate(end.bytes_per_second())
        );
        let rest = match (self.protocol, end.retransmits) {
            (Protocol::Tcp, Some(count)) if who == "sender" => {
                format!("  {count:3}             {who}")
            }
            (Protocol::Tcp, _) => format!("                  {who}"),
            (Protocol::Udp, _) => {
                let (jitter, lost) = if who == "sender" {
                    (0.0, 0)
                } else {
                    (end.jitter.as_secs_f64() * 1e3, end.lost)
                };
                format!("  {jitter:5.3} ms  {}  {who}", losses(lost, end.packets))
            }
        };
        format!("{start}{rest}\n")
    }

    /// Prints the last line.
    pub fn done(&self, print: &mut Print<'_>) {
        self.line("\n", print);
        self.line("iperf Done.\n", print);
    }

    /// Prints the other side's lines, as that side printed them.
    pub fn server_output(&self, report: &Report, print: &mut Print<'_>) {
        let output = report
            .remote
            .as_ref()
            .and_then(|results| results.output.as_ref())
            // Some servers send it without a request.
            .filter(|_| report.test.server_output);
        match output {
            None => {}
            Some(serde_json::Value::String(text)) => print(&format!("\nServer output:\n{text}\n")),
            Some(other) => print(&format!("\nServer JSON output:\n{other:#}\n")),
        }
    }
}

/// Prints the lines of a server that waits for a client.
pub fn listening(port: u16, number: u64, print: &mut Print<'_>) {
    print(&format!(
        "{RULE}Server listening on {port} (test #{number})\n{RULE}"
    ));
}

/// Formats `3/250 (1.2%)`, with at most two significant digits in the percentage.
fn losses(lost: u64, packets: u64) -> String {
    format!("{lost}/{packets} ({}%)", two_digits(percent(lost, packets)))
}

/// Formats like C's `%.2g`, for 0 to 100.
fn two_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value >= 99.5 {
        // There is no space for a third digit.
        return "1e+02".to_owned();
    }
    let decimals = (1.0 - value.log10().floor()).clamp(0.0, 12.0);
    if value < 0.000_1 {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.*}", decimals as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Sums the streams of one direction.
pub(crate) fn sum(streams: &[Stream], period: &Period, sending: bool) -> Option<Part> {
    let mut parts = streams
        .iter()
        .zip(&period.parts)
        .filter(|(stream, _)| stream.sending == sending)
        .map(|(_, part)| part);
    let first = *parts.next()?;
    let mut count = 1_u32;
    let mut sum = Part { tcp: None, ..first };
    for part in parts {
        count += 1;
        sum.bytes += part.bytes;
        sum.packets = sum.packets.saturating_add(part.packets);
        sum.lost = sum.lost.saturating_add(part.lost);
        sum.jitter += part.jitter;
        sum.retransmits = sum
            .retransmits
            .zip(part.retransmits)
            .map(|(one, other)| one + other);
    }
    sum.jitter /= count;
    Some(sum)
}

/// Sums the two ends of the streams of one direction: senders and receivers.
pub(crate) fn sums(report: &Report, sending: bool) -> (Option<End>, Option<End>) {
    let ends: Vec<report::Ends> = report
        .streams
        .iter()
        .filter(|stream| stream.sending == sending)
        .map(|stream| report.ends(stream))
        .collect();
    let all = |pick: fn(&report::Ends) -> Option<End>| -> Option<End> {
        let known: Vec<End> = ends.iter().filter_map(pick).collect();
        (!known.is_empty()).then(|| End::sum(&known))
    };
    (all(|ends| ends.sender), all(|ends| ends.receiver))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_two_digits_as_in_c() {
        for (value, text) in [
            (0.0, "0"),
            (1.2345, "1.2"),
            (0.4, "0.4"),
            (12.34, "12"),
            (0.0123, "0.012"),
            (2.0, "2"),
            (9.96, "10"),
            (100.0, "1e+02"),
        ] {
            assert_eq!(two_digits(value), text, "{value}");
        }
    }
}
