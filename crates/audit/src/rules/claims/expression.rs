//! "100 % - (343 / 444) * 100 % = 33 %" in a line of prose or code: an expression with brackets
//! whose stated result is wrong.

use crate::finding::Level;
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

/// Programming languages, in which such a line is not arithmetic.
const PROGRAMS: [&str; 24] = [
    "js",
    "javascript",
    "ts",
    "typescript",
    "py",
    "python",
    "go",
    "rust",
    "java",
    "c",
    "cpp",
    "c++",
    "csharp",
    "cs",
    "ruby",
    "rb",
    "php",
    "kotlin",
    "scala",
    "sql",
    "lua",
    "yaml",
    "yml",
    "json",
];
const MAX_LENGTH: usize = 300;

/// Factors of units that may be missing on one side.
const SCALES: [f64; 7] = [1.0, 100.0, 1e3, 60.0, 1024.0, 1e6, 3600.0];

pub fn check_lines(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let program = |line: usize| {
        report.document.codes.iter().any(|code| {
            let language = code.language.to_lowercase();
            (code.line..=code.last_line).contains(&line) && PROGRAMS.contains(&language.as_str())
        })
    };
    let lines: Vec<&str> = report.text.lines().take(50_000).collect();
    for (at, line) in lines.iter().enumerate() {
        if line.len() > MAX_LENGTH || report.is_output(at + 1) || program(at + 1) {
            continue;
        }
        let joined = lines
            .get(at + 1)
            .and_then(|next| join_result_line(line, next));
        let line = joined.as_deref().unwrap_or(line).replace(" ≈ ", " = ");
        let line = line.as_str();
        if !line.contains(" = ") || !line.contains(['(', '×', '÷', '*', '/']) {
            continue;
        }
        let Some((expression, value, claimed, step)) = split_equation(line) else {
            continue;
        };
        // The terms are rounded, too.
        let near = |value: f64| (claimed - value).abs() <= step + 0.03 * value.abs();
        let right = SCALES
            .iter()
            .any(|scale| near(value * scale) || near(value / scale));
        if right || findings.found.iter().any(|found| found.line == at + 1) {
            continue;
        }
        findings.page(
            "ratio-misstated",
            Level::Warning,
            at + 1,
            [
                format!("\"{}\"", shorten(line.trim())),
                format!(
                    "{expression} = {}, not {}",
                    format_number(value),
                    format_number(claimed)
                ),
                "Recalculate it.".to_owned(),
            ],
        );
    }
}

/// Joins a calculation whose result is on the next line: `4 × 250 req/s` and `= 1000 req/s`.
fn join_result_line(line: &str, next: &str) -> Option<String> {
    let result = next.trim_start_matches([' ', '-', '*', '>', '\t']);
    let result = result.strip_prefix(['=', '≈'])?.trim_start();
    let starts = result.starts_with(|letter: char| letter.is_ascii_digit());
    (starts && next.len() <= MAX_LENGTH).then(|| {
        format!(
            "{} = {result}",
            line.trim_end().trim_end_matches('=').trim_end()
        )
    })
}

/// Splits the last equation of a line into the expression, its value, and the number on the right
/// with its step. The expression must have an operator between spaces or brackets.
fn split_equation(line: &str) -> Option<(String, f64, f64, f64)> {
    let (left, right) = line.rsplit_once(" = ")?;
    let digits: String = right
        .trim_start()
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ','))
        .collect();
    let (claimed, step) = parse_number(digits.trim_end_matches(['.', ',']))?;
    let left = left.rsplit(['=', ':', '>', '→', ';', '|']).next()?;
    let left = left.trim().trim_start_matches(['*', '`', '-', ' ']);
    const SPACED: [&str; 4] = [" × ", " ÷ ", " * ", " / "];
    let operated = left.contains('(') || SPACED.iter().any(|sign| left.contains(sign));
    if !operated || !left.starts_with(|c: char| c.is_ascii_digit() || c == '(') {
        return None;
    }
    let tokens = tokenize(left)?;
    let operators = tokens
        .iter()
        .filter(|token| matches!(token, Token::Operator(_)))
        .count();
    let mut parser = Parser { tokens, at: 0 };
    let value = parser.parse_sum()?;
    let whole = parser.at == parser.tokens.len() && operators > 0;
    let sensible = value.is_finite() && value > 0.0 && claimed > 0.0;
    (whole && sensible).then(|| (left.to_owned(), value, claimed, step))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(f64),
    Operator(char),
    Open,
    Close,
}

/// Splits an expression into tokens. Skips percent signs, and units after a number or a bracket.
fn tokenize(text: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let letters: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < letters.len() && tokens.len() < 64 {
        let letter = letters[at];
        let operand = matches!(tokens.last(), Some(Token::Number(_) | Token::Close));
        match letter {
            letter if letter.is_whitespace() => {}
            '%' if operand => {}
            letter if letter.is_ascii_digit() && !operand => {
                let mut end = at;
                while end < letters.len()
                    && (letters[end].is_ascii_digit() || matches!(letters[end], '.' | ','))
                {
                    end += 1;
                }
                let digits: String = letters[at..end].iter().collect();
                tokens.push(Token::Number(parse_number(&digits)?.0));
                at = end;
                continue;
            }
            '+' | '*' | '/' | '×' | '÷' if operand => tokens.push(Token::Operator(letter)),
            '-' | '−' | '–' if operand => {
                // `10-20` is a range.
                let apart = at > 0 && letters[at - 1].is_whitespace()
                    || tokens.last() == Some(&Token::Close);
                if !apart {
                    return None;
                }
                tokens.push(Token::Operator('-'));
            }
            '(' if !operand => tokens.push(Token::Open),
            ')' if operand => tokens.push(Token::Close),
            letter if letter.is_alphabetic() && operand => {
                let mut end = at;
                while end < letters.len() && (letters[end].is_alphabetic() || letters[end] == '/') {
                    end += 1;
                }
                if end - at > 8 {
                    return None;
                }
                at = end;
                continue;
            }
            _ => return None,
        }
        at += 1;
    }
    Some(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn parse_operator(&mut self, expected: &[char]) -> Option<char> {
        let Some(Token::Operator(sign)) = self.tokens.get(self.at) else {
            return None;
        };
        let sign = *sign;
        expected.contains(&sign).then(|| {
            self.at += 1;
            sign
        })
    }

    fn parse_sum(&mut self) -> Option<f64> {
        let mut value = self.parse_product()?;
        while let Some(sign) = self.parse_operator(&['+', '-']) {
            let next = self.parse_product()?;
            value += if sign == '-' { -next } else { next };
        }
        Some(value)
    }

    fn parse_product(&mut self) -> Option<f64> {
        let mut value = self.parse_term()?;
        while let Some(sign) = self.parse_operator(&['*', '×', '/', '÷']) {
            let next = self.parse_term()?;
            value = match sign {
                '/' | '÷' => value / next,
                _ => value * next,
            };
        }
        Some(value)
    }

    /// The recursion depth is bounded by the number of tokens, which is small.
    fn parse_term(&mut self) -> Option<f64> {
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            Token::Number(value) => Some(value),
            Token::Open => {
                let value = self.parse_sum()?;
                let close = self.tokens.get(self.at) == Some(&Token::Close);
                self.at += 1;
                close.then_some(value)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{join_result_line, split_equation};

    #[test]
    fn expressions_with_brackets_are_computed() {
        let value =
            |line: &str| split_equation(line).map(|(_, value, claimed, _)| (value, claimed));
        let (right, claimed) = value("faster by -> 100 % - ((300/400) * 100 %) = 33 %").unwrap();
        assert!((right - 25.0).abs() < 1e-9);
        assert_eq!(claimed, 33.0);
        assert_eq!(
            value("- 4 workers × 250 req/s = 900"),
            Some((1000.0, 900.0))
        );
        assert_eq!(
            join_result_line("  4 × 250 req/s", "  = 900 req/s").as_deref(),
            Some("  4 × 250 req/s = 900 req/s")
        );
        assert_eq!(join_result_line("4 × 250", "= all"), None);
        assert_eq!(value("mean = (2 + 4 + 6) ms / 3 = 4 ms"), Some((4.0, 4.0)));
        for none in [
            "x = f(3) = 4",
            "(10-20) = 15",
            "- [ ] item (one) = 3",
            "1 + 2 = 4",
            "/ 5 = 3",
            "4 / 5",
            "(3 = 4",
            "total (all) = 12",
        ] {
            assert_eq!(value(none), None, "{none}");
        }
    }
}
