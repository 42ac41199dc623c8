//! The record of a run: `--record`, `--keep` and `--store`.

use plimsoll_results::store_location;
use plimsoll_run::{Place, RecordRequest};
use plimsoll_terminal::messages::say;
use serde_json::Value;

use crate::args::RecordArgs;

/// The record that the flags request, if any; `is_read` if reports need it.
///
/// # Errors
/// When the store cannot be opened.
pub fn record_request(
    args: &RecordArgs,
    title: &str,
    configuration: Value,
    is_read: bool,
) -> Result<Option<RecordRequest>, String> {
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
    let place = match (args.record.clone(), store) {
        (None, None) if is_read => Place::temporary(),
        (None, None) => return Ok(None),
        (Some(path), store) => Place::file(path, store),
        (None, Some(store)) => Place::store(store),
    };
    Ok(Some(RecordRequest {
        place,
        is_read,
        objectives: args.objectives.list.clone(),
        title: title.to_owned(),
        warm_up: args.warm_up.unwrap_or_default(),
        configuration,
        command: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
    }))
}
