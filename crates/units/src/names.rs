//! Named values: parses a name, and suggests the closest valid one if it is unknown.

use std::fmt;

use crate::nearest;

/// An unknown name. The message lists the valid names and suggests the closest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName(String);

impl UnknownName {
    /// `what` is the kind of name, such as "TLS version".
    pub fn new(what: &str, written: &str, known: &[&str]) -> UnknownName {
        let mut message = format!(
            "unknown {what} \"{}\": use {}",
            excerpt(written),
            known.join(", ")
        );
        if let Some(closest) = nearest(written, known.iter().copied()) {
            message.push_str(&format!("; did you mean \"{closest}\"?"));
        }
        UnknownName(message)
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownName {}

/// Truncates untrusted text in a message to 60 characters, which is enough to identify it.
pub fn excerpt(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().nth(SHOWN).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(SHOWN).collect();
    cut.push('…');
    cut
}

/// Assigns names to the variants of an enum: generates `ALL`, `name`, `parse` and `Display`.
#[macro_export]
macro_rules! named_values {
    ($type:ident, $what:literal: $( $variant:ident = $name:literal ),* $(,)?) => {
        impl $type {
            /// All values, in the order of the documentation.
            pub const ALL: &'static [$type] = &[ $( $type::$variant ),* ];

            /// The name in scripts and flags.
            pub const fn name(self) -> &'static str {
                match self { $( $type::$variant => $name, )* }
            }

            /// The value with this name.
            ///
            /// # Errors
            /// If the name is unknown. The message lists the valid names.
            pub fn parse(text: &str) -> Result<$type, $crate::UnknownName> {
                match text {
                    $( $name => Ok($type::$variant), )*
                    other => Err($crate::UnknownName::new($what, other, &[ $( $name ),* ])),
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_suggested() {
        let unknown = UnknownName::new("color", "grean", &["red", "green"]);
        assert_eq!(
            unknown.to_string(),
            "unknown color \"grean\": use red, green; did you mean \"green\"?"
        );
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(excerpt(&"ä".repeat(60)), "ä".repeat(60));
        assert_eq!(excerpt(&"ä".repeat(61)), format!("{}…", "ä".repeat(60)));
    }
}
