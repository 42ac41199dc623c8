//! Names of statuses in reports: numbers for HTTP, names for gRPC.

use plimsoll_samples::GRPC_STATUS;
use plimsoll_units::GRPC_CODES;

pub fn name(status: u16) -> String {
    let Some(code) = status.checked_sub(GRPC_STATUS) else {
        return status.to_string();
    };
    match GRPC_CODES.get(usize::from(code)) {
        Some(name) => (*name).to_owned(),
        None => format!("Code({code})"),
    }
}

/// Whether the status with this name means success.
pub fn is_good(name: &str) -> bool {
    match name.parse::<u16>() {
        Ok(status) => status < 400,
        Err(_) => name == "OK",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_both_kinds_have_their_names() {
        let names = [200, 404, 1000, 1014, 1042].map(name);
        assert_eq!(names, ["200", "404", "OK", "Unavailable", "Code(42)"]);
        assert_eq!(
            names.map(|name| is_good(&name)),
            [true, false, true, false, false]
        );
    }
}
