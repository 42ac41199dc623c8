//! Words of a POSIX shell: quotes, escapes and continuation lines. Nothing is expanded.

/// The words of each command, or why they cannot be read.
pub(super) fn commands(text: &str) -> Vec<Result<Vec<String>, String>> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        word: None,
        words: Vec::new(),
        commands: Vec::new(),
        problem: None,
    };
    reader.read();
    reader.commands
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    word: Option<String>,
    words: Vec<String>,
    commands: Vec<Result<Vec<String>, String>>,
    /// The first problem of the current command.
    problem: Option<&'static str>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(char) = self.chars.next() {
            match char {
                '\n' | ';' | '|' => self.end_command(),
                '&' if self.chars.peek() == Some(&'&') => {
                    self.chars.next();
                    self.end_command();
                }
                '\r' if self.chars.peek() == Some(&'\n') => {}
                char if char.is_whitespace() => self.end_word(),
                // A comment.
                '#' if self.word.is_none() => {
                    while self.chars.next_if(|char| *char != '\n').is_some() {}
                }
                '\\' => self.escape(),
                '\'' => self.single(),
                '"' => self.double(),
                '$' if self.chars.peek() == Some(&'\'') => {
                    self.chars.next();
                    self.ansi();
                }
                '^' if matches!(self.chars.peek(), Some('"' | '\r' | '\n')) => {
                    self.problem =
                        Some("it is for cmd.exe; copy it for bash, or the HAR of the page");
                }
                '`' if self.chars.peek() == Some(&'\r') || self.chars.peek() == Some(&'\n') => {
                    self.problem =
                        Some("it is for PowerShell; copy it for bash, or the HAR of the page");
                }
                char => self.push(char),
            }
        }
        self.end_command();
    }

    fn push(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        let problem = self.problem.take();
        if words.is_empty() && problem.is_none() {
            return;
        }
        self.commands.push(match problem {
            Some(problem) => Err(problem.to_owned()),
            None => Ok(words),
        });
    }

    fn escape(&mut self) {
        match self.chars.next() {
            // A continuation line.
            Some('\n') | None => {}
            Some('\r') if self.chars.peek() == Some(&'\n') => _ = self.chars.next(),
            Some(char) => self.push(char),
        }
    }

    fn single(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(char) => self.push(char),
                None => return self.problem = Some("a quote is not closed"),
            }
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('"') => return,
                Some('\\') => match self.chars.next() {
                    Some(char @ ('"' | '\\' | '$' | '`')) => self.push(char),
                    Some('\n') => {}
                    Some(char) => {
                        self.push('\\');
                        self.push(char);
                    }
                    None => return self.problem = Some("a quote is not closed"),
                },
                Some(char) => self.push(char),
                None => return self.problem = Some("a quote is not closed"),
            }
        }
    }

    /// `$'…'`: browsers write strings with special characters like this.
    fn ansi(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some('\\') => match self.chars.next() {
                    Some('n') => self.push('\n'),
                    Some('r') => self.push('\r'),
                    Some('t') => self.push('\t'),
                    Some('x') => self.code(2),
                    Some('u') => self.code(4),
                    Some('U') => self.code(8),
                    Some(char) => self.push(char),
                    None => return self.problem = Some("a quote is not closed"),
                },
                Some(char) => self.push(char),
                None => return self.problem = Some("a quote is not closed"),
            }
        }
    }

    /// Reads a character from its code point, which has at most this number of digits.
    fn code(&mut self, digits: usize) {
        let mut number = 0;
        for _ in 0..digits {
            let Some(digit) = self.chars.peek().and_then(|char| char.to_digit(16)) else {
                break;
            };
            self.chars.next();
            number = number * 16 + digit;
        }
        self.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        let read = |text: &str| commands(text);
        let words = |text: &str| read(text).remove(0).unwrap();
        assert_eq!(
            words("curl 'a b' \"c\\\"d\" e\\ f ''"),
            ["curl", "a b", "c\"d", "e f", ""]
        );
        assert_eq!(words("curl \\\n  -H \\\r\n x"), ["curl", "-H", "x"]);
        assert_eq!(words(r"curl $'it\'s \u0021\x41\n'"), ["curl", "it's !A\n"]);
        assert_eq!(
            read("# first\ncurl a\n\ncurl b ;\ncurl c && curl d").len(),
            4
        );
        for broken in [
            "curl 'a",
            "curl \"a",
            "curl \"a\\",
            "curl $'a\\",
            "curl ^\"http://h/^\" ^\n -H a",
        ] {
            assert!(read(broken)[0].is_err(), "{broken}");
        }
        // 8 digits fit in 32 bits.
        assert_eq!(words(r"$'\Uffffffff'"), ["\u{fffd}"]);
    }
}
