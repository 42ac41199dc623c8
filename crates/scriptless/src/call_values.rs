//! Parses messages and metadata with the syntax of ghz's flags.

use plimsoll_grpc::Metadata;

/// The messages of an array, or the single message that the text contains. Messages may contain `{{…}}`, which is not
/// JSON, so an array is split at its brackets and commas.
///
/// # Errors
/// If it is invalid. The message contains the correct syntax.
pub fn messages(text: &str) -> Result<Vec<String>, String> {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('[') else {
        return Ok(vec![text.to_owned()]);
    };
    let inner = inner
        .strip_suffix(']')
        .ok_or_else(|| "--data: the array lacks its \"]\"".to_owned())?;
    let mut found = Vec::new();
    let (mut depth, mut start, mut quoted, mut escaped) = (0usize, 0, false, false);
    for (at, byte) in inner.bytes().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match byte {
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(inner[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(inner[start..].trim().to_owned());
    found.retain(|message| !message.is_empty());
    if found.is_empty() {
        return Err("--data: the array is empty: there is no message to send".to_owned());
    }
    Ok(found)
}

/// Metadata from JSON objects, as in ghz, or from `NAME: VALUE`. The values of `-bin` names are the bytes of their
/// text.
///
/// # Errors
/// If it is invalid. The message contains the correct syntax.
pub fn metadata(flag: &str, given: &[String]) -> Result<Metadata, String> {
    let mut metadata = Metadata::new();
    for text in given {
        if text.trim_start().starts_with('{') {
            let pairs: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)
                .map_err(|error| format!("{flag} {text}: it is not a JSON object: {error}"))?;
            for (name, value) in pairs {
                let serde_json::Value::String(value) = value else {
                    return Err(format!("{flag}: the value of {name:?} is not a string"));
                };
                metadata.append(&name, value.as_bytes())?;
            }
        } else {
            let (name, value) = text.split_once(':').ok_or_else(|| {
                format!("{flag} \"{text}\": write it as JSON, like '{{\"name\":\"value\"}}', or as NAME: VALUE")
            })?;
            metadata.append(name.trim(), value.trim().as_bytes())?;
        }
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_split_at_their_own_commas() {
        let cut = |text| messages(text).unwrap();
        assert_eq!(cut("{\"a\":[1,2]}"), ["{\"a\":[1,2]}"]);
        assert_eq!(
            cut("[ {\"a\":{{randomInt 1 2}}} , {\"b\":\"],\\\",\"}]"),
            ["{\"a\":{{randomInt 1 2}}}", "{\"b\":\"],\\\",\"}"]
        );
        assert!(messages("[]").is_err());
        assert!(messages("[{}").is_err());
    }

    #[test]
    fn metadata_has_two_forms() {
        let read = metadata(
            "-m",
            &[
                "{\"a\":\"1\",\"b-bin\":\"x\"}".to_owned(),
                "c: 2".to_owned(),
            ],
        )
        .unwrap();
        let pairs: Vec<_> = read.iter().collect();
        assert_eq!(pairs, [("a", &b"1"[..]), ("b-bin", b"x"), ("c", b"2")]);
        assert!(metadata("-m", &["nothing".to_owned()]).is_err());
        assert!(metadata("-m", &["{\"a\":1}".to_owned()]).is_err());
    }
}
