//! CSS selectors (Selectors Level 3), with k6's additions: `[name!=value]`, `:has`, `:haschild`, `:input`, `:contains`
//! and `:matches`, and variants of the last two for an element's own text.

use plimsoll_quickjs::give_way;
use regex_lite::Regex;

use super::tree::Node;

/// A list of selectors, at least one of which must match.
#[derive(Debug, Clone)]
pub struct Selectors(Vec<Complex>);

/// Compound selectors from right to left, each with its relation to the one on its left.
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
    Attribute {
        name: String,
        operator: Operator,
        /// In lower case if `ignores_case` is set.
        value: String,
        ignores_case: bool,
    },
    Not(Selectors),
    Holds(Selectors),
    HoldsChild(Selectors),
    Contains(String),
    ContainsItself(String),
    /// In this language. Elements inherit their language.
    Language(String),
    Matches(Regex),
    MatchesItself(Regex),
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
    Enabled,
    Disabled,
    Link,
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
    /// Parses a list of selectors. `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Selectors> {
        let mut reader = Reader {
            rest: text,
            depth: 0,
        };
        let selectors = reader.list()?;
        reader.rest.is_empty().then_some(selectors)
    }

    pub fn matches(&self, node: &Node) -> bool {
        self.0.iter().any(|complex| complex.matches(node, 0))
    }
}

impl Complex {
    /// Whether the compound selectors from index `from` on match at `node`.
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
        // As in k6, the content of an element may also be text.
        if !node.is_element()
            && !matches!(
                self,
                Simple::Contains(_) | Simple::Matches(_) | Simple::Language(_)
            )
        {
            return false;
        }
        let attribute = |name: &str| node.attribute(name);
        match self {
            Simple::Any => true,
            Simple::Tag(name) => node.name().eq_ignore_ascii_case(name),
            Simple::Id(id) => attribute("id") == Some(id),
            Simple::Class(class) => attribute("class").is_some_and(|classes| {
                classes.split_ascii_whitespace().any(|known| known == class)
            }),
            Simple::Has(name) => attribute(name).is_some(),
            Simple::Attribute {
                name,
                operator,
                value,
                ignores_case,
            } => match attribute(name) {
                None => *operator == Operator::Differs,
                Some(found) if *ignores_case => operator.holds(&found.to_lowercase(), value),
                Some(found) => operator.holds(found, value),
            },
            Simple::Not(selectors) => !selectors.matches(node),
            Simple::Holds(selectors) => node.descendants().any(|node| selectors.matches(&node)),
            Simple::HoldsChild(selectors) => {
                let children = node.children();
                children.iter().any(|child| selectors.matches(child))
            }
            Simple::Contains(text) => node.text().contains(text),
            Simple::ContainsItself(text) => node.own_text().contains(text),
            Simple::Language(language) => is_in_language(node, language),
            Simple::Matches(pattern) => is_found(pattern, &node.text()),
            Simple::MatchesItself(pattern) => is_found(pattern, &node.own_text()),
            Simple::Nth {
                step,
                start,
                last,
                same_name,
            } => {
                let (before, after) = sibling_counts(node, *same_name);
                let place = 1 + if *last { after } else { before } as i64;
                let distance = place - start;
                match step {
                    0 => distance == 0,
                    step => distance % step == 0 && distance / step >= 0,
                }
            }
            Simple::Only { same_name } => sibling_counts(node, *same_name) == (0, 0),
            // As in k6, spaces are ignored.
            Simple::Empty => node.children().iter().all(|child| match child.kind() {
                3 => child.value().is_none_or(|text| text.trim().is_empty()),
                kind => kind == 8,
            }),
            Simple::Root => node.parent().is_some_and(|parent| !parent.is_element()),
            Simple::Checked => match node.name() {
                "option" => attribute("selected").is_some(),
                "input" => attribute("checked").is_some(),
                _ => false,
            },
            Simple::Enabled => is_link(node) || is_disabled(node) == Some(false),
            Simple::Disabled => is_disabled(node) == Some(true),
            Simple::Link => is_link(node),
            Simple::Input => is_input(node.name()),
        }
    }
}

fn is_input(name: &str) -> bool {
    matches!(name, "input" | "select" | "textarea" | "button")
}

fn is_link(node: &Node) -> bool {
    matches!(node.name(), "a" | "area" | "link") && node.attribute("href").is_some()
}

/// Whether an element is disabled (HTML, section 4.16.3). Only some elements can be.
fn is_disabled(node: &Node) -> Option<bool> {
    let itself = node.attribute("disabled").is_some();
    match node.name() {
        "fieldset" | "optgroup" | "menuitem" => Some(itself),
        "option" => Some(itself || is_in_disabled_fieldset(node)),
        name if is_input(name) => Some(itself || is_in_disabled_fieldset(node)),
        _ => None,
    }
}

/// Whether the element is in a disabled field set, and not in the field set's legend.
fn is_in_disabled_fieldset(node: &Node) -> bool {
    let mut below = node.clone();
    for outer in node.ancestors() {
        if outer.name() == "fieldset" && outer.attribute("disabled").is_some() {
            let mut children = outer.element_children().into_iter();
            if children.find(|child| child.name() == "legend").as_ref() != Some(&below) {
                return true;
            }
        }
        below = outer;
    }
    false
}

/// The cost of searching one byte, as the number of bytes that could be read in the same time.
const SEARCH: usize = 16;

/// Whether the element or one of its ancestors has the language, or a variant of it such as `en-GB`.
fn is_in_language(node: &Node, language: &str) -> bool {
    let mut around = Some(node.clone());
    while let Some(element) = around {
        let own = element.attribute("lang").unwrap_or_default();
        let variant = own.strip_prefix(language);
        if variant.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) {
            return true;
        }
        around = element.parent();
    }
    false
}

fn is_found(pattern: &Regex, text: &str) -> bool {
    give_way(SEARCH * text.len());
    pattern.is_match(text)
}

/// The numbers of sibling elements before and after the element, optionally only of those with its name.
fn sibling_counts(node: &Node, same_name: bool) -> (usize, usize) {
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
            // As in k6, an empty part matches every value except an empty one.
            _ if value.trim().is_empty() => false,
            Operator::Starts => value.starts_with(wanted),
            Operator::Ends => value.ends_with(wanted),
            Operator::Within => value.contains(wanted),
        }
    }
}

/// Maximum nesting depth of selectors.
const MAX_DEPTH: u32 = 32;

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn list(&mut self) -> Option<Selectors> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
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
        self.skip_whitespace();
        let mut parts = vec![(self.compound()?, Relation::None)];
        loop {
            let blank = self.skip_whitespace();
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
                self.skip_whitespace();
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
                Simple::Id(self.word(true)?)
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
        self.skip_whitespace();
        let name = self.name()?.to_ascii_lowercase();
        self.skip_whitespace();
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
        self.skip_whitespace();
        let value = self.text()?;
        self.skip_whitespace();
        let ignores_case = self.take('i') || self.take('I');
        self.skip_whitespace();
        let value = match ignores_case {
            true => value.to_lowercase(),
            false => value,
        };
        self.take(']').then_some(Simple::Attribute {
            name,
            operator,
            value,
            ignores_case,
        })
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
            self.skip_whitespace();
            let simple = match name.as_str() {
                "not" => Simple::Not(self.list()?),
                "has" => Simple::Holds(self.list()?),
                "haschild" => Simple::HoldsChild(self.list()?),
                "contains" => Simple::Contains(self.text()?),
                "containsown" => Simple::ContainsItself(self.text()?),
                "lang" => Simple::Language(self.name()?.to_ascii_lowercase()),
                "matches" => Simple::Matches(self.pattern()?),
                "matchesown" => Simple::MatchesItself(self.pattern()?),
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
            self.skip_whitespace();
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
            "disabled" => Simple::Disabled,
            "enabled" => Simple::Enabled,
            "link" => Simple::Link,
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

    /// A regular expression up to the parenthesis that closes the pseudo-class.
    fn pattern(&mut self) -> Option<Regex> {
        let mut depth = 0;
        let mut chars = self.rest.char_indices();
        while let Some((place, letter)) = chars.next() {
            match letter {
                '\\' => drop(chars.next()),
                '(' => depth += 1,
                ')' if depth == 0 => {
                    let (pattern, rest) = self.rest.split_at(place);
                    self.rest = rest;
                    return Regex::new(pattern).ok();
                }
                ')' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// A name, or a quoted string.
    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some(quote) = quote else {
            return self.name();
        };
        let mut text = String::new();
        self.rest = self.rest.strip_prefix(quote)?;
        loop {
            let letter = self.rest.chars().next()?;
            self.rest = self.rest.get(letter.len_utf8()..)?;
            match letter {
                '\\' => text.push(self.escaped()?),
                letter if letter == quote => return Some(text),
                letter => text.push(letter),
            }
        }
    }

    /// The character that an escape represents, given the text after its backslash: that character itself, or the one
    /// with that code point (CSS Syntax Level 3, section 4.3.7).
    fn escaped(&mut self) -> Option<char> {
        const MAX_DIGITS: usize = 6;
        let digits = self.rest.bytes().take(MAX_DIGITS);
        let digits = digits.take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let letter = self.rest.chars().next()?;
            self.rest = self.rest.get(letter.len_utf8()..)?;
            return Some(letter);
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest.strip_prefix([' ', '\t', '\n']).unwrap_or(rest);
        let number = u32::from_str_radix(number, 16).ok()?;
        Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn name(&mut self) -> Option<String> {
        self.word(false)
    }

    /// A name. The name of an id may start with a digit, although CSS requires an escape there.
    fn word(&mut self, digit_first: bool) -> Option<String> {
        let mut name = String::new();
        while let Some(letter) = self.rest.chars().next() {
            let fits =
                letter.is_alphanumeric() || matches!(letter, '-' | '_') || !letter.is_ascii();
            let may_start = digit_first || !(name.is_empty() && letter.is_ascii_digit());
            if letter != '\\' && !(fits && may_start) {
                break;
            }
            self.rest = self.rest.get(letter.len_utf8()..)?;
            name.push(match letter {
                '\\' => self.escaped()?,
                letter => letter,
            });
        }
        (!name.is_empty()).then_some(name)
    }

    /// Skips whitespace. Returns whether there was any.
    fn skip_whitespace(&mut self) -> bool {
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
mod tests;
