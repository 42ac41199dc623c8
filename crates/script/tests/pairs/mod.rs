//! Runs scripts with users that start from an image and with users that have their own runtimes, and compares their logs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::running::{Run, Script};

const IMAGE: &str = "debug users of a worker begin with an image";
const REST: &str = ", and each runs the rest of the init code itself: ";
const APART: &str = "debug each virtual user has its own script runtime: ";

/// What the users of a run share.
#[derive(Debug, PartialEq, Eq)]
pub enum Users {
    /// The heap after the init code.
    Together,
    /// The heap after the first part of it, for this reason.
    InPart(String),
    /// Nothing, for this reason.
    Apart(String),
}

/// What the users of a run share, as the log says.
pub fn users(run: &Run) -> Users {
    for line in &run.log {
        if let Some(reason) = line.strip_prefix(APART) {
            return Users::Apart(reason.to_owned());
        }
        if line.starts_with(IMAGE) {
            return match line.split_once(REST) {
                Some((_, reason)) => Users::InPart(reason.to_owned()),
                None => Users::Together,
            };
        }
    }
    Users::Apart("the log says nothing".to_owned())
}

/// What `console` logged, by the first word, which is the user in iterations.
pub fn by_user(run: &Run) -> BTreeMap<String, Vec<String>> {
    let mut lines: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in run.console() {
        let (user, text) = line.split_once(' ').unwrap_or((&line, ""));
        lines
            .entry(user.to_owned())
            .or_default()
            .push(text.to_owned());
    }
    lines
}

/// A script next to the observed scripts, so that it can open their files.
pub fn script(text: &str) -> Script {
    script_in(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/observed"),
        text,
    )
}

pub fn script_in(folder: &Path, text: &str) -> Script {
    Script::text_at(folder.join("-"), text)
}

/// Runs the script with and without an image. Its users must log the same lines.
pub fn compare(text: &str) -> Run {
    both(|| script(text))
}

/// Like [`compare`], for any script.
pub fn both(script: impl Fn() -> Script) -> Run {
    let apart = script().without_image().run();
    let together = script().with_image().run();
    assert_eq!(by_user(&apart), by_user(&together), "{:?}", together.log);
    assert_eq!(apart.aborted, together.aborted);
    assert!(
        !by_user(&apart).is_empty() || apart.aborted.is_some(),
        "{:?}",
        apart.log
    );
    together
}
