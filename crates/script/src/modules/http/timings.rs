use http::{Phases, Timeline};

use crate::quickjs::{Class, Context, Entry, Call, Returned};

/// `response.timings`: where the time went, in milliseconds.
pub(super) struct Timings(pub Option<Timeline>);

static PROTOTYPE: &[Entry] = &[
    Entry::getter(c"duration", duration),
    Entry::getter(c"blocked", blocked),
    Entry::getter(c"looking_up", looking_up),
    Entry::getter(c"connecting", connecting),
    Entry::getter(c"tls_handshaking", tls_handshaking),
    Entry::getter(c"sending", sending),
    Entry::getter(c"waiting", waiting),
    Entry::getter(c"receiving", receiving),
    Entry::function(c"toJSON", 0, to_json),
];

impl Class for Timings {
    fn prototype() -> &'static [Entry] {
        PROTOTYPE
    }
}

fn part<'c>(
    context: &'c Context,
    call: &Call<'c>,
    of: impl FnOnce(&Phases) -> std::time::Duration,
) -> Returned<'c> {
    match call.this().instance::<Timings>() {
        Some(timings) => {
            let phases = timings.0.map(|timeline| timeline.phases()).unwrap_or_default();
            Ok(context.number(of(&phases).as_nanos() as f64 / 1e6))
        },
        None => Ok(context.undefined()),
    }
}

fn duration<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.sending + p.waiting + p.receiving)
}

fn blocked<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.queued + p.looking_up + p.connecting + p.securing)
}

fn looking_up<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.looking_up)
}

fn connecting<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.connecting)
}

fn tls_handshaking<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.securing)
}

fn sending<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.sending)
}

fn waiting<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.waiting)
}

fn receiving<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    part(context, call, |p| p.receiving)
}

/// Getters of a prototype are not listed; this lists them.
fn to_json<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    super::response::list_getters::<Timings>(context, &call.this())
}
