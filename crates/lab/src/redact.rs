//! Removes private data from a result: home directories, user names, secrets. Also removes paths
//! that have no meaning on other machines: those of the program, the run, the lab and its private
//! files. The result does not depend on the current directory.

use std::path::Path;

use plimsoll_results::lab::LabResult;
use plimsoll_results::secrets;
use serde_json::Value;

/// The program in a command.
const PROGRAM: &str = "plimsoll";
/// The prefix of the names of private directories.
const PRIVATE: &str = "plimsoll-lab-";
/// The replacement for a private directory in a report.
const PRIVATE_REPLACEMENT: &str = "private";
/// Characters that end a path in a command or a message.
const SEPARATORS: [char; 8] = [' ', '=', '"', '\'', ',', ':', '(', '@'];

/// Removes private data from the result of a lab file and a run's directory.
pub fn redact(result: &mut LabResult, lab_file: &Path, run: &Path) {
    let Ok(mut value) = serde_json::to_value(&*result) else {
        return;
    };
    let home = std::env::var("HOME").unwrap_or_default();
    let user = std::env::var("USER").unwrap_or_default();
    let program = crate::run::server::program_path().unwrap_or_default();
    let paths = Paths {
        program,
        run: absolute(run),
        root: root(&absolute(lab_file)),
    };
    each_text(&mut value, &|text| {
        text_of(&paths.shorten(text), &home, &user)
    });
    if let Ok(redacted) = serde_json::from_value(value) {
        *result = redacted;
    }
}

fn absolute(path: &Path) -> String {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    absolute.display().to_string()
}

/// The parent of the directory that contains the lab, so paths start with `labs/payload/`.
fn root(lab_file: &str) -> String {
    Path::new(lab_file)
        .ancestors()
        .skip(1)
        .take(3)
        .filter(|above| above.parent().is_some())
        .last()
        .map_or_else(String::new, |above| above.display().to_string())
}

/// Paths that are shortened.
struct Paths {
    program: String,
    run: String,
    root: String,
}

fn each_text(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| each_text(field, change)),
        _ => {}
    }
}

impl Paths {
    /// The text as a user would type it in the parent directory of the lab's directory.
    fn shorten(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.program.len() > 1 {
            text = text.replace(&self.program, PROGRAM);
        }
        // The program that ran the lab may have a different path than the program that creates the report.
        if let Some(arguments) = arguments_of_plimsoll(&text) {
            text = format!("{PROGRAM}{arguments}");
        }
        if self.run.len() > 1 {
            let name = Path::new(&self.run)
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            text = text.replace(&self.run, &format!("results/{name}"));
        }
        if self.root.len() > 1 {
            text = text.replace(&format!("{}/", self.root), "");
        }
        without_private(&text)
    }
}

/// The text after the program, if the text is a command of plimsoll with its complete path.
fn arguments_of_plimsoll(text: &str) -> Option<&str> {
    let end = text.find(' ').unwrap_or(text.len());
    let (program, arguments) = text.split_at(end);
    let name = Path::new(program).file_name()?;
    (program.starts_with('/') && name == PROGRAM).then_some(arguments)
}

/// The text with `private` in place of each private directory, wherever that was.
fn without_private(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(PRIVATE) {
        let (before, from) = rest.split_at(at);
        let is_path = before.ends_with('/');
        let start = before.rfind(SEPARATORS).map_or(0, |at| at + 1);
        let end = from
            .find(|c| c == '/' || SEPARATORS.contains(&c))
            .unwrap_or(from.len());
        if is_path {
            shown.push_str(&before[..start]);
            shown.push_str(PRIVATE_REPLACEMENT);
        } else {
            shown.push_str(before);
            shown.push_str(&from[..end]);
        }
        rest = &from[end..];
    }
    shown + rest
}

fn text_of(text: &str, home: &str, user: &str) -> String {
    let mut text = secrets::in_text(text);
    if home.len() > 1 {
        text = text.replace(home, "~");
    }
    for place in ["/home/", "/Users/"] {
        if !user.is_empty() {
            text = text.replace(&format!("{place}{user}"), "~");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_a_user_would_type_them() {
        let paths = Paths {
            program: "/w/here/target/plimsoll".to_owned(),
            run: "/elsewhere/results/a-quick-1".to_owned(),
            root: root("/w/here/labs/a/lab.toml"),
        };
        assert_eq!(
            paths.shorten(
                "/w/here/target/plimsoll run --record /elsewhere/results/a-quick-1/cells/1/1/record.jsonl -e A=/w/here/b /w/here/labs/a/x.js /w/hereby"
            ),
            "plimsoll run --record results/a-quick-1/cells/1/1/record.jsonl -e A=b labs/a/x.js /w/hereby"
        );
    }

    #[test]
    fn a_command_of_another_plimsoll_is_shown_as_a_user_would_type_it() {
        let paths = Paths {
            program: "/w/here/target/debug/plimsoll".to_owned(),
            run: "/elsewhere/results/a-quick-1".to_owned(),
            root: "/w/here".to_owned(),
        };
        let cases = [
            ("/opt/old/plimsoll run x.js", "plimsoll run x.js"),
            ("/opt/old/plimsoll", "plimsoll"),
            (
                "/usr/bin/redis-server --dir /var/plimsoll",
                "/usr/bin/redis-server --dir /var/plimsoll",
            ),
            ("/opt/plimsoll/other run", "/opt/plimsoll/other run"),
            ("/opt/plimsoll-serve orders", "/opt/plimsoll-serve orders"),
            ("", ""),
        ];
        for (written, shown) in cases {
            assert_eq!(paths.shorten(written), shown);
        }
    }

    #[test]
    fn private_directories_are_replaced_with_one_name() {
        assert_eq!(
            without_private(
                "-e KEY=/tmp/x/plimsoll-lab-15237-18ea/variant-1/client.key --certs /tmp/plimsoll-lab-1-2 the plimsoll-lab-report"
            ),
            "-e KEY=private/variant-1/client.key --certs private the plimsoll-lab-report"
        );
    }

    #[test]
    fn a_lab_near_the_root_does_not_remove_every_slash() {
        assert_eq!(root("/w/here/labs/a/lab.toml"), "/w/here");
        assert_eq!(root("/tmp/lab.toml"), "/tmp");
        assert_eq!(root("/lab.toml"), "");
    }

    #[test]
    fn home_directories_and_secrets_are_removed() {
        let redacted = text_of(
            "/home/me/x --out /home/you postgres://a:hunter2@h/d",
            "/home/me",
            "you",
        );
        assert!(redacted.starts_with("~/x --out ~ "), "{redacted}");
        assert!(!redacted.contains("hunter2"), "{redacted}");
    }
}
