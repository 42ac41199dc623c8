//! Turns `enum E { A, B = 5 }` into code that builds an object in place.

use std::collections::HashSet;

use oxc_ast::ast::*;
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};

use super::edits::is_newline;
use super::strip::Stripper;

/// The value of a member without an initializer.
enum Next {
    Number(f64),
    /// One more than the value of this member, which is known only at run time.
    After(String),
    /// No value, because the previous member is a string.
    Nothing,
}

impl Stripper<'_> {
    /// `var E = ((E) => { E[E["A"] = 0] = "A"; … return E; })(E || {});`
    pub(super) fn make_enum(&mut self, it: &TSEnumDeclaration<'_>) {
        let name = it.id.name.as_str();
        self.open_object(name, Span::new(it.span.start, it.body.span.start + 1));
        let mut referenced = References::default();
        for initializer in it
            .body
            .members
            .iter()
            .filter_map(|member| member.initializer.as_ref())
        {
            referenced.visit_expression(initializer);
        }
        let mut next = Next::Number(0.0);
        for member in &it.body.members {
            next = self.make_member(name, member, &next, &referenced.0);
        }
        self.close_object(name, it.span.end);
    }

    /// Replaces the start of a declaration, up to its brace, with the start of a function that fills an object of that
    /// name. The object may already exist, because declarations with the same name are merged.
    pub(super) fn open_object(&mut self, name: &str, head: Span) {
        let newlines: String = self.text(head).chars().filter(|&c| is_newline(c)).collect();
        let declare = if self.usage.callables.contains(name) {
            ""
        } else {
            "var "
        };
        self.edits
            .replace(head, format!("{declare}{name} = (({name}) => {{{newlines}"));
    }

    /// Replaces the declaration's closing brace, which ends at `end`.
    pub(super) fn close_object(&mut self, name: &str, end: u32) {
        let brace = Span::new(end - 1, end);
        self.edits
            .replace(brace, format!(" return {name}; }})({name} || {{}});"));
    }

    fn make_member(
        &mut self,
        object: &str,
        member: &TSEnumMember<'_>,
        next: &Next,
        referenced: &HashSet<String>,
    ) -> Next {
        let Some(name) = member_name(&member.id) else {
            self.refuse(
                member.span.start,
                "an enum member's name must be a constant",
            );
            return Next::Nothing;
        };
        let key = format!("{object}[{}]", quoted(&name));
        let back = format!("] = {};", quoted(&name));
        let (mut after, following) = match (&member.initializer, next) {
            (None, Next::Nothing) => {
                self.refuse(
                    member.span.start,
                    &format!("enum member `{name}` follows a string and so needs a value"),
                );
                return Next::Nothing;
            }
            (None, Next::Number(value)) => {
                self.edits
                    .insert(member.span.start, format!("{object}[{key} = {value}{back}"));
                (String::new(), Next::Number(value + 1.0))
            }
            (None, Next::After(before)) => {
                let value = format!("{before} + 1");
                self.edits
                    .insert(member.span.start, format!("{object}[{key} = {value}{back}"));
                (String::new(), Next::After(key.clone()))
            }
            (Some(initializer), _) => {
                let (before, after, following) = match constant(initializer) {
                    Constant::Number(value) => (
                        format!("{object}[{key} = "),
                        back,
                        Next::Number(value + 1.0),
                    ),
                    Constant::String => (format!("{key} = "), ";".to_owned(), Next::Nothing),
                    // Only numbers map back to their names.
                    Constant::Unknown => (
                        format!("typeof ({key} = "),
                        format!(") === \"string\" || ({object}[{key}] = {});", quoted(&name)),
                        Next::After(key.clone()),
                    ),
                };
                self.edits.insert(member.span.start, before);
                self.visit_expression(initializer);
                (after, following)
            }
        };
        // Later members may use this one by its bare name.
        if referenced.contains(&name) {
            after.push_str(&format!(" const {name} = {key};"));
        }
        // Blank the name and the `=`: the inserted text already contains them.
        let value = member
            .initializer
            .as_ref()
            .map_or(member.span.end, |it| it.span().start);
        self.edits.blank(Span::new(member.span.start, value));
        self.edits.insert(member.span.end, after);
        self.blank_comma(member.span.end);
        following
    }

    fn blank_comma(&mut self, from: u32) {
        let at = self.next_token(from);
        let comma = Span::new(at, at + 1);
        if self.text(comma) == "," {
            self.edits.blank(comma);
        }
    }
}

fn member_name(id: &TSEnumMemberName<'_>) -> Option<String> {
    Some(match id {
        TSEnumMemberName::Identifier(id) => id.name.to_string(),
        TSEnumMemberName::String(id) | TSEnumMemberName::ComputedString(id) => id.value.to_string(),
        TSEnumMemberName::ComputedTemplateString(_) => return None,
    })
}

enum Constant {
    Number(f64),
    String,
    Unknown,
}

fn constant(expression: &Expression<'_>) -> Constant {
    match expression {
        Expression::NumericLiteral(literal) => Constant::Number(literal.value),
        Expression::UnaryExpression(unary) => match (unary.operator, constant(&unary.argument)) {
            (UnaryOperator::UnaryNegation, Constant::Number(value)) => Constant::Number(-value),
            (UnaryOperator::UnaryPlus, Constant::Number(value)) => Constant::Number(value),
            _ => Constant::Unknown,
        },
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => Constant::String,
        _ => Constant::Unknown,
    }
}

/// The names that an expression refers to.
#[derive(Default)]
struct References(HashSet<String>);

impl<'a> Visit<'a> for References {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.0.insert(it.name.to_string());
    }
}

/// A JavaScript string literal.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
