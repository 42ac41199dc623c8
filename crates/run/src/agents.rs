//! The agents of a run whose load other processes generate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_results::record::Mark;
use plimsoll_results::secrets;

/// An agent, as views of a run show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentReading {
    pub name: String,
    pub region: Option<String>,
    /// The indices of its workers in the whole run.
    pub workers: Vec<usize>,
    /// Users that run iterations.
    pub users: u32,
    /// Why and when it was lost, if it was.
    pub lost: Option<AgentLoss>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLoss {
    pub why: String,
    /// The end of its latest results, since the start of the run. `None` if it was lost before the start.
    pub at: Option<Duration>,
    /// When other agents take over its load. `None` if none does.
    pub moved_at: Option<Duration>,
}

/// The moments at which the load changed because these agents were lost, in order of time.
pub fn agent_marks(agents: &[AgentReading]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (number, agent) in agents.iter().enumerate() {
        let Some(loss) = &agent.lost else { continue };
        let title = format!("agent {number} ({})", agent.name);
        let mark = |at: Duration, text: &str| Mark {
            at_seconds: at.as_secs_f64(),
            text: secrets::in_text(text),
        };
        marks.extend(
            loss.at
                .map(|at| mark(at, &format!("{title} was lost: {}", loss.why))),
        );
        let moved = loss.moved_at;
        marks.extend(
            moved.map(|at| mark(at, &format!("other agents took over the load of {title}"))),
        );
    }
    marks.sort_by(|one, other| one.at_seconds.total_cmp(&other.at_seconds));
    marks
}

/// The latest reading of each agent. The thread that coordinates the agents sets it, and views read it.
#[derive(Clone, Debug, Default)]
pub struct Agents(Arc<Mutex<Vec<AgentReading>>>);

impl Agents {
    /// Stores the reading of the agent with this number.
    pub fn set(&self, number: usize, reading: AgentReading) {
        // A reading is replaced as a whole, so a panic leaves nothing half changed.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() <= number {
            all.resize_with(number + 1, AgentReading::default);
        }
        all[number] = reading;
    }

    /// All readings, by the agents' numbers.
    pub fn read(&self) -> Vec<AgentReading> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_moved_loads_are_marked_in_order() {
        let seconds = Duration::from_secs;
        let lost = |at, moved_at| AgentReading {
            name: "one".to_owned(),
            lost: Some(AgentLoss {
                why: "no message for 10 s".to_owned(),
                at,
                moved_at,
            }),
            ..AgentReading::default()
        };
        let agents = [
            lost(Some(seconds(7)), Some(seconds(9))),
            AgentReading::default(),
            lost(Some(seconds(8)), None),
            // Before the start, there is no load to change.
            lost(None, None),
        ];
        let marks = agent_marks(&agents);
        let at: Vec<f64> = marks.iter().map(|mark| mark.at_seconds).collect();
        assert_eq!(at, [7.0, 8.0, 9.0]);
        assert_eq!(marks[0].text, "agent 0 (one) was lost: no message for 10 s");
        assert_eq!(
            marks[2].text,
            "other agents took over the load of agent 0 (one)"
        );
    }
}
