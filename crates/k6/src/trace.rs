//! The trace context of a request (W3C Trace Context). It links the server's work for the request with the request.

use plimsoll_grpc::Metadata;
use plimsoll_http::Fields;
use plimsoll_samples::BaseTags;

/// The header field that transmits a trace context.
const TRACEPARENT: &str = "traceparent";

/// A request that is a span of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace: u128,
    span: u64,
}

impl TraceContext {
    /// Adds a trace context to a request, and returns the context if the request is in the `share` that is recorded. A
    /// context that the script has set is kept.
    pub fn of_request(headers: &mut Fields, share: f64) -> Option<TraceContext> {
        if let Some(own) = headers.get(TRACEPARENT) {
            return TraceContext::parse(own);
        }
        let (context, is_recorded) = TraceContext::random(share)?;
        headers
            .set(TRACEPARENT, &context.header(is_recorded))
            .ok()?;
        is_recorded.then_some(context)
    }

    /// The same for a gRPC call, unless `share` is `None`, which means that nothing is traced.
    pub fn of_call(metadata: &mut Metadata, share: Option<f64>) -> Option<TraceContext> {
        let share = share?;
        if let Some((_, own)) = metadata.iter().find(|(name, _)| *name == TRACEPARENT) {
            return TraceContext::parse(std::str::from_utf8(own).ok()?);
        }
        let (context, is_recorded) = TraceContext::random(share)?;
        metadata
            .append(TRACEPARENT, context.header(is_recorded).as_bytes())
            .ok()?;
        is_recorded.then_some(context)
    }

    /// The context of a new trace, and whether it is recorded.
    fn random(share: f64) -> Option<(TraceContext, bool)> {
        let mut bytes = [0; 24];
        // Without random numbers, the request is sent without a trace context.
        getrandom::fill(&mut bytes).ok()?;
        let (trace, span) = bytes.split_at(16);
        let context = TraceContext {
            trace: u128::from_be_bytes(trace.try_into().ok()?),
            span: u64::from_be_bytes(span.try_into().ok()?),
        };
        // Its last 56 bits are random in every trace (W3C Trace Context, level 2), so other programs can decide in the
        // same way.
        let position = (context.trace & ((1 << 56) - 1)) as f64 / (1_u64 << 56) as f64;
        // An id of zeros is invalid.
        (context.trace != 0 && context.span != 0).then_some((context, position < share))
    }

    /// Parses `00-TRACE-SPAN-01`. `None` if it is malformed or not recorded.
    fn parse(text: &str) -> Option<TraceContext> {
        let mut parts = text.split('-');
        let mut number = |digits: usize| {
            let part = parts.next()?;
            let is_hex = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex
                .then(|| u128::from_str_radix(part, 16).ok())
                .flatten()
        };
        number(2).filter(|version| *version != 0xff)?;
        let trace = number(32).filter(|trace| *trace != 0)?;
        let span = u64::try_from(number(16)?).ok().filter(|span| *span != 0)?;
        let is_recorded = number(2)? & 1 == 1;
        is_recorded.then_some(TraceContext { trace, span })
    }

    fn header(self, is_recorded: bool) -> String {
        let flags = u8::from(is_recorded);
        format!("00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }

    /// The tags of a call that may be traced.
    pub fn add_to(trace: Option<TraceContext>, base: BaseTags) -> BaseTags {
        match trace {
            Some(trace) => base.with_more_metadata(trace.metadata(1)),
            None => base,
        }
    }

    /// The span of an exchange, for its samples. Exchanges after the first one, which redirects and logins cause,
    /// are children of the request's span.
    pub fn metadata(self, trip: u32) -> Vec<(&'static str, String)> {
        let child = self.span.wrapping_add(u64::from(trip.saturating_sub(1)));
        let mut all = vec![
            ("trace_id", format!("{:032x}", self.trace)),
            ("span_id", format!("{:016x}", child.max(1))),
        ];
        if trip > 1 {
            all.push(("parent_span_id", format!("{:016x}", self.span)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_gets_its_own_trace() {
        let (mut first, mut second) = (Fields::new(), Fields::new());
        let context = TraceContext::of_request(&mut first, 1.0).expect("recorded");
        let other = TraceContext::of_request(&mut second, 1.0).expect("recorded");
        assert_ne!(context.trace, other.trace);
        let header = first.get(TRACEPARENT).expect("a header");
        assert_eq!(header.len(), 55);
        assert_eq!(TraceContext::parse(header), Some(context));
        let redirected = context.metadata(2);
        assert_eq!(redirected[0], context.metadata(1)[0]);
        assert_ne!(redirected[1], context.metadata(1)[1]);
        assert_eq!(redirected[2].1, context.metadata(1)[1].1);
    }

    #[test]
    fn the_configured_share_of_requests_is_recorded() {
        let is_recorded = |share| {
            let mut headers = Fields::new();
            let context = TraceContext::of_request(&mut headers, share);
            let header = headers.get(TRACEPARENT).expect("a header");
            assert_eq!(header.ends_with("-01"), context.is_some());
            context.is_some()
        };
        assert_eq!((0..200).filter(|_| is_recorded(0.0)).count(), 0);
        let half = (0..2000).filter(|_| is_recorded(0.5)).count();
        // Seven standard deviations.
        assert!((843..=1157).contains(&half), "{half}");
    }

    #[test]
    fn a_context_set_by_the_script_is_kept() {
        let of = |text: &str| {
            let mut headers = Fields::new();
            headers.set(TRACEPARENT, text).expect("a value");
            let context = TraceContext::of_request(&mut headers, 1.0);
            assert_eq!(headers.get(TRACEPARENT), Some(text));
            context
        };
        let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = of(valid).expect("recorded");
        assert_eq!(context.header(true), valid);
        for other in [
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "nothing",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
