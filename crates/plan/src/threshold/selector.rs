//! `metric` or `metric{tag:value,…}`.

use std::fmt;

use crate::error::{Fault, excerpt};

/// A metric, or its samples with certain tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MetricSelector {
    /// The metric's name.
    pub name: String,
    /// Tags that a sample must have, in the order written. Without tags, all samples match.
    pub tags: Vec<(String, String)>,
    /// The key as written; reports use it as its name.
    pub source: String,
}

impl MetricSelector {
    /// Parses `http_reqs` or `http_reqs{status:200,name:login}`. A value may contain colons and braces, but no comma.
    /// Spaces and quotes around tags and values are removed.
    ///
    /// # Errors
    /// If the braces do not match, or if a tag has no name or no value.
    pub fn parse(text: &str) -> Result<MetricSelector, Fault> {
        const FORM: &str = "write metric{tag:value,tag:value}";
        let whole = || MetricSelector {
            name: text.to_owned(),
            tags: Vec::new(),
            source: text.to_owned(),
        };
        let fault = |what: &str| {
            Err(Fault::at(
                "",
                format!("the metric \"{}\" {what}: {FORM}", excerpt(text)),
            ))
        };
        let Some((name, rest)) = text.split_once('{') else {
            if text.contains('}') {
                return fault("has a closing brace without an opening one");
            }
            if text.is_empty() {
                return fault("has no name");
            }
            return Ok(whole());
        };
        if name.is_empty() {
            return fault("has no name");
        }
        let Some(inner) = rest.strip_suffix('}') else {
            return fault("does not end with the closing brace");
        };
        let mut tags = Vec::new();
        for pair in inner.split(',') {
            let (tag, value) = pair.split_once(':').unwrap_or((pair, ""));
            let bare = |part: &str| {
                part.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'')
                    .to_owned()
            };
            let (tag, value) = (bare(tag), bare(value));
            if tag.is_empty() {
                return fault("has a tag without a name");
            }
            if value.is_empty() {
                return fault(&format!("has no value for the tag \"{}\"", excerpt(&tag)));
            }
            tags.push((tag, value));
        }
        Ok(MetricSelector {
            name: name.to_owned(),
            tags,
            ..whole()
        })
    }

    /// The error for a selector with an unknown metric. `known` are the existing metrics.
    pub fn unknown<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Fault {
        let name = &self.name;
        let hint = match plimsoll_units::nearest(name, known) {
            Some(meant) => format!("; did you mean \"{meant}\"?"),
            None => ": declare it in the script's init code, or correct the name".to_owned(),
        };
        Fault::at(
            format!("thresholds.{}", self.source),
            format!("no metric is named \"{name}\"{hint}"),
        )
    }

    /// Tags in the selector that are metadata of samples (`vu` and `iter`), so they match nothing.
    pub fn unindexed_tags(&self) -> impl Iterator<Item = &str> {
        let names = self.tags.iter().map(|(tag, _)| tag.as_str());
        names.filter(|tag| matches!(*tag, "vu" | "iter"))
    }
}

impl fmt::Display for MetricSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (String, Vec<(String, String)>) {
        let selector = MetricSelector::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        (selector.name, selector.tags)
    }

    fn tags(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        owned.collect()
    }

    #[test]
    fn reads_names_and_tags() {
        assert_eq!(read("http_reqs"), ("http_reqs".into(), vec![]));
        assert_eq!(read("a{b:c}"), ("a".into(), tags(&[("b", "c")])));
        assert_eq!(
            read("a{ b : \"c d\" , e:f:g }"),
            ("a".into(), tags(&[("b", "c d"), ("e", "f:g")]))
        );
        assert_eq!(
            read("a{url:http://x/{}}").1,
            tags(&[("url", "http://x/{}")])
        );
        assert_eq!(read("a{group:::x::y}").1, tags(&[("group", "::x::y")]));
    }

    #[test]
    fn refuses_malformed_input() {
        for text in [
            "", "{a:b}", "a{", "a{}", "a{b}", "a{b:}", "a{:c}", "a{b:c", "a{b:c} ", "a}", "a{b:c,}",
        ] {
            assert!(MetricSelector::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reports_tags_that_match_nothing() {
        let selector = MetricSelector::parse("a{vu:1,b:c,iter:2}").unwrap();
        assert_eq!(
            selector.unindexed_tags().collect::<Vec<_>>(),
            ["vu", "iter"]
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_a_value_or_an_error(text in "[a-z{}:,\"' ]{0,30}") {
            let _ = MetricSelector::parse(&text);
        }
    }
}
