//! `plimsoll lab new`: a lab for a service, which the lab starts or which is already running.

use plimsoll_import::new_file;
use plimsoll_import::starter::PAYLOAD;
use plimsoll_lab::starter::{self, System};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::say;
use plimsoll_terminal::prompt;

use crate::args::LabNewArgs;

/// Writes the lab file, unless one is there already.
///
/// # Errors
/// The problem and its fix.
pub fn new(args: &LabNewArgs) -> Result<Exit, String> {
    let file = match args.file.is_dir() {
        true => args.file.join(plimsoll_lab::file::NAME),
        false => args.file.clone(),
    };
    if file.exists() && !args.force {
        return Err(new_file::exists(&file));
    }
    let (command, url) = match (&args.command, &args.url) {
        (None, None) => {
            let question = "URL of a running service, or the command that starts one, with {port}";
            let reply = prompt::ask(question, PAYLOAD);
            match reply.contains("://") {
                true => (None, Some(reply)),
                false => (Some(reply), None),
            }
        }
        (command, url) => (command.clone(), url.clone()),
    };
    let system = match (&command, &url) {
        (Some(command), _) => System::command(command, args.port)?,
        (None, url) => System::running(url.as_deref().unwrap_or(PAYLOAD))?,
    };
    let text = starter::text(&system, &file)?;
    new_file::write(&file, &text, args.force)?;
    let shown = file.display();
    say(&format!(
        "New lab created: {shown}. Run it with: plimsoll lab run {shown} --quick"
    ));
    if url.as_deref().unwrap_or(PAYLOAD) == PAYLOAD && command.is_none() {
        say(&format!(
            "It measures {PAYLOAD}. For a server there: plimsoll serve payload"
        ));
    }
    Ok(Exit::SUCCESS)
}
