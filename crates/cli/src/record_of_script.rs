//! What a script's record says of the script.

use std::path::Path;
use std::sync::Arc;

use plimsoll_samples::Watch;
use serde_json::json;

use crate::args::RunArgs;
use crate::prepared::Prepared;
use crate::recording::{Model, Place, Question, Recording};

/// Begins the record of a script's run.
///
/// The configuration is every effective option and the variables that were given by
/// flag; its hash covers the script and all that it loads too. Local files count by
/// their place beside the script, so that a project may be moved.
///
/// # Errors
/// When the file cannot be written.
pub fn begin(
    place: Place,
    args: &RunArgs,
    prepared: &Prepared,
    watch: &Arc<Watch>,
) -> Result<Recording, String> {
    let mut options = prepared.plan.options.clone();
    options.fill_defaults();
    let given: serde_json::Map<String, serde_json::Value> = args
        .runtime
        .env
        .iter()
        .map(|given| {
            given
                .split_once('=')
                .map_or(given.as_str(), |(name, _)| name)
        })
        .filter_map(|name| Some((name.to_owned(), prepared.env.get(name)?.as_str().into())))
        .collect();
    let packed = prepared.program.files();
    let folder = prepared.path.parent().unwrap_or(Path::new("/"));
    let mut files = vec![("script".to_owned(), prepared.source.as_slice())];
    let mut names = vec![beside(&prepared.path, folder)];
    for (path, content) in &packed.files {
        let name = beside(path, folder);
        names.push(name.clone());
        files.push((name, content));
    }
    for (address, content) in &packed.web {
        let name = format!("https://{address}");
        names.push(name.clone());
        files.push((name, content));
    }
    let question = Question {
        kind: "run",
        model: Model::of(&prepared.plan),
        configuration: json!({
            "options": options.to_json(),
            "env": given,
            "files": names,
            "workers": args.runtime.workers,
            "io": args.io.io.name(),
        }),
        files,
    };
    Recording::begin(place, question, &prepared.registry, watch)
}

/// A path as seen from the script's folder.
fn beside(path: &Path, folder: &Path) -> String {
    let mut up = String::new();
    let mut from = folder;
    loop {
        if let Ok(rest) = path.strip_prefix(from) {
            return format!("{up}{}", rest.display());
        }
        let Some(above) = from.parent() else {
            return path.display().to_string();
        };
        up.push_str("../");
        from = above;
    }
}
