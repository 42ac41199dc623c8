//! Plain English: phrases a native engineer would not write, and the standard term for each.
//!
//! Comments, string literals, Markdown and names of functions with three words or more are checked,
//! and the comment lines of scripts and configuration files; other names in code are not.
//! `language-backlog.txt` lists the files that are not rewritten yet, with the number of phrases
//! each may still have. A number may only shrink, and a file without a line may have none.

use super::Finding;
use super::source::BETWEEN_LITERALS;
use super::tree::{File, Tree};

/// A phrase in lower case, matched as whole words, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("is no", "\"is not a …\", or \"unknown …\""),
    ("are no", "\"are not …\""),
    ("was no", "\"was not a …\""),
    ("stands in", "\"is in\""),
    ("stands on", "\"builds on\" or \"is on\""),
    ("stands beside", "\"is next to\""),
    ("stands under", "\"is under\""),
    ("stands there", "\"is there\""),
    ("stands for itself", "say what it means"),
    ("stand on", "\"build on\" or \"are on\""),
    ("stand beside", "\"are next to\""),
    ("told", "\"reported\", \"shown\", \"given\" or \"set\""),
    ("tells apart", "\"distinguishes\""),
    ("talk", "\"messages\""),
    ("talks to", "\"connects to\" or \"sends to\""),
    ("the way there", "\"the network path\""),
    ("the way out", "\"the fix\""),
    ("so many", "the number"),
    ("lies beyond", "\"is above\" or \"exceeds\""),
    ("lie beyond", "\"are above\" or \"exceed\""),
    ("comes to", "\"is\" or \"totals\""),
    ("come to", "\"are\" or \"total\""),
    ("came to", "\"was\" or \"totaled\""),
    ("what came of", "\"the outcome of\""),
    ("what comes of", "\"the outcome of\""),
    ("at the least", "\"at least\""),
    ("at the most", "\"at most\""),
    ("it is about", "name the subject"),
    ("makes the load", "\"generates the load\""),
    ("make the load", "\"generate the load\""),
    ("makes load", "\"generates load\""),
    ("there and back", "\"round trip\""),
    ("in one piece", "\"in one write\" or \"whole\""),
    ("nobody's", "say whose it is not"),
    ("room", "\"crate\" or \"space\""),
    ("rooms", "\"crates\""),
    ("house", "\"project\""),
    (
        "answer",
        "\"response\" (\"answer\" only where a question is asked)",
    ),
    ("answers", "\"responses\" or \"responds\""),
    ("answered", "\"responded\""),
    ("answering", "\"responding\""),
    ("head", "\"headers\""),
    ("heads", "\"headers\""),
    ("of ours", "\"our own\""),
    ("heeds", "\"respects\""),
    ("mend", "\"fix\""),
    ("mended", "\"fixed\""),
    ("amid", "\"during\""),
    ("for ever", "\"forever\""),
    ("told apart", "\"distinguished\""),
    ("nearest right", "\"closest valid\""),
    ("can be had", "\"is available\""),
    ("may be had", "\"is available\""),
    ("is had", "\"exists\" or \"is available\""),
    ("as it were", "leave it out"),
    ("dwell", "\"wait\" or \"stay\""),
    ("shake hands", "\"perform the handshake\""),
    ("shakes hands", "\"performs the handshake\""),
    ("hands over", "\"passes\" or \"returns\""),
    ("takes in", "\"processes\" or \"reads\""),
    ("ways in", "\"entry points\""),
    ("came whole", "\"was complete\""),
    ("as it came", "\"as received\""),
    ("as they came", "\"as received\""),
    ("is asked of", "\"is requested from\" or \"must …\""),
    ("make of", "\"interpret\""),
    ("makes of", "\"interprets\""),
    ("stands behind", "\"is behind\""),
    ("beside", "\"next to\", \"in addition to\" or \"with\""),
    ("goes on", "\"continues\""),
    ("for want of", "\"because there is no\""),
    ("to be had", "\"available\""),
    ("whence", "\"from where\""),
    ("stray", "\"deviate\""),
    ("strays", "\"deviates\""),
    ("tells of", "\"reports\""),
    ("hear of", "\"are notified of\""),
    ("hears of", "\"is notified of\""),
    ("tear-down", "\"teardown\""),
    ("its likes", "\"and the others\", or name them"),
    ("takes down", "\"records\""),
    ("let go of", "\"release\" or \"close\""),
    ("lets go of", "\"releases\" or \"closes\""),
    ("what became of", "\"the state of\" or \"the outcome of\""),
    ("becomes of", "\"happens to\""),
    ("comes upon", "\"encounters\""),
    ("set going", "\"started\""),
    ("has to be there", "\"must exist\""),
    ("comes along", "\"is included\" or \"arrives\""),
    ("is said of", "\"applies to\" or \"is reported about\""),
    ("asked of", "\"requested from\""),
    ("reckoned", "\"computed\""),
    ("broken off", "\"aborted\" or \"closed\""),
    ("whoever", "name the person or the code"),
    ("anew", "\"again\""),
    ("under way", "\"in progress\" or \"in flight\""),
    ("handed out", "\"issued\" or \"assigned\""),
    ("speak against", "\"are reasons to doubt\""),
    ("speaks against", "\"is a reason to doubt\""),
    ("tell apart", "\"distinguish\""),
    ("is meant", "\"did you mean …?\", or name it"),
    ("by itself", "\"on its own\" or \"alone\""),
    ("the other way round", "\"the opposite\" or \"reversed\""),
    ("lie apart", "\"differ\""),
    ("and the like", "\"and similar …\", or name them"),
    ("once more", "\"again\""),
    ("so few", "\"too few\""),
    ("also when", "\"even when\" or \"and when\""),
    ("also if", "\"even if\""),
    ("also where", "\"even where\" or \"even if\""),
    ("apart from", "\"except\""),
    ("is wanted", "\"is requested\" or \"is needed\""),
    ("are wanted", "\"are requested\" or \"are needed\""),
    ("for good", "\"permanently\""),
];

/// A phrase is fine if this text is directly before or after it.
const FINE: &[(&str, Position, &str)] = &[
    ("is no", Position::After, "longer"),
    ("are no", Position::After, "longer"),
    ("is no", Position::Before, "there"),
    ("are no", Position::Before, "there"),
    ("was no", Position::Before, "there"),
    ("was no", Position::After, "longer"),
    ("so many", Position::After, "that"),
    // The name of a parameter in POSIX and in k6.
    ("whence", Position::After, "argument"),
    ("head", Position::After, "of the queue"),
    ("head", Position::After, "of the list"),
    ("head", Position::Before, "of"),
    // The method of HTTP.
    ("head", Position::After, "method"),
    ("head", Position::After, "request"),
    // The element of HTML.
    ("head", Position::Before, "<"),
    ("head", Position::Before, "</"),
];

#[derive(Clone, Copy)]
enum Position {
    Before,
    After,
}

/// Files with text from other programs or people, and files with their own vocabulary.
const NOT_OURS: &[&str] = &[
    "cases/",
    "docs/reports/",
    "crates/audit/tests/",
    "crates/audit/corpus/",
    // Its responses are in recorded cases.
    "crates/testkit/src/case_server/raw.rs",
    "xtask/src/tidy/language.rs",
    "LICENSE",
];

const BACKLOG: &str = "xtask/src/tidy/language-backlog.txt";

/// Checks every file with prose against the list and the backlog.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let backlog = Backlog::read(tree);
    let mut findings = Vec::new();
    for file in &tree.files {
        if NOT_OURS.iter().any(|prefix| file.path.starts_with(prefix)) {
            continue;
        }
        // A phrase that occurs twice in a line is one finding, here as in the output.
        let mut found = phrases(file);
        found.sort();
        found.dedup();
        let (allowed, line) = backlog.of(&file.path);
        if found.len() > allowed {
            findings.extend(found);
        } else if found.len() < allowed {
            let message = match found.len() {
                0 => format!("{} is done; delete this line", file.path),
                left => format!("{} has {left} left; lower its number", file.path),
            };
            findings.push(Finding::new(BACKLOG, line, message));
        }
    }
    findings.extend(backlog.without_file(tree));
    findings
}

fn phrases(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut look = |number: usize, text: &str| {
        // The method of HTTP is the only all-capitals word that is also a phrase.
        let text = text.replace("HEAD", "").to_lowercase();
        for (phrase, instead) in PHRASES {
            for _ in 0..occurrences(&text, phrase) {
                let message = format!("`{phrase}`: write {instead} (plain English)");
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    };
    if file.is_rust() {
        for line in file.rust_lines() {
            look(line.number, &without_code(&line.comment, '`', '`'));
            if let Some(sentence) = function_name(&line.code) {
                look(line.number, &sentence);
            }
            for literal in line
                .text
                .split(BETWEEN_LITERALS)
                .filter(|text| is_prose(text))
            {
                look(line.number, &without_code(literal, '{', '}'));
            }
        }
    } else if file.path.ends_with(".md") {
        let mut in_code = false;
        for (index, line) in file.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            } else if !in_code {
                look(index + 1, &without_code(line, '`', '`'));
            }
        }
    } else if let Some(sign) = comment_sign(file) {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(comment) = line.trim_start().strip_prefix(sign) {
                look(index + 1, &without_code(comment, '`', '`'));
            }
        }
    }
    findings
}

/// The name of a function that is declared here, with spaces, if it has three words or more: names
/// of tests are sentences.
fn function_name(code: &str) -> Option<String> {
    let (before, rest) = code.split_once("fn ")?;
    let is_keyword = before.is_empty() || before.ends_with(' ');
    let name: String = rest
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (is_keyword && name.matches('_').count() >= 2).then(|| name.replace('_', " "))
}

/// Whether a string literal is prose, and not a name such as `"head"`: a single word in lower case.
fn is_prose(literal: &str) -> bool {
    literal.contains(char::is_whitespace) || literal.starts_with(char::is_uppercase)
}

/// The characters that start a comment in a script or a configuration file.
fn comment_sign(file: &File) -> Option<&'static str> {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js" | "mjs") => Some("//"),
        Some("toml" | "yml" | "yaml" | "sh" | "py") => Some("#"),
        None if name == "Makefile" || file.text.starts_with("#!") => Some("#"),
        _ => None,
    }
}

/// `text` without the parts between `open` and `close`: code in comments and Markdown, and placeholders
/// in string literals. Their names are not checked either.
fn without_code(text: &str, open: char, close: char) -> String {
    let mut prose = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once(open) {
        let Some((_, after)) = code.split_once(close) else {
            break;
        };
        prose.push_str(before);
        prose.push(open);
        rest = after;
    }
    prose.push_str(rest);
    prose
}

/// Counts `phrase` in `text` as whole words, without the accepted uses.
fn occurrences(text: &str, phrase: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    text.match_indices(phrase)
        .filter(|(at, _)| {
            let before = text.get(..*at).unwrap_or("");
            let after = text.get(at + phrase.len()..).unwrap_or("");
            let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            let fine = FINE.iter().any(|(of, position, word)| {
                *of == phrase
                    && match position {
                        Position::Before => before.trim_end().ends_with(word),
                        Position::After => after.trim_start().starts_with(word),
                    }
            });
            let question = phrase.starts_with("answer") && text.contains("question");
            whole && !fine && !question
        })
        .count()
}

/// Lines with a count and a path.
struct Backlog(Vec<(String, usize, usize)>);

impl Backlog {
    fn read(tree: &Tree) -> Backlog {
        let text = tree
            .files
            .iter()
            .find(|file| file.path == BACKLOG)
            .map_or("", |file| file.text.as_str());
        let entry = |(index, line): (usize, &str)| {
            let (count, path) = line.trim().split_once(' ')?;
            Some((path.trim().to_owned(), count.parse().ok()?, index + 1))
        };
        Backlog(text.lines().enumerate().filter_map(entry).collect())
    }

    /// The number of phrases that the file may have, and the line of that entry.
    fn of(&self, path: &str) -> (usize, usize) {
        let entry = self.0.iter().find(|(of, _, _)| of == path);
        entry.map_or((0, 0), |(_, count, line)| (*count, *line))
    }

    fn without_file(&self, tree: &Tree) -> Vec<Finding> {
        let gone = self
            .0
            .iter()
            .filter(|(path, _, _)| !tree.files.iter().any(|file| file.path == *path));
        gone.map(|(path, _, line)| {
            Finding::new(
                BACKLOG,
                *line,
                format!("{path} does not exist; delete this line"),
            )
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let tree = Tree::of(files);
        check(&tree).into_iter().map(|f| (f.path, f.line)).collect()
    }

    #[test]
    fn phrases_are_found_in_comments_strings_and_markdown_but_not_in_code() {
        let rust = "// the head of a request\nfn answer() {}\nlet a = \"it is no executor\";\n";
        let markdown = "The server answers.\n\n```\nit answers\n```\n";
        assert_eq!(
            lines(&[("crates/a/src/b.rs", rust), ("docs/a.md", markdown)]),
            [
                ("crates/a/src/b.rs".to_owned(), 1),
                ("crates/a/src/b.rs".to_owned(), 3),
                ("docs/a.md".to_owned(), 1)
            ]
        );
    }

    #[test]
    fn ordinary_uses_are_left_alone() {
        let fine = "There is no cache. It is no longer sent. The headroom is ahead.\n\
                    The answer to the question.\nmulti-room\nA HEAD request sets `head`.\n";
        assert_eq!(lines(&[("docs/a.md", fine)]), []);
        let rust =
            "// The response sets `answer`.\nlet a = (\"{answer}\", \"head\", \"answer\");\n";
        assert_eq!(lines(&[("crates/a/src/b.rs", rust)]), []);
    }

    #[test]
    fn names_of_functions_with_three_words_are_checked() {
        let rust = "fn an_answer_arrives() {}\nfn answer_of() {}\nfn is_head_method() {}\n";
        assert_eq!(
            lines(&[("crates/a/src/b.rs", rust)]),
            [("crates/a/src/b.rs".to_owned(), 1)]
        );
    }

    #[test]
    fn comments_of_scripts_and_configuration_are_checked() {
        let of = |path: &str, text: &str| lines(&[(path, text)]).len();
        assert_eq!(of("labs/a/lab.toml", "# it is told\ntitle = \"told\"\n"), 1);
        assert_eq!(of("labs/a/load.js", "  // it is told\nlet told;\n"), 1);
        assert_eq!(of("Makefile", "# it is told\n"), 1);
        assert_eq!(of("scripts/unit", "#!/bin/sh\n# it is told\n"), 1);
        assert_eq!(of("notes.txt", "# it is told\n"), 0);
    }

    #[test]
    fn the_backlog_only_shrinks() {
        let two = "told\ntold\n";
        let with = |backlog: &str| lines(&[("docs/a.md", two), (BACKLOG, backlog)]);
        assert_eq!(with("2 docs/a.md\n"), []);
        assert_eq!(with("1 docs/a.md\n").len(), 2);
        assert_eq!(with("3 docs/a.md\n"), [(BACKLOG.to_owned(), 1)]);
        assert_eq!(
            with("2 docs/a.md\n1 docs/gone.md\n"),
            [(BACKLOG.to_owned(), 2)]
        );
    }
}
