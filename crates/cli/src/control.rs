//! `plimsoll status|stats|pause|resume|scale|stop`: controls a run in another process.

use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::remote_control::{self, RemoteRun};
use serde_json::Map;

/// The run to control.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/control.txt"))]
pub struct ApiArgs {
    /// Address of the run's API, as in the run's --address
    #[arg(
        short,
        long,
        value_name = "[HOST:]PORT",
        env = "K6_ADDRESS",
        hide_env = true,
        default_value = "127.0.0.1:6565"
    )]
    pub address: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll scale`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/control.txt"))]
pub struct ScaleArgs {
    #[command(flatten)]
    pub at: ApiArgs,
    /// Number of virtual users, up to the scenario's maxVUs
    #[arg(
        short = 'u',
        long,
        visible_alias = "users",
        value_name = "N",
        required_unless_present = "max",
        value_parser = remote_control::parse_users
    )]
    pub vus: Option<u32>,
    /// Accepted for compatibility with k6; must equal the scenario's maxVUs
    #[arg(short, long, hide = true)]
    pub max: Option<u32>,
}

impl ApiArgs {
    /// The run to control.
    pub fn run(&self) -> RemoteRun<'_> {
        RemoteRun {
            address: &self.address,
            is_json: self.json,
        }
    }
}

/// Changes the number of users.
pub fn scale(args: &ScaleArgs) -> Exit {
    let mut attributes = Map::new();
    if let Some(users) = args.vus {
        attributes.insert("vus".to_owned(), users.into());
    }
    if let Some(most) = args.max {
        attributes.insert("vus-max".to_owned(), most.into());
    }
    args.at.run().change(attributes.into())
}
