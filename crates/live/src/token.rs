//! The token of a page that other machines can reach.

/// A token that viewers must present.
#[derive(Clone, Debug)]
pub struct Token(String);

impl Token {
    /// Uses the given token, or creates a random one.
    ///
    /// # Errors
    /// If the given token cannot be part of a URL, or if the system has no random numbers.
    pub fn new(given: Option<String>) -> Result<Token, String> {
        if let Some(given) = given {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            return if given.len() >= 8 && given.bytes().all(is_plain) {
                Ok(Token(given))
            } else {
                Err("PLIMSOLL_WEB_TOKEN: use at least 8 letters, digits, - . _ ~".to_owned())
            };
        }
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| format!("the system has no random numbers for a token: {error}"))?;
        Ok(Token(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// The token as text, for the page's URL.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the presented string is the token. Takes the same time for all strings of its length.
    pub fn is(&self, presented: &str) -> bool {
        let pairs = self.0.bytes().zip(presented.bytes());
        let differing = pairs.fold(0, |sum, (ours, theirs)| sum | (ours ^ theirs));
        presented.len() == self.0.len() && differing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_tokens_differ() {
        let (one, other) = (Token::new(None).unwrap(), Token::new(None).unwrap());
        assert!(one.is(one.text()));
        assert!(!one.is(other.text()) && !one.is("") && !one.is(&one.text()[1..]));
    }

    #[test]
    fn a_given_token_must_fit_into_a_url() {
        assert!(Token::new(Some("long-enough".to_owned())).is_ok());
        for given in ["short", "with space 123", "a&b=cdefgh"] {
            assert!(Token::new(Some(given.to_owned())).is_err(), "{given}");
        }
    }
}
