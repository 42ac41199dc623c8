//! Masks in JSON the secrets that a script has read.

use std::borrow::Cow;

use plimsoll_samples::Mask;
use serde_json::Value;

use crate::PreparedScript;

impl PreparedScript {
    /// `value` without the secrets that the script has read.
    #[must_use]
    pub fn masked(&self, mut value: Value) -> Value {
        if let Some(mask) = &self.mask {
            mask_json(mask, &mut value);
        }
        value
    }
}

/// Masks the secrets in strings and keys. Numbers stay, even if a secret consists of the same digits.
pub(crate) fn mask_json(mask: &Mask, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = mask.apply(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_json(mask, item)),
        Value::Object(entries) => {
            let all = std::mem::take(entries);
            entries.extend(all.into_iter().map(|(key, mut value)| {
                mask_json(mask, &mut value);
                (mask.apply(&key).into_owned(), value)
            }));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_and_keys_are_masked_but_numbers_stay() {
        let mask = Mask::default();
        mask.hide("12");
        let mut value = json!({"a12": ["x12", 12, {"b": "12"}], "c": 0.12});
        mask_json(&mask, &mut value);
        let hidden = plimsoll_samples::REDACTED;
        assert_eq!(
            value,
            json!({format!("a{hidden}"): [format!("x{hidden}"), 12, {"b": hidden}], "c": 0.12})
        );
    }
}
