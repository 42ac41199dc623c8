//! `plimsoll status|stats|pause|resume|scale|stop`: controls a run in another process.

use plimsoll_live::{API_PORT, Client, ClientError, WebAddress, status_text};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::print_error;
use serde_json::{Map, Value};

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
        required_unless_present = "max"
    )]
    pub vus: Option<u32>,
    /// Accepted for compatibility with k6; must equal the scenario's maxVUs
    #[arg(short, long, hide = true)]
    pub max: Option<u32>,
}

/// Prints the API's response for this path.
pub fn get(at: &ApiArgs, path: &str) -> Exit {
    show(at, |client| client.get(path))
}

/// Changes the run, and prints its state.
pub fn change(at: &ApiArgs, attributes: Value) -> Exit {
    show(at, |client| client.change(attributes))
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
    change(&args.at, attributes.into())
}

fn show(at: &ApiArgs, call: impl FnOnce(&Client) -> Result<Value, ClientError>) -> Exit {
    let address = match WebAddress::parse_with(&at.address, API_PORT) {
        Ok(address) => address,
        Err(error) => {
            print_error(&format!("--address {error}"));
            return Exit::INVALID_CONFIG;
        }
    };
    let client = Client::new(address, std::env::var("PLIMSOLL_WEB_TOKEN").ok());
    let text = call(&client).map(|data| match at.json {
        true => format!("{data:#}\n"),
        false => status_text(&data),
    });
    Exit::of_text(text.map_err(|error| error.to_string()))
}
