//! `http.expectedStatuses` and `http.setResponseCallback`.

use std::rc::Rc;

use plimsoll_quickjs::{Call, Class, Context, InImage, Returned, Value};

use crate::http_state::Callback;
use crate::user::user;

/// The result of `http.expectedStatuses`: ranges of statuses, both ends included.
pub struct Expected(pub Rc<[(u16, u16)]>);

impl Class for Expected {
    const IN_IMAGE: InImage<Self> = InImage::Shared;
}

/// `http.expectedStatuses(200, { min: 300, max: 302 }, …)`.
pub fn expected_statuses<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.count() == 0 {
        return Err(context.throw_plain("no arguments"));
    }
    let mut ranges = Vec::new();
    for (place, argument) in call.arguments().enumerate() {
        let range = match status(&argument) {
            Some(status) => Some((status, status)),
            None if argument.is_nullish() => {
                return Err(context.throw_type("Cannot convert undefined or null to object"));
            }
            None if argument.is_object() => {
                status(&argument.get("min")?).zip(status(&argument.get("max")?))
            }
            None => None,
        };
        let (least, most) = range.ok_or_else(|| {
            context.throw_plain(format!(
                "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
                place + 1
            ))
        })?;
        // A range without valid statuses expects nothing.
        let most = most.min(i64::from(u16::MAX));
        if let (Ok(least), Ok(most)) = (u16::try_from(least.max(0)), u16::try_from(most)) {
            ranges.push((least, most));
        }
    }
    context.instance(Expected(ranges.into()))
}

fn status(value: &Value<'_>) -> Option<i64> {
    let number = value.as_number()?;
    (number.fract() == 0.0).then_some(number as i64)
}

/// `http.setResponseCallback(expectedStatuses(…) | null)`.
pub fn set_response_callback<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let argument = call.argument(0);
    let callback = match argument.instance::<Expected>() {
        Some(expected) => Callback::Statuses(Rc::clone(&expected.0)),
        None if argument.is_null() => Callback::Off,
        None => {
            return Err(context.throw_plain("unsupported argument, expected http.expectedStatuses"));
        }
    };
    *user(context).http.callback.borrow_mut() = callback;
    Ok(context.undefined())
}
