//! Shows and changes a run in another process, through its API.

use plimsoll_live::{API_PORT, Client, ClientError, WebAddress, status_text};
use serde_json::Value;

use crate::exit::Exit;
use crate::messages::print_error;

/// Parses a number of users.
///
/// # Errors
/// If it is not a whole number.
pub fn parse_users(text: &str) -> Result<u32, String> {
    let users = text.parse();
    users.map_err(|_| format!("\"{text}\" is not a whole number, or too large"))
}

/// The API of a run.
#[derive(Clone, Copy, Debug)]
pub struct RemoteRun<'a> {
    pub address: &'a str,
    /// Whether to print JSON.
    pub is_json: bool,
}

impl RemoteRun<'_> {
    /// Prints the API's response for this path.
    pub fn get(&self, path: &str) -> Exit {
        self.show(|client| client.get(path))
    }

    /// Changes the run, and prints its state.
    pub fn change(&self, attributes: Value) -> Exit {
        self.show(|client| client.change(attributes))
    }

    fn show(&self, call: impl FnOnce(&Client) -> Result<Value, ClientError>) -> Exit {
        let address = match WebAddress::parse_with(self.address, API_PORT) {
            Ok(address) => address,
            Err(error) => {
                print_error(&format!("--address {error}"));
                return Exit::INVALID_CONFIG;
            }
        };
        let client = Client::new(address, std::env::var("PLIMSOLL_WEB_TOKEN").ok());
        let text = call(&client).map(|data| match self.is_json {
            true => format!("{data:#}\n"),
            false => status_text(&data),
        });
        Exit::of_text(text.map_err(|error| error.to_string()))
    }
}
