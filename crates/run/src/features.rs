//! The k6 features that `--features` enables.

use serde_json::json;

/// The enabled features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Combine tags from the config file, the script, the environment and the flags.
    pub merges_tags: bool,
    /// Scripts cannot change `__ENV`.
    pub freezes_env: bool,
    /// Tags and groups stay the same across `await`, and in callbacks.
    pub keeps_metric_context: bool,
}

/// All features, each with its meaning in Plimsoll.
const ALL: [(&str, &str); 4] = [
    (
        "async-metric-context",
        "code after await and callbacks keep their tags and groups; group() accepts async functions",
    ),
    (
        "native-histograms",
        "bounded histograms for trends; Plimsoll has no others, so it is always on",
    ),
    (
        "merge-run-tags",
        "tags of the config file, the script, the environment and the flags are used together",
    ),
    ("freeze-env", "scripts cannot change __ENV"),
];

impl Features {
    /// Reads the names of features.
    ///
    /// # Errors
    /// If one is unknown.
    pub fn parse(names: &[String]) -> Result<Features, String> {
        let mut features = Features::default();
        let names = names.iter().map(|name| name.trim());
        for name in names.filter(|name| !name.is_empty()) {
            match name {
                "native-histograms" => {}
                "merge-run-tags" => features.merges_tags = true,
                "freeze-env" => features.freezes_env = true,
                "async-metric-context" => features.keeps_metric_context = true,
                _ => {
                    let known = ALL.map(|(name, _)| name);
                    let unknown = plimsoll_units::UnknownName::new("feature", name, &known);
                    return Err(format!("--features: {unknown}"));
                }
            }
        }
        Ok(features)
    }

    /// All features, as text or as JSON.
    pub fn list(is_json: bool) -> String {
        if is_json {
            let all = ALL.map(|(name, text)| json!({ "name": name, "description": text }));
            return format!("{:#}\n", json!(all));
        }
        ALL.iter()
            .map(|(name, text)| format!("{name:<20} {text}\n"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_unknown_ones_refused() {
        let parse = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            Features::parse(&names)
        };
        let all = Features {
            merges_tags: true,
            freezes_env: true,
            keeps_metric_context: true,
        };
        let names = [
            "merge-run-tags",
            " freeze-env",
            "native-histograms",
            "async-metric-context",
        ];
        assert_eq!(parse(&names), Ok(all));
        assert_eq!(parse(&[""]), Ok(Features::default()));
        let error = parse(&["freeze-evn"]).unwrap_err();
        assert!(error.contains("freeze-env"), "{error}");
        assert!(Features::list(false).contains("merge-run-tags"));
    }
}
