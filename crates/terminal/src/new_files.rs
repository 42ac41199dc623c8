//! Creates starter files: a script or a lab. Prompts for missing values.

use std::path::Path;

use plimsoll_import::starter::PAYLOAD;
use plimsoll_import::{Caller, Created, NewScript, NotCreated, create, new_file};
use plimsoll_lab::starter::{self, System};

use crate::exit::Exit;
use crate::lab_run::Failure;
use crate::messages::{print_error, print_message};
use crate::prompt;

/// Writes a script, unless the file already exists.
pub fn script(script: &NewScript<'_>) -> Exit {
    let mut caller = Caller {
        ask: &prompt::ask,
        read: &|source| {
            let text = match source {
                "-" => plimsoll_machine::read_text(std::io::stdin().lock()),
                path => plimsoll_machine::read_text_file(path.as_ref()),
            };
            text.map_err(|error| error.to_string())
        },
        say: &mut |message| print_message(message),
    };
    match create(script, &mut caller) {
        Ok(Created { message, is_failed }) => {
            print_message(&message);
            match is_failed {
                true => Exit::SOME_FAILED,
                false => Exit::SUCCESS,
            }
        }
        Err(why) => {
            let (message, exit) = match &why {
                NotCreated::Argument(message) => (message, Exit::INVALID_CONFIG),
                NotCreated::Source(message) => (message, Exit::UNREADABLE),
                NotCreated::Other(message) => (message, Exit::GENERIC),
            };
            print_error(message);
            exit
        }
    }
}

/// A lab to create. Its service is started by the lab, or is already running.
#[derive(Clone, Copy, Debug)]
pub struct NewLab<'a> {
    /// The file to write, or its directory.
    pub file: &'a Path,
    /// The command that starts the service, and its port if that is fixed.
    pub command: Option<&'a str>,
    pub port: Option<u16>,
    /// The URL of a service that is already running.
    pub url: Option<&'a str>,
    /// Whether to overwrite the file.
    pub force: bool,
}

/// Writes a lab file, unless it already exists.
///
/// # Errors
/// The problem and its fix.
pub fn lab(lab: &NewLab<'_>) -> Result<Exit, Failure> {
    let file = match lab.file.is_dir() {
        true => lab.file.join(plimsoll_lab::file::NAME),
        false => lab.file.to_owned(),
    };
    if file.exists() && !lab.force {
        return Err(new_file::exists_message(&file).into());
    }
    let reply;
    let (command, url) = match (lab.command, lab.url) {
        (None, None) => {
            let question = "URL of a running service, or the command that starts one, with {port}";
            reply = prompt::ask(question, PAYLOAD);
            match reply.contains("://") {
                true => (None, Some(reply.as_str())),
                false => (Some(reply.as_str()), None),
            }
        }
        given => given,
    };
    let system = match (command, url) {
        (Some(command), _) => System::command(command, lab.port),
        (None, url) => System::running(url.unwrap_or(PAYLOAD)),
    };
    let system = system.map_err(Failure::of_argument)?;
    let text = starter::text(&system, &file)?;
    new_file::write(&file, &text, lab.force)?;
    let shown = file.display();
    print_message(&format!(
        "New lab created: {shown}. Run it with: plimsoll lab run {shown} --quick"
    ));
    if url.unwrap_or(PAYLOAD) == PAYLOAD && command.is_none() {
        print_message(&format!(
            "It measures {PAYLOAD}. For a server there: plimsoll serve payload"
        ));
    }
    Ok(Exit::SUCCESS)
}
