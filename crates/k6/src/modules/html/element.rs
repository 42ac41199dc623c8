//! One node with the DOM's interface; properties of the DOM are methods here.

use plimsoll_quickjs::{Call, Class, Context, Entry, Returned, Thrown, give_way};

use super::selection::Selection;
use crate::pure::html::{Node, Selectors};

/// The cost of creating an element for a node, as a number of bytes that could be read in the same
/// time.
const NODE: usize = 256;

pub struct Element(pub Node);

impl Element {
    pub fn or_undefined(context: &Context, node: Option<Node>) -> Returned<'_> {
        match node {
            Some(node) => context.instance(Element(node)),
            None => Ok(context.undefined()),
        }
    }
}

/// A method that returns an attribute, or an empty string if it is absent.
macro_rules! attribute {
    ($name:literal, $attribute:literal) => {
        Entry::function($name, 0, |context, call| {
            let node = node(context, call)?;
            context.string(node.attribute($attribute).unwrap_or_default())
        })
    };
}

impl Class for Element {
    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"nodeName", 0, |context, call| {
                context.string(node(context, call)?.name())
            }),
            Entry::function(c"nodeType", 0, |context, call| {
                Ok(context.number(node(context, call)?.kind()))
            }),
            Entry::function(c"nodeValue", 0, |context, call| {
                match node(context, call)?.value() {
                    Some(text) => context.string(text),
                    None => Ok(context.undefined()),
                }
            }),
            Entry::function(c"toString", 0, |context, _| {
                context.string("[object html.Node]")
            }),
            Entry::function(c"textContent", 0, text),
            Entry::function(c"text", 0, text),
            Entry::function(c"innerHTML", 0, |context, call| {
                context.string(&node(context, call)?.inner_html())
            }),
            attribute!(c"id", "id"),
            attribute!(c"className", "class"),
            attribute!(c"name", "name"),
            attribute!(c"href", "href"),
            attribute!(c"src", "src"),
            attribute!(c"rel", "rel"),
            attribute!(c"alt", "alt"),
            attribute!(c"action", "action"),
            attribute!(c"target", "target"),
            attribute!(c"placeholder", "placeholder"),
            Entry::function(c"type", 0, |context, call| {
                let node = node(context, call)?;
                let default = if node.name() == "input" { "text" } else { "" };
                context.string(node.attribute("type").unwrap_or(default))
            }),
            Entry::function(c"method", 0, |context, call| {
                let node = node(context, call)?;
                // As in k6, only lower-case values count.
                let known = |method: &&str| matches!(*method, "get" | "post" | "dialog");
                context.string(node.attribute("method").filter(known).unwrap_or("get"))
            }),
            Entry::function(c"value", 0, |context, call| {
                super::values::value(context, &node(context, call)?)
            }),
            Entry::function(c"checked", 0, |context, call| {
                flag(context, call, "checked")
            }),
            Entry::function(c"disabled", 0, |context, call| {
                flag(context, call, "disabled")
            }),
            Entry::function(c"selected", 0, |context, call| {
                flag(context, call, "selected")
            }),
            Entry::function(c"pathname", 0, |context, call| {
                let node = node(context, call)?;
                let href = node.attribute("href").unwrap_or_default();
                let path = href.split_once("://").map_or(href, |(_, rest)| {
                    rest.find('/')
                        .and_then(|at| rest.get(at..))
                        .unwrap_or_default()
                });
                context.string(path.split(['?', '#']).next().unwrap_or_default())
            }),
            Entry::function(c"getAttribute", 1, |context, call| {
                let name = call.argument(0).to_text()?;
                match node(context, call)?.attribute(&name) {
                    Some(value) => context.string(value),
                    None => Ok(context.undefined()),
                }
            }),
            Entry::function(c"hasAttribute", 1, |context, call| {
                let name = call.argument(0).to_text()?;
                Ok(context.bool(node(context, call)?.attribute(&name).is_some()))
            }),
            Entry::function(c"hasAttributes", 0, |context, call| {
                Ok(context.bool(node(context, call)?.attributes().next().is_some()))
            }),
            Entry::function(c"attributes", 0, |context, call| {
                let object = context.object()?;
                for (name, value) in node(context, call)?.attributes() {
                    let attribute = context.object()?;
                    attribute.define("name", context.string(name)?)?;
                    attribute.define("value", context.string(value)?)?;
                    object.define(name, attribute)?;
                }
                Ok(object)
            }),
            Entry::function(c"classList", 0, |context, call| {
                let node = node(context, call)?;
                let classes = node.attribute("class").unwrap_or_default();
                let classes: Vec<&str> = classes.split_ascii_whitespace().collect();
                context.strings(classes.iter())
            }),
            Entry::function(c"childElementCount", 0, |context, call| {
                Ok(context.number(node(context, call)?.element_children().len() as f64))
            }),
            Entry::function(c"hasChildNodes", 0, |context, call| {
                Ok(context.bool(!node(context, call)?.children().is_empty()))
            }),
            Entry::function(c"childNodes", 0, |context, call| {
                list(context, node(context, call)?.children())
            }),
            Entry::function(c"children", 0, |context, call| {
                list(context, node(context, call)?.element_children())
            }),
            Entry::function(c"elements", 0, |context, call| {
                let node = node(context, call)?;
                let input = Selectors::parse(":input");
                let fields = node
                    .descendants()
                    .filter(|n| input.as_ref().is_some_and(|i| i.matches(n)));
                list(context, fields.collect())
            }),
            Entry::function(c"firstChild", 0, |context, call| {
                Element::or_undefined(context, node(context, call)?.children().first().cloned())
            }),
            Entry::function(c"lastChild", 0, |context, call| {
                Element::or_undefined(context, node(context, call)?.children().pop())
            }),
            Entry::function(c"firstElementChild", 0, |context, call| {
                Element::or_undefined(
                    context,
                    node(context, call)?.element_children().first().cloned(),
                )
            }),
            Entry::function(c"lastElementChild", 0, |context, call| {
                Element::or_undefined(context, node(context, call)?.element_children().pop())
            }),
            Entry::function(c"nextElementSibling", 0, |context, call| {
                let (all, place) = node(context, call)?.siblings();
                Element::or_undefined(context, all.get(place + 1).cloned())
            }),
            Entry::function(c"previousElementSibling", 0, |context, call| {
                let (all, place) = node(context, call)?.siblings();
                let before = place.checked_sub(1).and_then(|at| all.get(at));
                Element::or_undefined(context, before.cloned())
            }),
            Entry::function(c"parentNode", 0, |context, call| {
                Element::or_undefined(context, node(context, call)?.parent())
            }),
            Entry::function(c"parentElement", 0, |context, call| {
                Element::or_undefined(context, node(context, call)?.ancestors().next())
            }),
            Entry::function(c"ownerDocument", 0, |context, call| {
                Element::or_undefined(context, Some(node(context, call)?.root()))
            }),
            Entry::function(c"form", 0, |context, call| {
                let form = node(context, call)?
                    .ancestors()
                    .find(|node| node.name() == "form");
                Element::or_undefined(context, form)
            }),
            Entry::function(c"querySelector", 1, |context, call| {
                Element::or_undefined(context, search(context, call)?.into_iter().next())
            }),
            Entry::function(c"querySelectorAll", 1, |context, call| {
                list(context, search(context, call)?)
            }),
            Entry::function(c"matches", 1, |context, call| {
                let selectors = Selectors::parse(&call.argument(0).to_text()?);
                let node = node(context, call)?;
                Ok(context.bool(selectors.is_some_and(|selectors| selectors.matches(&node))))
            }),
            Entry::function(c"isSameNode", 1, |context, call| {
                let node = node(context, call)?;
                let other = call.argument(0);
                let same = other
                    .instance::<Element>()
                    .is_some_and(|other| other.0 == node);
                Ok(context.bool(same))
            }),
            Entry::function(c"selection", 0, |context, call| {
                context.instance(Selection::of(vec![node(context, call)?]))
            }),
        ];
        ENTRIES
    }
}

fn node(context: &Context, call: &Call<'_>) -> Result<Node, Thrown> {
    match call.this().instance::<Element>() {
        Some(element) => Ok(element.0.clone()),
        None => Err(context.throw_type("not an element")),
    }
}

fn text<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    context.string(&node(context, call)?.text())
}

fn flag<'c>(context: &'c Context, call: &Call<'c>, name: &str) -> Returned<'c> {
    Ok(context.bool(node(context, call)?.attribute(name).is_some()))
}

fn list(context: &Context, nodes: Vec<Node>) -> Returned<'_> {
    let each: Result<Vec<_>, Thrown> = nodes
        .into_iter()
        .map(|node| {
            give_way(NODE);
            context.instance(Element(node))
        })
        .collect();
    context.array(each?)
}

fn search(context: &Context, call: &Call<'_>) -> Result<Vec<Node>, Thrown> {
    let selectors = Selectors::parse(&call.argument(0).to_text()?);
    let node = node(context, call)?;
    let found = node
        .descendants()
        .filter(|n| selectors.as_ref().is_some_and(|s| s.matches(n)));
    Ok(found.collect())
}
