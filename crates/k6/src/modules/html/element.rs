//! A node with the DOM's interface. Properties of the DOM are methods here.

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, give_way};

use super::attribute::Attribute;
use super::selection::Selection;
use super::typed;
use crate::pure::html::{Node, Selectors};
use crate::pure::link::Link;

/// The cost of creating an element for a node, as the number of bytes that could be read in the same time.
const NODE: usize = 256;

/// The namespace of all elements and attributes.
pub const NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

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

/// A method that returns whether an attribute is present.
macro_rules! flag {
    ($name:literal, $attribute:literal) => {
        Entry::function($name, 0, |context, call| {
            Ok(context.bool(node(context, call)?.attribute($attribute).is_some()))
        })
    };
}

/// A method that returns an attribute as a whole number.
macro_rules! number {
    ($name:literal, $attribute:literal, $default:literal) => {
        Entry::function($name, 0, |context, call| {
            let node = node(context, call)?;
            Ok(context.number(typed::number(&node, $attribute, $default) as f64))
        })
    };
}

/// A method that returns an attribute with a fixed set of values. The first value is the default.
macro_rules! one_of {
    ($name:literal, $attribute:literal, $values:expr) => {
        Entry::function($name, 0, |context, call| {
            let node = node(context, call)?;
            context.string(typed::one_of(&node, $attribute, &$values))
        })
    };
}

/// A method without arguments. The parameter computes its result for a node.
macro_rules! method {
    ($name:literal, |$context:ident, $node:ident| $body:expr) => {
        Entry::function($name, 0, |$context, call| {
            let $node = &node($context, call)?;
            $body
        })
    };
}

/// A method that returns a part of the address in `href`.
macro_rules! link {
    ($name:literal, |$link:ident| $part:expr) => {
        Entry::function($name, 0, |context, call| {
            let node = node(context, call)?;
            let $link = Link::parse(node.attribute("href").unwrap_or_default());
            context.string(AsRef::<str>::as_ref(&$part))
        })
    };
}

impl Class for Element {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"nodeName", 0, |context, call| {
                context.string(node(context, call)?.name())
            }),
            Entry::function(c"nodeType", 0, |context, call| {
                Ok(context.number(node(context, call)?.kind()))
            }),
            Entry::function(c"nodeValue", 0, |context, call| {
                let node = node(context, call)?;
                match node.value() {
                    // As in k6, a comment has no text.
                    Some(_) if node.name() == "#comment" => context.string(""),
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
            Entry::function(c"className", 0, |context, call| {
                optional(context, node(context, call)?.attribute("class"))
            }),
            Entry::function(c"lang", 0, |context, call| {
                optional(context, node(context, call)?.attribute("lang"))
            }),
            attribute!(c"name", "name"),
            attribute!(c"href", "href"),
            attribute!(c"src", "src"),
            attribute!(c"rel", "rel"),
            attribute!(c"alt", "alt"),
            attribute!(c"action", "action"),
            attribute!(c"target", "target"),
            attribute!(c"placeholder", "placeholder"),
            method!(c"type", |context, node| context.string(typed::kind(node))),
            Entry::function(c"method", 0, |context, call| {
                let node = node(context, call)?;
                // As in k6, only lowercase values count.
                let known = |method: &&str| matches!(*method, "get" | "post");
                context.string(node.attribute("method").filter(known).unwrap_or("get"))
            }),
            method!(c"value", |context, node| typed::value(context, node)),
            flag!(c"checked", "checked"),
            flag!(c"selected", "selected"),
            method!(c"disabled", |context, node| Ok(
                context.bool(typed::disabled(node))
            )),
            link!(c"hash", |link| link.hash()),
            link!(c"host", |link| link.host()),
            link!(c"hostname", |link| link.hostname()),
            link!(c"origin", |link| link.origin()),
            link!(c"password", |link| link.password),
            link!(c"pathname", |link| link.path),
            link!(c"port", |link| link.port()),
            link!(c"protocol", |link| link.protocol()),
            link!(c"search", |link| link.search()),
            link!(c"username", |link| link.username),
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
                let node = node(context, call)?;
                for attribute in node.qualified_attributes() {
                    let (_, name, _) = attribute;
                    object.define(name, Attribute::instance(context, &node, attribute)?)?;
                }
                Ok(object)
            }),
            Entry::function(c"getAttributeNode", 1, |context, call| {
                let name = call.argument(0).to_text()?;
                let node = node(context, call)?;
                let mut attributes = node.qualified_attributes();
                match attributes.find(|(_, known, _)| *known == &*name) {
                    Some(attribute) => Attribute::instance(context, &node, attribute),
                    None => Ok(context.undefined()),
                }
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
            method!(c"elements", |context, node| list(
                context,
                typed::fields(node)
            )),
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
            method!(c"form", |context, node| Element::or_undefined(
                context,
                typed::form(node)
            )),
            method!(c"nextSibling", |context, node| Element::or_undefined(
                context,
                typed::adjacent_siblings(node).1
            )),
            method!(c"previousSibling", |context, node| Element::or_undefined(
                context,
                typed::adjacent_siblings(node).0
            )),
            Entry::function(c"getElementsByClassName", 1, |context, call| {
                let name = call.argument(0).to_text()?;
                let has = |node: &Node| {
                    let classes = node.attribute("class").unwrap_or_default();
                    classes
                        .split_ascii_whitespace()
                        .any(|class| class == &*name)
                };
                list(context, elements(&node(context, call)?, has))
            }),
            Entry::function(c"getElementsByTagName", 1, |context, call| {
                let name = call.argument(0).to_text()?.to_ascii_lowercase();
                let has = |node: &Node| name == "*" || node.name() == name;
                list(context, elements(&node(context, call)?, has))
            }),
            Entry::function(c"contains", 1, |context, call| {
                let node = node(context, call)?;
                let other = call.argument(0);
                let inside = other.instance::<Element>().is_some_and(|other| {
                    std::iter::successors(other.0.parent(), Node::parent).any(|up| up == node)
                });
                Ok(context.bool(inside))
            }),
            Entry::function(c"isEqualNode", 1, |context, call| {
                let node = node(context, call)?;
                let other = call.argument(0);
                let same = other.instance::<Element>().is_some_and(|other| {
                    node == other.0
                        || (node.name() == other.0.name()
                            && node.value() == other.0.value()
                            && node.attributes().eq(other.0.attributes())
                            && node.inner_html() == other.0.inner_html())
                });
                Ok(context.bool(same))
            }),
            Entry::function(
                c"isDefaultNamespace",
                0,
                |context, _| Ok(context.bool(true)),
            ),
            Entry::function(c"namespaceURI", 0, |context, _| context.string(NAMESPACE)),
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
            attribute!(c"abbr", "abbr"),
            attribute!(c"accept", "accept"),
            attribute!(c"acceptCharset", "accept-charset"),
            attribute!(c"accessKey", "accesskey"),
            attribute!(c"charset", "charset"),
            attribute!(c"challenge", "challenge"),
            attribute!(c"cite", "cite"),
            attribute!(c"content", "content"),
            attribute!(c"currentSrc", "src"),
            attribute!(c"data", "data"),
            attribute!(c"datetime", "datetime"),
            attribute!(c"dirName", "dirname"),
            attribute!(c"download", "download"),
            attribute!(c"headers", "headers"),
            attribute!(c"hrefLang", "hreflang"),
            attribute!(c"hreflang", "hreflang"),
            attribute!(c"htmlFor", "for"),
            attribute!(c"keySystem", "keysystem"),
            attribute!(c"media", "media"),
            attribute!(c"mediaGroup", "mediagroup"),
            attribute!(c"pattern", "pattern"),
            attribute!(c"sizes", "sizes"),
            attribute!(c"srclang", "srclang"),
            attribute!(c"srcset", "srcset"),
            attribute!(c"step", "step"),
            attribute!(c"useMap", "usemap"),
            flag!(c"allowfullscreen", "allowfullscreen"),
            flag!(c"async", "async"),
            flag!(c"autofocus", "autofocus"),
            flag!(c"autoplay", "autoplay"),
            flag!(c"controls", "controls"),
            flag!(c"default", "default"),
            flag!(c"defaultChecked", "checked"),
            flag!(c"defaultMuted", "muted"),
            flag!(c"defaultSelected", "selected"),
            flag!(c"defer", "defer"),
            flag!(c"isMap", "ismap"),
            flag!(c"loop", "loop"),
            flag!(c"multiple", "multiple"),
            flag!(c"muted", "muted"),
            flag!(c"noModule", "nomodule"),
            flag!(c"noValidate", "novalidate"),
            flag!(c"readOnly", "readonly"),
            flag!(c"readonly", "readonly"),
            flag!(c"required", "required"),
            flag!(c"reversed", "reversed"),
            flag!(c"sortable", "sortable"),
            flag!(c"sorted", "sorted"),
            flag!(c"typeMustMatch", "typemustmatch"),
            number!(c"colSpan", "colspan", 1),
            number!(c"cols", "cols", 0),
            number!(c"high", "high", 0),
            number!(c"low", "low", 0),
            number!(c"minLength", "minlength", -1),
            number!(c"optimum", "optimum", 0),
            number!(c"rowSpan", "rowspan", 1),
            number!(c"start", "start", 0),
            number!(c"tabIndex", "tabindex", 0),
            one_of!(
                c"autocapitalize",
                "autocapitalize",
                ["sentences", "none", "off", "characters", "words"]
            ),
            one_of!(c"autocomplete", "autocomplete", ["on", "off"]),
            one_of!(c"keytype", "keytype", ["RSA", "DSA", "EC"]),
            one_of!(
                c"kind",
                "kind",
                [
                    // k6's name of the default.
                    "subtitle",
                    "captions",
                    "descriptions",
                    "chapters",
                    "metadata"
                ]
            ),
            one_of!(
                c"httpEquiv",
                "http-equiv",
                ["content-type", "default-style", "refresh"]
            ),
            one_of!(
                c"referrerPolicy",
                "referrerpolicy",
                [
                    "",
                    "no-referrer",
                    "no-referrer-when-downgrade",
                    "origin",
                    "origin-when-cross-origin",
                    "unsafe-url"
                ]
            ),
            one_of!(
                c"scope",
                "scope",
                ["", "row", "col", "colgroup", "rowgroup"]
            ),
            one_of!(c"preload", "preload", ["auto", "metadata", "none"]),
            one_of!(c"wrap", "wrap", ["soft", "hard", "off"]),
            method!(c"labels", |context, node| list(
                context,
                typed::labels(node)
            )),
            method!(c"options", |context, node| list(
                context,
                typed::options(node)
            )),
            method!(c"selectedOptions", |context, node| list(
                context,
                typed::selected(node)
            )),
            method!(c"cells", |context, node| list(context, typed::cells(node))),
            method!(c"images", |context, node| list(
                context,
                typed::images(node)
            )),
            method!(c"areas", |context, node| list(
                context,
                typed::named_children(node, &["area"])
            )),
            method!(c"textTracks", |context, node| list(
                context,
                typed::named_children(node, &["track"])
            )),
            method!(c"tBodies", |context, node| list(
                context,
                typed::named_children(node, &["tbody"])
            )),
            method!(c"caption", |context, node| typed::first_named(
                context, node, "caption"
            )),
            method!(c"tFoot", |context, node| typed::first_named(
                context, node, "tfoot"
            )),
            method!(c"tHead", |context, node| typed::first_named(
                context, node, "thead"
            )),
            method!(c"selectedIndex", |context, node| Ok(
                context.number(typed::selected_index(node))
            )),
            method!(c"index", |context, node| Ok(
                context.number(typed::option_index(node))
            )),
            method!(c"span", |context, node| Ok(
                context.number(typed::span(node) as f64)
            )),
            method!(c"size", |context, node| Ok(
                context.number(typed::size(node))
            )),
            method!(c"length", |context, node| Ok(
                context.number(typed::length(node) as f64)
            )),
            method!(c"maxLength", |context, node| Ok(
                context.number(typed::max_length(node) as f64)
            )),
            method!(c"position", |context, node| Ok(
                context.number(typed::progress(node).1)
            )),
            method!(c"cellIndex", |context, node| Ok(
                context.number(typed::cell_index(node))
            )),
            method!(c"rowIndex", |context, node| Ok(
                context.number(typed::row_index(node, &["table"]))
            )),
            method!(c"sectionRowIndex", |context, node| Ok(
                context.number(typed::row_index(node, &["tbody", "thead", "tfoot"]))
            )),
            method!(c"control", |context, node| Element::or_undefined(
                context,
                typed::control(node)
            )),
            method!(c"list", |context, node| Element::or_undefined(
                context,
                typed::suggestions(node)
            )),
            method!(c"rows", |context, node| typed::rows(context, node)),
            method!(c"relList", |context, node| typed::rel_list(context, node)),
            method!(c"crossOrigin", |context, node| typed::cross_origin(
                context, node
            )),
            method!(c"width", |context, node| typed::extent(
                context, node, "width"
            )),
            method!(c"height", |context, node| typed::extent(
                context, node, "height"
            )),
            method!(c"max", |context, node| typed::bound(context, node, "max")),
            method!(c"min", |context, node| typed::bound(context, node, "min")),
            method!(c"label", |context, node| context
                .string(&typed::label(node))),
            method!(c"formAction", |context, node| context
                .string(&typed::of_form(node, "formaction", "action"))),
            method!(c"formTarget", |context, node| context
                .string(&typed::of_form(node, "formtarget", "target"))),
            method!(c"formMethod", |context, node| context
                .string(typed::form_method(node))),
            method!(c"formEnctype", |context, node| context.string(
                typed::encoding(&typed::of_form(node, "formenctype", "enctype"))
            )),
            method!(c"encoding", |context, node| context.string(
                typed::encoding(node.attribute("enctype").unwrap_or_default())
            )),
            method!(c"enctype", |context, node| context.string(typed::encoding(
                node.attribute("enctype").unwrap_or_default()
            ))),
            method!(c"formNoValidate", |context, node| {
                let by_form =
                    typed::form(node).is_some_and(|form| form.attribute("novalidate").is_some());
                Ok(context.bool(by_form || node.attribute("formnovalidate").is_some()))
            }),
            method!(c"defaultValue", |context, node| match node.name() {
                "output" => context.string(&node.text()),
                _ => context.string(node.attribute("value").unwrap_or_default()),
            }),
            Entry::function(c"validity", 0, |context, _| Ok(context.undefined())),
            Entry::function(c"selection", 0, |context, call| {
                Selection::of(vec![node(context, call)?]).object(context, context.string("")?)
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

fn optional<'c>(context: &'c Context, text: Option<&str>) -> Returned<'c> {
    match text {
        Some(text) => context.string(text),
        None => Ok(context.undefined()),
    }
}

/// The descendants of `node` for which `holds` returns true.
fn elements(node: &Node, holds: impl Fn(&Node) -> bool) -> Vec<Node> {
    let below = node.descendants();
    below
        .filter(|node| node.is_element() && holds(node))
        .collect()
}

pub fn list(context: &Context, nodes: Vec<Node>) -> Returned<'_> {
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
