//! Laying the layers of options over each other.

use crate::error::{Errors, Warning};
use crate::options::Options;

/// The options of a run by where they come from, the weakest first.
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
}

/// The sum of the layers: what a stronger one sets wins.
///
/// The four options that shape the run — `duration`, `iterations`, `stages`,
/// `scenarios` — go together: a layer that sets one of them wipes all four of
/// the weaker layers, which is a warning when it costs something.
///
/// # Errors
/// When one layer mixes ways to shape the run that exclude each other.
pub fn consolidate(layers: Layers) -> Result<(Options, Vec<Warning>), Errors> {
    let (mut sum, mut warnings) = (Options::default(), Vec::new());
    let named = [
        ("the config file", layers.config),
        ("the script", layers.script),
        ("the environment", layers.env),
        ("the command line", layers.flags),
    ];
    let mut errors = Errors::default();
    for (name, layer) in named {
        check_mixing(name, &layer, &mut errors);
        let shaping = shaping(&layer);
        if !shaping.is_empty() {
            let wiped = self::shaping(&sum);
            if !wiped.is_empty() {
                warnings.push(Warning::new(format!(
                    "{name} sets {}, so {} set before is ignored",
                    listed(&shaping),
                    listed(&wiped)
                )));
            }
            sum.duration = None;
            sum.iterations = None;
            sum.stages = None;
            sum.scenarios = None;
        }
        sum.overlay(layer);
    }
    errors.or((sum, warnings))
}

/// Which of the shaping options a layer sets.
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

/// `iterations` with `duration` go together, as the latter then is the limit;
/// any other pair is two answers to one question.
fn check_mixing(name: &str, layer: &Options, errors: &mut Errors) {
    let shaping = shaping(layer);
    if shaping.len() > 1 && shaping != ["duration", "iterations"] {
        errors.push(
            "",
            format!(
                "{name} sets {}, which exclude each other: keep one of them",
                listed(&shaping)
            ),
        );
    }
}
