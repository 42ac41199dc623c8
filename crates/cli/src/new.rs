//! `plimsoll new`: a script to start from.

use std::path::Path;

use plimsoll_import::starter::{self, PAYLOAD};
use plimsoll_import::{Created, Translation, new_file, translate};
use plimsoll_terminal::messages::{complain, say};
use plimsoll_terminal::prompt;

use crate::args::NewArgs;
use crate::exit::Exit;

/// Writes the file, unless one is there already.
pub fn new(args: &NewArgs) -> Exit {
    match create(args) {
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

fn create(args: &NewArgs) -> Result<Created, String> {
    let (url, file) = starter::places(args.url.as_deref(), args.file.as_deref())?;
    // The question comes only when a script can be written.
    if !args.force && file.exists() {
        return Err(new_file::exists(&file));
    }
    if let Some([format, source]) = args.from.as_deref() {
        let text = text_of(source).map_err(|error| format!("cannot read {source}: {error}"))?;
        let translation = Translation {
            format,
            source,
            text: &text,
            url: url.as_deref(),
            hosts: &args.host,
            file: &file,
            force: args.force,
            no_smoke: args.no_smoke,
        };
        return translate(&translation, &mut |message| say(message));
    }
    let message = match starter::template(&args.template) {
        Some(template) => {
            let url = match url {
                Some(url) => url,
                None => starter::complete(&prompt::ask("URL to load", PAYLOAD))?,
            };
            new_file::write(&file, &starter::script(template, &url), args.force)?;
            format!("{}\n{}", created(&file), loads(&url))
        }
        None if url.is_some() => {
            return Err(format!(
                "the template {} is copied unchanged, so a URL has no effect; leave it out",
                args.template
            ));
        }
        None => {
            let text = plimsoll_script::read_text_file(args.template.as_ref());
            let text = text.map_err(|error| {
                format!(
                    "cannot read the template {}: {error}; the built-in ones are minimal and protocol",
                    args.template
                )
            })?;
            new_file::write(&file, &text, args.force)?;
            created(&file)
        }
    };
    Ok(Created {
        message,
        is_failed: false,
    })
}

fn created(file: &Path) -> String {
    let shown = file.display();
    format!("New script created: {shown}. Run it with: plimsoll run {shown}")
}

fn loads(url: &str) -> String {
    match url {
        PAYLOAD => format!("It loads {url}. For a server there: plimsoll serve payload"),
        url => format!("It loads {url}"),
    }
}

/// The text of a file, or of stdin.
fn text_of(source: &str) -> Result<String, String> {
    let bytes = match source {
        "-" => plimsoll_script::read_stream(std::io::stdin().lock()),
        path => plimsoll_script::read_file(path.as_ref()),
    };
    let bytes = bytes.map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}
