//! What the flags of `--record`, `--keep` and `--store` ask for.

use plimsoll_results::store_location;
use plimsoll_run::{Place, RecordRequest};
use serde_json::Value;

use crate::args::RecordArgs;
use crate::talk::say;

/// Where the record goes; none if none is asked for.
///
/// # Errors
/// When the store cannot be opened.
pub fn place(args: &RecordArgs) -> Result<Option<Place>, String> {
    let store = if args.is_kept() {
        let store = store_location::place(args.store.as_deref())?;
        // Better before the run than after it.
        for sentence in store_location::recover(&store, &mut store_location::open(&store)?) {
            say(&sentence);
        }
        Some(store)
    } else {
        None
    };
    Ok(match (args.record.clone(), store) {
        (None, None) => None,
        (Some(path), store) => Some(Place::file(path, store)),
        (None, Some(store)) => Some(Place::store(store)),
    })
}

/// The record of a run that was asked for by this command line.
pub fn record_request(args: &RecordArgs, place: Place, configuration: Value) -> RecordRequest {
    RecordRequest {
        place,
        warm_up: args.warm_up.unwrap_or_default(),
        configuration,
        command: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
    }
}
