//! Parses the number and places of the agents of a run: `20`, `eu=10,us=10` or `local:4`.

use std::str::FromStr;

/// The agents of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentCount {
    /// This many processes on this machine.
    Local(u32),
    /// Agents that are connected to the NATS server, in groups.
    Groups(Vec<Group>),
}

/// A number of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The region that they must belong to. `None` for any region.
    pub region: Option<String>,
    pub agents: u32,
}

impl AgentCount {
    /// The total number of agents.
    pub fn total(&self) -> u32 {
        match self {
            AgentCount::Local(agents) => *agents,
            AgentCount::Groups(groups) => groups
                .iter()
                .fold(0, |sum, group| sum.saturating_add(group.agents)),
        }
    }
}

impl FromStr for AgentCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.parse() {
            Ok(0) | Err(_) => Err(format!(
                "\"{text}\" is not a number of agents: write 20, eu=10,us=10 or local:4"
            )),
            Ok(number) => Ok(number),
        };
        if let Some(agents) = text.strip_prefix("local:") {
            return number(agents).map(AgentCount::Local);
        }
        if !text.contains('=') {
            let agents = number(text)?;
            let region = None;
            return Ok(AgentCount::Groups(vec![Group { region, agents }]));
        }
        let mut groups: Vec<Group> = Vec::new();
        for part in text.split(',') {
            let (region, agents) = part
                .split_once('=')
                .filter(|(region, _)| !region.is_empty())
                .ok_or_else(|| format!("\"{part}\" is not REGION=NUMBER, such as eu=10"))?;
            let region = Some(region.to_owned());
            if groups.iter().any(|group| group.region == region) {
                return Err(format!("a region occurs twice in \"{text}\""));
            }
            let agents = number(agents)?;
            groups.push(Group { region, agents });
        }
        Ok(AgentCount::Groups(groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_regions_and_local_agents_are_read() {
        let group = |region: Option<&str>, agents| Group {
            region: region.map(str::to_owned),
            agents,
        };
        assert_eq!("local:4".parse(), Ok(AgentCount::Local(4)));
        assert_eq!("20".parse(), Ok(AgentCount::Groups(vec![group(None, 20)])));
        let regions: AgentCount = "eu=10,us=3".parse().unwrap();
        let expected = vec![group(Some("eu"), 10), group(Some("us"), 3)];
        assert_eq!(regions.total(), 13);
        assert_eq!(regions, AgentCount::Groups(expected));
        for wrong in [
            "",
            "0",
            "-1",
            "local:",
            "local:0",
            "eu=",
            "=3",
            "eu=1,eu=2",
            "eu=1,3",
        ] {
            assert!(wrong.parse::<AgentCount>().is_err(), "{wrong}");
        }
    }
}
