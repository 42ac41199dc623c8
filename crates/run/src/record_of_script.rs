//! The parts of a record that describe a script.

use std::path::Path;
use std::sync::Arc;

use plimsoll_samples::Watch;
use serde_json::json;

use crate::prepare::PreparedScript;
use crate::recording::{Contents, Recording};
use crate::request::RecordRequest;

/// Begins the record of a script's run.
///
/// The configuration contains all effective options and the variables set by flags. Its hash also covers the script and
/// everything that it loads. Local files are identified by their path relative to the script, so that moving a project
/// does not change its configuration.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn begin(
    record: RecordRequest,
    prepared: &PreparedScript,
    watch: &Arc<Watch>,
) -> Result<Recording, String> {
    let mut options = prepared.plan.options.clone();
    options.fill_defaults();
    let given: serde_json::Map<String, serde_json::Value> = prepared
        .given_env
        .iter()
        .filter_map(|name| Some((name.to_owned(), prepared.env.get(name)?.as_str().into())))
        .collect();
    let packed = prepared.program.files();
    let folder = prepared.path.parent().unwrap_or(Path::new("/"));
    let mut files = vec![("script".to_owned(), prepared.source.as_slice())];
    let mut names = vec![relative_path(&prepared.path, folder)];
    for (path, content) in &packed.files {
        let name = relative_path(path, folder);
        names.push(name.clone());
        files.push((name, content));
    }
    for (address, content) in &packed.web {
        let name = format!("https://{address}");
        names.push(name.clone());
        files.push((name, content));
    }
    let mut configuration = json!({
        "options": options.to_json(),
        "env": given,
        "files": names,
    });
    if let (Some(all), serde_json::Value::Object(requested)) =
        (configuration.as_object_mut(), record.configuration)
    {
        all.extend(requested);
    }
    let record = RecordRequest {
        configuration: prepared.masked(configuration),
        ..record
    };
    let contents = Contents { kind: "run", files };
    Recording::begin(record, contents, &prepared.plan, &prepared.registry, watch)
}

/// The path relative to the script's folder.
fn relative_path(path: &Path, folder: &Path) -> String {
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
