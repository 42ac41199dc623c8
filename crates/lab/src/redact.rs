//! Removes private data from a result: home folders, user names, secrets. Also removes paths that
//! mean nothing on other machines: those of the program and the working folder.

use plimsoll_results::lab::LabResult;
use plimsoll_results::secrets;
use serde_json::Value;

/// Removes private data from a result.
pub fn redact(result: &mut LabResult) {
    let Ok(mut value) = serde_json::to_value(&*result) else {
        return;
    };
    let home = std::env::var("HOME").unwrap_or_default();
    let user = std::env::var("USER").unwrap_or_default();
    let program = crate::run::server::ourselves().unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    let here = format!("{}/", here.display());
    each_text(&mut value, &|text| {
        text_of(&shorter(text, &program, &here), &home, &user)
    });
    if let Ok(redacted) = serde_json::from_value(value) {
        *result = redacted;
    }
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

/// The text without the paths of the program and of this directory, as a user would type it here.
fn shorter(text: &str, program: &str, here: &str) -> String {
    let mut text = text.to_owned();
    if program.len() > 1 {
        text = text.replace(program, "plimsoll");
    }
    if here.len() > 2 {
        text = text.replace(here, "");
    }
    text
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
    fn commands_are_as_one_would_type_them() {
        let told = shorter(
            "/w/here/target/plimsoll run -e A=/w/here/b /w/here/labs/x.js /w/hereby",
            "/w/here/target/plimsoll",
            "/w/here/",
        );
        assert_eq!(told, "plimsoll run -e A=b labs/x.js /w/hereby");
    }

    #[test]
    fn homes_and_secrets_are_gone() {
        let told = text_of(
            "/home/me/x --out /home/you postgres://a:hunter2@h/d",
            "/home/me",
            "you",
        );
        assert!(told.starts_with("~/x --out ~ "), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}
