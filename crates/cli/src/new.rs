//! `plimsoll new`: a script to start from.

use plimsoll_import::{Caller, Created, NewScript, create};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{complain, say};
use plimsoll_terminal::prompt;

use crate::args::NewArgs;

/// Writes the file, unless one is there already.
pub fn new(args: &NewArgs) -> Exit {
    let script = NewScript {
        url: args.url.as_deref(),
        file: args.file.as_deref(),
        template: &args.template,
        from: match args.from.as_deref() {
            Some([format, source]) => Some((format, source)),
            _ => None,
        },
        hosts: &args.host,
        force: args.force,
        no_smoke: args.no_smoke,
    };
    let mut caller = Caller {
        ask: &prompt::ask,
        read: &|source| {
            let text = match source {
                "-" => plimsoll_machine::read_text(std::io::stdin().lock()),
                path => plimsoll_machine::read_text_file(path.as_ref()),
            };
            text.map_err(|error| error.to_string())
        },
        say: &mut |message| say(message),
    };
    match create(&script, &mut caller) {
        Ok(Created { message, is_failed }) => {
            say(&message);
            match is_failed {
                true => Exit::SOME_FAILED,
                false => Exit::SUCCESS,
            }
        }
        Err(message) => {
            complain(&message);
            Exit::GENERIC
        }
    }
}
