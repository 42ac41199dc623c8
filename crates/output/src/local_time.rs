//! The offset of local time from UTC, which only the C library knows.
#![allow(unsafe_code)] // The standard library has no access to time zones.

/// Seconds east of UTC in the local time zone, at `seconds` since 1970; zero if the C library does
/// not know.
pub(crate) fn offset(seconds: u64) -> i32 {
    let Ok(time) = libc::time_t::try_from(seconds) else {
        return 0;
    };
    // SAFETY: `tm` is a plain C struct of integers and a pointer, for which all
    // zeroes are valid.
    let mut broken_down: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live values of the right types, and POSIX requires localtime_r,
    // unlike localtime, to be thread-safe.
    let filled = unsafe { libc::localtime_r(&raw const time, &raw mut broken_down) };
    if filled.is_null() {
        return 0;
    }
    // tm_gmtoff is a C long; no zone is further off than a day.
    broken_down.tm_gmtoff as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lie_within_a_day() {
        for year in 0..80 {
            assert!(offset(year * 31_557_600).abs() < 86_400);
        }
    }
}
