//! `k6/timers`. Its functions are the global timers.

use std::time::Duration;

use plimsoll_quickjs::{Call, Context, Persistent, Returned};

use super::{BuiltIn, Shape};
use crate::metric_context;
use crate::user::user;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/timers",
    shape: Shape::Names,
    entries: &[],
    made: NAMES,
    make: Some(|context, exports| {
        let global = context.global();
        NAMES
            .iter()
            .try_for_each(|name| exports.define(*name, global.get(*name)?))
    }),
};

const NAMES: &[&str] = &["setTimeout", "clearTimeout", "setInterval", "clearInterval"];

pub fn set_timeout<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    add(context, call, "setTimeout", false)
}

pub fn set_interval<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    add(context, call, "setInterval", true)
}

/// `setTimeout(callback, delay, ...arguments)`, or `setInterval` if `repeat` is set.
fn add<'c>(context: &'c Context, call: &Call<'c>, name: &str, repeat: bool) -> Returned<'c> {
    let callback = call.argument(0);
    if !callback.is_function() {
        let text = format!("{name}'s callback isn't a callable function");
        return Err(match callback.is_nullish() {
            true => context.throw_plain(text),
            false => context.throw_type(text),
        });
    }
    // The HTML standard, timer initialization steps: an invalid delay is 0.
    let delay = call.argument(1).to_number()?;
    let delay = if delay.is_finite() && delay > 0.0 {
        delay.min(MAX_DELAY)
    } else {
        0.0
    };
    let delay = Duration::from_secs_f64(delay / 1000.0);
    // A repeating timer without a delay would starve everything else.
    let every = repeat.then(|| delay.max(Duration::from_millis(1)));
    let arguments = call
        .arguments()
        .skip(2)
        .map(|argument| Persistent::new(&argument))
        .collect();
    let callback = metric_context::bind(context, &callback)?;
    let id = user(context)
        .event_loop
        .add_timer(&callback, arguments, delay, every);
    Ok(context.number(id))
}

/// A century in milliseconds. Longer delays have the same effect, but would overflow.
const MAX_DELAY: f64 = 3.2e12;

/// `clearTimeout(id)` and `clearInterval(id)`.
pub fn clear<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let id = call.argument(0).to_number()?;
    if id >= 1.0 && id <= f64::from(u32::MAX) {
        user(context).event_loop.remove_timer(id as u32);
    }
    Ok(context.undefined())
}
