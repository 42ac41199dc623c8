//! The coordinator's conclusion after a run: whether the results are complete, and how the agents performed.

use std::time::Duration;

use plimsoll_frames::{Completeness, Grade, Policy, judge};
use plimsoll_run::Conclusion;
use plimsoll_verdict::{Cause, Level, Reason};

use crate::peer::Peer;
use crate::regions::{self, Regions};

/// A window of at least this length is wider than usual.
const WIDE_WINDOW: Duration = Duration::from_millis(1_800);
/// If there are more agents than this, they are not listed one by one.
const MAX_LISTED_AGENTS: usize = 16;

/// Concludes a run of these agents. `ready` is the time until all of them were ready.
pub fn of(
    peers: &[Peer],
    policy: Policy,
    regions: &Regions,
    ready_after: Option<Duration>,
) -> Conclusion {
    let proof = judge(peers.iter().map(|peer| &peer.account), policy);
    let mut conclusion = Conclusion {
        cpu: peers.iter().map(|peer| peer.cpu).sum(),
        ..Conclusion::default()
    };
    let level = match proof.completeness {
        Completeness::Complete => Level::Valid,
        Completeness::Degraded => Level::Suspect,
        Completeness::Invalid => Level::Invalid,
    };
    add(
        &mut conclusion,
        level,
        format!("the fleet's results are {proof}"),
    );
    let completed = peers.iter().map(|peer| peer.account.counts().completed);
    let completed: u64 = completed.sum();
    for peer in peers {
        let Some(end) = peer.account.end() else {
            continue;
        };
        conclusion.marked_failed |= end.marked_failed;
        for (grade, text) in &end.reasons {
            let level = level_of(*grade);
            let own = peer.account.counts().completed as f64;
            let share = own / completed.max(1) as f64 * 100.0;
            let text = format!("{}, {share:.0} % of the iterations: {text}", peer.title());
            add(&mut conclusion, level, text);
        }
    }
    let messages = &mut conclusion.messages;
    messages.push(format!("fleet: {proof}"));
    messages.extend(start(peers, ready_after).map(|text| format!("fleet: {text}")));
    messages.extend(widest(peers).map(|text| format!("fleet: {text}")));
    let elapsed = peers.iter().map(|peer| peer.account.until()).max();
    let elapsed = elapsed.unwrap_or_default();
    messages.extend((regions.lines(elapsed).into_iter()).map(|text| format!("fleet: {text}")));
    let is_listed =
        |peer: &&Peer| peers.len() <= MAX_LISTED_AGENTS || peer.is_lost() || !is_good(peer);
    let listed = peers.iter().filter(is_listed);
    messages.extend(listed.map(|peer| format!("fleet: {}", line(peer))));
    conclusion
}

fn add(conclusion: &mut Conclusion, level: Level, text: String) {
    let cause = Cause::Client;
    conclusion.findings.push((level, Reason { cause, text }));
}

fn level_of(grade: Grade) -> Level {
    match grade {
        Grade::Good => Level::Valid,
        Grade::Suspect => Level::Suspect,
        Grade::Invalid => Level::Invalid,
    }
}

fn is_good(peer: &Peer) -> bool {
    peer.account
        .end()
        .is_some_and(|end| end.grade == Grade::Good)
}

/// The spread of the actual starts, and the error of the comparison of clocks.
fn start(peers: &[Peer], ready_after: Option<Duration>) -> Option<String> {
    let late = peers.iter().filter_map(|peer| peer.state.as_ref()?.late);
    let late: Vec<_> = late.map(Duration::from_nanos).collect();
    let (first, last) = (late.iter().min()?, late.iter().max()?);
    let bound = peers.iter().map(|peer| peer.clocks.bound()).max()?;
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let drift = peers.iter().filter_map(|peer| peer.clocks.drift()).max();
    let drift = drift.filter(|drift| !drift.is_zero());
    let drift = drift.map_or_else(String::new, |drift| {
        format!(" and moved apart by {:.2} ms", millis(drift))
    });
    Some(format!(
        "agents were ready after {:.1} s, started within {:.1} ms of each other, and their clocks were compared to ±{:.2} ms{drift}",
        ready_after?.as_secs_f64(),
        millis(last.saturating_sub(*first)),
        millis(bound)
    ))
}

/// The widest window, if it was wider than usual.
fn widest(peers: &[Peer]) -> Option<String> {
    let widest = peers.iter().map(|peer| peer.account.widest()).max()?;
    (widest >= WIDE_WINDOW).then(|| {
        format!(
            "results of up to {:.0} s were sent together, because an agent or the network was slow",
            widest.as_secs_f64()
        )
    })
}

fn line(peer: &Peer) -> String {
    let counts = peer.account.counts();
    let dropped: u64 = counts.scenarios.iter().map(|one| one.dropped).sum();
    let what = match (&peer.lost, peer.account.end()) {
        (Some(why), _) => format!(
            "lost at {:.0} s ({why})",
            peer.account.until().as_secs_f64()
        ),
        (None, Some(end)) => match end.grade {
            Grade::Good => "a good generator".to_owned(),
            Grade::Suspect => "a suspect generator".to_owned(),
            Grade::Invalid => "a bad generator".to_owned(),
        },
        (None, None) => "without an end".to_owned(),
    };
    let region = peer.found.region.as_deref();
    let region = region.map_or_else(String::new, |name| format!(" in {name}"));
    let figures = regions::figures(peer.account.totals(), peer.account.until());
    format!(
        "{}{region}: part {}, {figures}, {dropped} dropped, {what}",
        peer.title(),
        peer.assignment.segment,
    )
}
