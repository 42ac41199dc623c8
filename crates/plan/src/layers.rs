//! Merges the layers of options.

use crate::error::{Errors, Warning};
use crate::options::Options;

/// The options of a run by source. Later sources take precedence.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The config file.
    pub config: Options,
    /// The script's exported `options`.
    pub script: Options,
    /// The environment.
    pub env: Options,
    /// The command line.
    pub flags: Options,
    /// Whether to combine the tags of all layers. Otherwise the tags of the highest layer replace the others.
    pub merges_tags: bool,
}

/// Merges the layers. Higher layers override lower ones.
///
/// The four options that define scenarios (`duration`, `iterations`, `stages` and `scenarios`) belong together: a layer
/// that sets one of them removes all four from the lower layers. If that removes whole scenarios, there is a warning,
/// unless a flag replaces a shortcut option, which is the purpose of such flags.
///
/// # Errors
/// If the result defines scenarios in two contradictory ways.
pub fn consolidate(layers: Layers) -> Result<(Options, Vec<Warning>), Errors> {
    let (mut sum, mut warnings) = (Options::default(), Vec::new());
    let named = [
        ("the config file", layers.config),
        ("the script", layers.script),
        ("the environment", layers.env),
        ("the command line", layers.flags),
    ];
    let mut shaper = "";
    for (name, mut layer) in named {
        // An empty set of tags does not remove those of lower layers.
        layer.tags = layer
            .tags
            .filter(|tags| !tags.is_empty() || sum.tags.is_none());
        if let (true, Some(tags), Some(weaker)) = (layers.merges_tags, &mut layer.tags, &sum.tags) {
            for (name, value) in weaker {
                tags.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        let shaping = shaping(&layer);
        if !shaping.is_empty() {
            if sum
                .scenarios
                .as_ref()
                .is_some_and(|scenarios| !scenarios.is_empty())
            {
                warnings.push(Warning::new(format!(
                    "{name} sets {}, so the scenarios of {shaper} are ignored entirely",
                    listed(&shaping)
                )));
            }
            sum.duration = None;
            sum.iterations = None;
            sum.stages = None;
            sum.scenarios = None;
            shaper = name;
        }
        sum.overlay(layer);
    }
    let mut errors = Errors::default();
    check_mixing(shaper, &sum, &mut errors);
    errors.or((sum, warnings))
}

/// The options that are set and define scenarios.
fn shaping(options: &Options) -> Vec<&'static str> {
    let set = [
        ("duration", options.duration.is_some()),
        ("iterations", options.iterations.is_some()),
        ("stages", options.stages.is_some()),
        ("scenarios", options.scenarios.is_some()),
    ];
    set.into_iter()
        .filter(|(_, set)| *set)
        .map(|(name, _)| name)
        .collect()
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" and ")
}

/// `iterations` and `duration` may be combined. The duration is then the limit. Any other pair is a contradiction.
fn check_mixing(shaper: &str, sum: &Options, errors: &mut Errors) {
    let mut shaping = shaping(sum);
    if sum.timed_stages().next().is_none() {
        shaping.retain(|name| *name != "stages");
    }
    if shaping.len() > 1 && shaping != ["duration", "iterations"] {
        errors.push(
            "",
            format!(
                "{shaper} sets {}, which cannot be combined: keep one of them",
                listed(&shaping)
            ),
        );
    }
}
