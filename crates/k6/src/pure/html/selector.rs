//! CSS selectors (the parts of Selectors Level 4 that are used to search pages), with jQuery's `:contains` and
//! `:input`.

use super::tree::Node;

/// A list of selectors, at least one of which must match.
#[derive(Debug, Clone)]
pub struct Selectors(Vec<Complex>);

/// Compounds from right to left, each with its relation to the one on its left.
#[derive(Debug, Clone)]
struct Complex(Vec<(Vec<Simple>, Relation)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    None,
    Ancestor,
    Parent,
    Before,
    JustBefore,
}

#[derive(Debug, Clone)]
enum Simple {
    Any,
    Tag(String),
    Id(String),
    Class(String),
    Has(String),
    Attribute(String, Operator, String),
    Not(Selectors),
    Is(Selectors),
    Holds(Selectors),
    Contains(String),
    Nth {
        step: i64,
        start: i64,
        last: bool,
        same_name: bool,
    },
    Only {
        same_name: bool,
    },
    Empty,
    Root,
    Checked,
    Disabled(bool),
    Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals,
    Differs,
    Word,
    Dash,
    Starts,
    Ends,
    Within,
}

impl Selectors {
    /// Parses a list of selectors; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Selectors> {
        let mut reader = Reader {
            rest: text,
            depth: 0,
        };
        let selectors = reader.list()?;
        reader.rest.is_empty().then_some(selectors)
    }

    pub fn matches(&self, node: &Node) -> bool {
        node.is_element() && self.0.iter().any(|complex| complex.matches(node, 0))
    }
}

impl Complex {
    /// Whether the compounds from `from` on match at `node`.
    fn matches(&self, node: &Node, from: usize) -> bool {
        let Some((compound, relation)) = self.0.get(from) else {
            return true;
        };
        if !compound.iter().all(|simple| simple.matches(node)) {
            return false;
        }
        let next = |node: &Node| self.matches(node, from + 1);
        match relation {
            Relation::None => true,
            Relation::Parent => node
                .parent()
                .is_some_and(|parent| parent.is_element() && next(&parent)),
            Relation::Ancestor => node.ancestors().any(|node| next(&node)),
            Relation::Before => {
                let (all, place) = node.siblings();
                all.iter().take(place).any(next)
            }
            Relation::JustBefore => {
                let (all, place) = node.siblings();
                place
                    .checked_sub(1)
                    .and_then(|at| all.get(at))
                    .is_some_and(next)
            }
        }
    }
}

impl Simple {
    fn matches(&self, node: &Node) -> bool {
        let attribute = |name: &str| node.attribute(name);
        match self {
            Simple::Any => true,
            Simple::Tag(name) => node.name().eq_ignore_ascii_case(name),
            Simple::Id(id) => attribute("id") == Some(id),
            Simple::Class(class) => attribute("class").is_some_and(|classes| {
                classes.split_ascii_whitespace().any(|known| known == class)
            }),
            Simple::Has(name) => attribute(name).is_some(),
            Simple::Attribute(name, Operator::Differs, wanted) => attribute(name) != Some(wanted),
            Simple::Attribute(name, operator, wanted) => {
                attribute(name).is_some_and(|value| operator.holds(value, wanted))
            }
            Simple::Not(selectors) => !selectors.matches(node),
            Simple::Is(selectors) => selectors.matches(node),
            Simple::Holds(selectors) => node.descendants().any(|node| selectors.matches(&node)),
            Simple::Contains(text) => node.text().contains(text),
            Simple::Nth {
                step,
                start,
                last,
                same_name,
            } => {
                let (before, after) = beside(node, *same_name);
                let place = 1 + if *last { after } else { before } as i64;
                let distance = place - start;
                match step {
                    0 => distance == 0,
                    step => distance % step == 0 && distance / step >= 0,
                }
            }
            Simple::Only { same_name } => beside(node, *same_name) == (0, 0),
            Simple::Empty => node.children().iter().all(|child| child.kind() == 8),
            Simple::Root => node.parent().is_some_and(|parent| !parent.is_element()),
            Simple::Checked => match node.name() {
                "option" => attribute("selected").is_some(),
                "input" => attribute("checked").is_some(),
                _ => false,
            },
            Simple::Disabled(wanted) => {
                is_input(node.name()) && attribute("disabled").is_some() == *wanted
            }
            Simple::Input => is_input(node.name()),
        }
    }
}

fn is_input(name: &str) -> bool {
    matches!(name, "input" | "select" | "textarea" | "button")
}

/// The number of sibling elements before and after it, optionally only those with its name.
fn beside(node: &Node, same_name: bool) -> (usize, usize) {
    let (all, place) = node.siblings();
    let counts = |other: &&Node| !same_name || other.name() == node.name();
    let before = all.iter().take(place).filter(counts).count();
    (before, all.iter().skip(place + 1).filter(counts).count())
}

impl Operator {
    fn holds(self, value: &str, wanted: &str) -> bool {
        match self {
            Operator::Equals => value == wanted,
            Operator::Differs => value != wanted,
            Operator::Word => value.split_ascii_whitespace().any(|word| word == wanted),
            Operator::Dash => value
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
            Operator::Starts => !wanted.is_empty() && value.starts_with(wanted),
            Operator::Ends => !wanted.is_empty() && value.ends_with(wanted),
            Operator::Within => !wanted.is_empty() && value.contains(wanted),
        }
    }
}

/// Deepest nesting of selectors.
const DEEPEST: u32 = 32;

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn list(&mut self) -> Option<Selectors> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut list = vec![self.complex()?];
        while self.take(',') {
            list.push(self.complex()?);
        }
        self.depth -= 1;
        Some(Selectors(list))
    }

    fn complex(&mut self) -> Option<Complex> {
        self.blanks();
        let mut parts = vec![(self.compound()?, Relation::None)];
        loop {
            let blank = self.blanks();
            let relation = match self.rest.chars().next() {
                Some('>') => Relation::Parent,
                Some('+') => Relation::JustBefore,
                Some('~') => Relation::Before,
                None | Some(',' | ')') => break,
                Some(_) if blank => Relation::Ancestor,
                Some(_) => return None,
            };
            if relation != Relation::Ancestor {
                self.rest = self.rest.get(1..)?;
                self.blanks();
            }
            parts.push((self.compound()?, relation));
        }
        parts.reverse();
        Some(Complex(parts))
    }

    fn compound(&mut self) -> Option<Vec<Simple>> {
        let mut simples = Vec::new();
        if self.take('*') {
            simples.push(Simple::Any);
        } else if let Some(name) = self.name() {
            simples.push(Simple::Tag(name));
        }
        loop {
            let simple = if self.take('#') {
                Simple::Id(self.name()?)
            } else if self.take('.') {
                Simple::Class(self.name()?)
            } else if self.take('[') {
                self.attribute()?
            } else if self.take(':') {
                self.pseudo_class()?
            } else {
                break;
            };
            simples.push(simple);
        }
        (!simples.is_empty()).then_some(simples)
    }

    fn attribute(&mut self) -> Option<Simple> {
        self.blanks();
        let name = self.name()?.to_ascii_lowercase();
        self.blanks();
        if self.take(']') {
            return Some(Simple::Has(name));
        }
        let operator = match self.rest.chars().next()? {
            '=' => Operator::Equals,
            '!' => Operator::Differs,
            '~' => Operator::Word,
            '|' => Operator::Dash,
            '^' => Operator::Starts,
            '$' => Operator::Ends,
            '*' => Operator::Within,
            _ => return None,
        };
        if operator != Operator::Equals {
            self.rest = self.rest.get(1..)?;
        }
        if !self.take('=') {
            return None;
        }
        self.blanks();
        let value = self.text()?;
        self.blanks();
        self.take(']')
            .then_some(Simple::Attribute(name, operator, value))
    }

    fn pseudo_class(&mut self) -> Option<Simple> {
        let name = self.name()?.to_ascii_lowercase();
        let nth = |step, start, last, same_name| Simple::Nth {
            step,
            start,
            last,
            same_name,
        };
        if self.take('(') {
            self.blanks();
            let simple = match name.as_str() {
                "not" => Simple::Not(self.list()?),
                "is" | "where" | "matches" => Simple::Is(self.list()?),
                "has" => Simple::Holds(self.list()?),
                "contains" => Simple::Contains(self.text()?),
                "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
                    let (step, start) = self.formula()?;
                    nth(
                        step,
                        start,
                        name.contains("last"),
                        name.ends_with("of-type"),
                    )
                }
                _ => return None,
            };
            self.blanks();
            return self.take(')').then_some(simple);
        }
        Some(match name.as_str() {
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => Simple::Only { same_name: false },
            "only-of-type" => Simple::Only { same_name: true },
            "empty" => Simple::Empty,
            "root" => Simple::Root,
            "checked" => Simple::Checked,
            "disabled" => Simple::Disabled(true),
            "enabled" => Simple::Disabled(false),
            "input" => Simple::Input,
            _ => return None,
        })
    }

    /// `odd`, `even`, `3`, `2n+1`.
    fn formula(&mut self) -> Option<(i64, i64)> {
        let end = self.rest.find(')')?;
        let (formula, rest) = self.rest.split_at(end);
        self.rest = rest;
        let formula: String = formula.chars().filter(|c| !c.is_whitespace()).collect();
        let formula = formula.to_ascii_lowercase();
        match formula.as_str() {
            "odd" => return Some((2, 1)),
            "even" => return Some((2, 0)),
            _ => {}
        }
        let Some((step, start)) = formula.split_once('n') else {
            return Some((0, formula.parse().ok()?));
        };
        let step = match step {
            "" | "+" => 1,
            "-" => -1,
            number => number.parse().ok()?,
        };
        let start = if start.is_empty() {
            0
        } else {
            start.parse().ok()?
        };
        Some((step, start))
    }

    /// A name, or quoted text.
    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some(quote) = quote else {
            return self.name();
        };
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((place, letter)) = letters.next() {
            match letter {
                '\\' => text.push(letters.next()?.1),
                letter if letter == quote => {
                    self.rest = self.rest.get(place + 1..)?;
                    return Some(text);
                }
                letter => text.push(letter),
            }
        }
        None
    }

    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        let mut letters = self.rest.char_indices().peekable();
        let mut end = 0;
        while let Some((place, letter)) = letters.next() {
            let fits =
                letter.is_alphanumeric() || matches!(letter, '-' | '_') || !letter.is_ascii();
            if letter == '\\' {
                name.push(letters.next()?.1);
            } else if fits && !(name.is_empty() && letter.is_ascii_digit()) {
                name.push(letter);
            } else {
                end = place;
                break;
            }
            end = letters.peek().map_or(self.rest.len(), |(next, _)| *next);
        }
        self.rest = self.rest.get(end..)?;
        (!name.is_empty()).then_some(name)
    }

    /// Skips white space; returns whether there was any.
    fn blanks(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    fn take(&mut self, letter: char) -> bool {
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const PAGE: &str = "<div id=a class='x y'><p>one</p><p lang=en-GB>two <b>bold</b></p><span></span></div><p>three</p>";

    fn count(selector: &str) -> Option<usize> {
        let selectors = Selectors::parse(selector)?;
        let document = parse(PAGE);
        Some(
            document
                .descendants()
                .filter(|node| selectors.matches(node))
                .count(),
        )
    }

    #[test]
    fn elements_are_found() {
        for (selector, expected) in [
            ("p", 3),
            ("#a > p", 2),
            ("div p", 2),
            (".x.y", 1),
            ("p + p", 1),
            ("p ~ span", 1),
            ("p:not(:first-child)", 2),
            ("p:has(b), span:empty", 2),
            ("p:contains('thr')", 1),
            ("[lang|=en]", 1),
            ("[class~=y][id^='a']", 1),
            ("p:nth-child(2n+1)", 1),
            ("div > :last-child", 1),
            (":root", 1),
            ("p:nth-of-type(2)", 1),
            ("a\\.b", 0),
        ] {
            assert_eq!(count(selector), Some(expected), "{selector}");
        }
    }

    #[test]
    fn invalid_selectors_are_refused() {
        for text in [
            "",
            "p[",
            "::x",
            "p >",
            ",",
            "p:nth-child(x)",
            "1",
            "[a=",
            ":not(",
            "a b)",
        ] {
            assert!(Selectors::parse(text).is_none(), "{text}");
        }
        assert!(Selectors::parse(&":not(".repeat(1000)).is_none());
    }
}
