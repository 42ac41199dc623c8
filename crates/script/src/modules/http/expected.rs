use std::rc::Rc;

use crate::quickjs::{Call, Class, Context, Returned};
use crate::user::user;

/// Which statuses are the expected ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Nobody is to judge.
    Unjudged,
    /// Statuses within any of these, both ends included.
    Within(Vec<(u16, u16)>),
}

impl Default for Expected {
    fn default() -> Self {
        Expected::Within(vec![(200, 399)])
    }
}

impl Expected {
    /// Whether `status` is expected; none if that is not to be judged. A
    /// request without an answer has status 0, and is never expected.
    pub fn judge(&self, status: u16) -> Option<bool> {
        match self {
            Expected::Unjudged => None,
            Expected::Within(ranges) => {
                Some(ranges.iter().any(|(low, high)| (*low..=*high).contains(&status)))
            }
        }
    }
}

/// What `expectedStatuses()` gives: only good for passing on.
pub(super) struct Callback(pub Rc<Expected>);

impl Class for Callback {}

pub(super) fn expected_statuses<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.count() == 0 {
        return Err(context.throw_plain("no arguments"));
    }
    let wrong = |index: usize| {
        context.throw_plain(format!(
            "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
            index + 1
        ))
    };
    let mut ranges = Vec::with_capacity(call.count());
    for (index, argument) in call.arguments().enumerate() {
        let whole = |number: Option<f64>| {
            number.filter(|n| n.fract() == 0.0 && (0.0..=65535.0).contains(n)).map(|n| n as u16)
        };
        if argument.is_number() {
            let status = whole(argument.as_number()).ok_or_else(|| wrong(index))?;
            ranges.push((status, status));
        } else if argument.is_object() {
            let low = whole(argument.get("min")?.as_number()).ok_or_else(|| wrong(index))?;
            let high = whole(argument.get("max")?.as_number()).ok_or_else(|| wrong(index))?;
            ranges.push((low, high));
        } else {
            return Err(wrong(index));
        }
    }
    context.instance(Callback(Rc::new(Expected::Within(ranges))))
}

pub(super) fn set_response_callback<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let expected = read(context, &call.argument(0), "setResponseCallback")?;
    *user(context).http.expected.borrow_mut() = expected;
    Ok(context.undefined())
}

/// Reads what was passed as a response callback.
pub(super) fn read<'c>(
    context: &'c Context,
    value: &crate::quickjs::Value<'c>,
    place: &str,
) -> Result<Rc<Expected>, crate::quickjs::Thrown> {
    if value.is_null() {
        return Ok(Rc::new(Expected::Unjudged));
    }
    match value.instance::<Callback>() {
        Some(callback) => Ok(Rc::clone(&callback.0)),
        None => Err(context.throw_plain(format!(
            "{place}: unsupported response callback; use http.expectedStatuses(...) or null"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successes_and_redirects_are_expected_by_default() {
        let expected = Expected::default();
        assert_eq!(expected.judge(200), Some(true));
        assert_eq!(expected.judge(399), Some(true));
        assert_eq!(expected.judge(400), Some(false));
        assert_eq!(expected.judge(0), Some(false));
        assert_eq!(Expected::Unjudged.judge(500), None);
    }
}
