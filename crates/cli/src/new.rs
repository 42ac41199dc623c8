//! `plimsoll new`: a script to start from.

use std::io::Write;

use plimsoll_terminal::messages::{complain, say};

use crate::args::NewArgs;
use crate::exit::Exit;

const MINIMAL: &str = include_str!("../templates/minimal.js");
const PROTOCOL: &str = include_str!("../templates/protocol.js");

/// Writes the file, unless one is there already.
pub fn new(args: &NewArgs) -> Exit {
    let text = match args.template.as_str() {
        "minimal" => MINIMAL.to_owned(),
        "protocol" => PROTOCOL.to_owned(),
        path => match plimsoll_script::read_text_file(path.as_ref()) {
            Ok(text) => text,
            Err(error) => {
                complain(&format!(
                    "cannot read the template {path}: {error}; the built-in ones are minimal and protocol"
                ));
                return Exit::GENERIC;
            }
        },
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if args.force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options
        .open(&args.file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    let file = args.file.display();
    match written {
        Ok(()) => {
            say(&format!(
                "New script created: {file}. Run it with: plimsoll run {file}"
            ));
            Exit::SUCCESS
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            complain(&format!(
                "{file} already exists; give --force to write over it"
            ));
            Exit::GENERIC
        }
        Err(error) => {
            complain(&format!("cannot write {file}: {error}"));
            Exit::GENERIC
        }
    }
}
