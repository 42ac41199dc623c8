//! `--connections` of `plimsoll http` and `plimsoll grpc`: a number, or how fixed work uses them.

use std::str::FromStr;

/// How the users of fixed work use connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionUse {
    /// One connection for all of them.
    Shared,
    /// One for each user, for all of its calls.
    Kept,
    /// A new one for each call.
    Fresh,
}

impl ConnectionUse {
    /// As flags and labs name it.
    pub fn name(self) -> &'static str {
        match self {
            ConnectionUse::Shared => "shared",
            ConnectionUse::Kept => "kept",
            ConnectionUse::Fresh => "fresh",
        }
    }

    /// As part of a run's title.
    pub fn describe(self, include_connecting: bool) -> String {
        let use_ = match self {
            ConnectionUse::Shared => "one shared connection",
            ConnectionUse::Kept => "a connection each",
            ConnectionUse::Fresh => return "a new connection for each call".to_owned(),
        };
        match include_connecting {
            true => format!("{use_}, opened within the makespan"),
            false => format!("{use_}, opened before the makespan"),
        }
    }
}

/// The flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionsFlag {
    Count(u32),
    Use(ConnectionUse),
}

impl FromStr for ConnectionsFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "shared" => ConnectionsFlag::Use(ConnectionUse::Shared),
            "kept" => ConnectionsFlag::Use(ConnectionUse::Kept),
            "fresh" => ConnectionsFlag::Use(ConnectionUse::Fresh),
            number => ConnectionsFlag::Count(
                number
                    .parse()
                    .map_err(|_| "write a number, shared, kept or fresh".to_owned())?,
            ),
        })
    }
}
