//! Frames of a fleet's agents, and the samples in them. A frame that was read must be written as the same
//! bytes, and its samples can be added up.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_frames::{Account, Content, Frame, Planned, Policy, judge, seal};
use plimsoll_samples::{Registry, Totals, Watch, WatchSettings, WindowDecoder, encode_records};
use plimsoll_units::Moment;

use super::Target;

pub const TARGET: Target = Target {
    name: "fleet_frame",
    run,
    // Without the checksum, because almost no mutated input would have a valid one.
    seeds: &[
        include_bytes!("../../seeds/fleet_frame_window.bin"),
        include_bytes!("../../seeds/fleet_frame_end.bin"),
        include_bytes!("../../seeds/fleet_frame_samples.bin"),
    ],
    words: &["PF\u{2}", "iterations", "http_req_duration", "::group"],
};

fn run(data: &[u8]) {
    let registry = Arc::new(Registry::new());
    let Ok(watch) = Watch::new(&registry, WatchSettings::default()) else {
        return;
    };
    let watch = Arc::new(watch);
    let decoder = WindowDecoder::new(Arc::clone(&registry), Arc::clone(&watch));
    let totals = || Totals::new(Arc::clone(&registry), Arc::clone(&watch));
    if let Ok(window) = decoder.decode(data, Moment::ZERO) {
        let mut sum = totals();
        sum.merge(window);
        sum.summary(Duration::from_secs(1));
        sum.cumulative();
    }
    if let Ok(records) = decoder.decode_records(data, Moment::ZERO) {
        let pieces = encode_records(&records, &registry, Moment::ZERO);
        let again = pieces
            .iter()
            .map(|piece| decoder.decode_records(piece, Moment::ZERO));
        let again: Result<Vec<_>, _> = again.collect();
        assert_eq!(again.map(|all| all.concat().len()), Ok(records.len()));
    }
    let bytes = seal(data.to_vec());
    let Ok(frame) = Frame::decode(&bytes) else {
        return;
    };
    assert_eq!(frame.encode(), bytes);
    let planned = Planned {
        share: 1.0,
        iterations: vec![Some(1)],
        scheduled_by: None,
    };
    let decoder = decoder.clone();
    let mut account = Account::new(
        frame.run,
        frame.agent,
        frame.epoch,
        planned,
        decoder,
        totals(),
    );
    account.receive(&bytes, Moment::ZERO);
    let is_end = matches!(frame.content, Content::End(_));
    assert_eq!(
        account.end().is_some(),
        is_end && account.ledger().next() == 1
    );
    let _ = judge(&[account], Policy::Degrade).to_string();
}
