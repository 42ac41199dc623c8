//! The command `plimsoll new`: creates a script from a template, or translates a file.

use std::path::Path;

use crate::starter::{self, PAYLOAD};
use crate::{Created, Format, NotCreated, Translation, new_file, translate};

/// The script to create.
#[derive(Clone, Debug)]
pub struct NewScript<'a> {
    /// The URL to load, or the file. [`starter::places`] decides which it is.
    pub url: Option<&'a str>,
    pub file: Option<&'a Path>,
    /// A built-in template, or a file.
    pub template: &'a str,
    /// The format and the path of the source to translate.
    pub from: Option<(&'a str, &'a str)>,
    /// Hosts of other sites to include in the translation.
    pub hosts: &'a [String],
    /// Overwrite the file.
    pub force: bool,
    /// Do not run the translated script.
    pub no_smoke: bool,
}

/// The functions that the caller provides.
pub struct Caller<'a> {
    /// Asks the user for the URL. The default is the URL of the system `payload`.
    pub ask: &'a dyn Fn(&str, &str) -> String,
    /// Reads a file, or stdin for `-`.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
    /// Receives messages during a translation.
    pub say: &'a mut dyn FnMut(&str),
}

/// Writes the file, unless it already exists.
///
/// # Errors
/// Why no script was created, and how to fix it.
pub fn create(what: &NewScript<'_>, caller: &mut Caller<'_>) -> Result<Created, NotCreated> {
    let (url, file) = starter::places(what.url, what.file).map_err(NotCreated::Argument)?;
    // Ask only when the script can be written.
    if !what.force && file.exists() {
        return Err(new_file::exists_message(&file).into());
    }
    if let Some((format, source)) = what.from {
        let format = Format::from_flag(format).map_err(NotCreated::Argument)?;
        let text = (caller.read)(source)
            .map_err(|error| NotCreated::Source(format!("cannot read {source}: {error}")))?;
        let translation = Translation {
            format,
            source,
            text: &text,
            url: url.as_deref(),
            hosts: what.hosts,
            file: &file,
            force: what.force,
            no_smoke: what.no_smoke,
        };
        return translate(&translation, caller.say);
    }
    let template = what.template;
    let message = match starter::template(template) {
        Some(text) => {
            let url = match url {
                Some(url) => url,
                None => {
                    let reply = (caller.ask)("URL to load", PAYLOAD);
                    starter::complete(&reply).map_err(NotCreated::Argument)?
                }
            };
            new_file::write(&file, &starter::script(text, &url), what.force)?;
            format!("{}\n{}", created(&file), loads(&url))
        }
        None if url.is_some() => {
            return Err(NotCreated::Argument(format!(
                "the template {template} is copied unchanged, so a URL has no effect; leave it out"
            )));
        }
        None => {
            let text = (caller.read)(template).map_err(|error| {
                // As in k6, this is not an invalid argument.
                NotCreated::Other(format!(
                    "cannot read the template {template}: {error}; the built-in ones are minimal and protocol"
                ))
            })?;
            new_file::write(&file, &text, what.force)?;
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
        PAYLOAD => format!("It loads {url}. Start a server there with: plimsoll serve payload"),
        url => format!("It loads {url}"),
    }
}
