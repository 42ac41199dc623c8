//! The properties of the DOM's element types: forms and their fields, links, tables, lists, media.
//!
//! Scripts may call each of them on any element. The result depends on the element's name.

use plimsoll_quickjs::{Context, Returned};

use super::element::{Element, list};
use super::values;
use crate::pure::html::{Node, Selectors};

/// An attribute as a whole number.
pub fn number(node: &Node, attribute: &str, default: i64) -> i64 {
    let text = node.attribute(attribute);
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The number of columns that a `col` or `colgroup` describes: at least 1.
pub fn span(node: &Node) -> i64 {
    number(node, "span", 1).max(1)
}

/// An attribute with a fixed set of values. The first value is the default.
pub fn one_of<'n>(node: &'n Node, attribute: &str, values: &[&'n str]) -> &'n str {
    let written = node.attribute(attribute).unwrap_or_default();
    let known = values.iter().find(|value| **value == written);
    known.or(values.first()).copied().unwrap_or_default()
}

/// All descendants of `node` that match the selector, in document order.
fn below(node: &Node, selector: &str) -> Vec<Node> {
    let Some(selectors) = Selectors::parse(selector) else {
        return Vec::new();
    };
    node.descendants()
        .filter(|node| selectors.matches(node))
        .collect()
}

/// The first element in the node's document that the selector `#id` finds. As in k6, an `id` that is not valid in a
/// selector finds nothing.
fn by_id(node: &Node, id: &str) -> Option<Node> {
    let selectors = Selectors::parse(&format!("#{id}"))?;
    node.root()
        .descendants()
        .find(|node| selectors.matches(node))
}

fn ancestor(node: &Node, names: &[&str]) -> Option<Node> {
    node.ancestors().find(|node| names.contains(&node.name()))
}

/// The form that a field belongs to. As in k6, the attribute `form` only counts outside of forms.
pub fn form(node: &Node) -> Option<Node> {
    let named = || match node.name() {
        "option" => None,
        _ => by_id(node, node.attribute("form")?),
    };
    ancestor(node, &["form"]).or_else(named)
}

/// The fields of a form or field set.
pub fn fields(node: &Node) -> Vec<Node> {
    below(node, "input, button, select, textarea, fieldset")
}

/// An attribute of a button or field that overrides its form's.
pub fn of_form(node: &Node, own: &str, attribute: &str) -> String {
    let own = node.attribute(own).map(str::to_owned);
    let inherited = || Some(form(node)?.attribute(attribute)?.to_owned());
    own.or_else(inherited).unwrap_or_default()
}

/// The encoding of a form's fields.
pub fn encoding(written: &str) -> &'static str {
    match written {
        "multipart/form-data" => "multipart/form-data",
        "text/plain" => "text/plain",
        _ => "application/x-www-form-urlencoded",
    }
}

/// The HTTP method that a button submits its form with.
pub fn form_method(node: &Node) -> &'static str {
    match of_form(node, "formmethod", "method")
        .to_ascii_lowercase()
        .as_str()
    {
        "post" => "post",
        _ => "get",
    }
}

/// The labels of a field.
pub fn labels(node: &Node) -> Vec<Node> {
    let id = node.attribute("id").filter(|id| !id.is_empty());
    let root = node.root();
    let is_label = |label: &Node| {
        label.name() == "label"
            && (id.is_some_and(|id| label.attribute("for") == Some(id))
                || node.ancestors().any(|outer| outer == *label))
    };
    root.descendants().filter(is_label).collect()
}

/// The field that a label refers to.
pub fn control(node: &Node) -> Option<Node> {
    by_id(node, node.attribute("for")?)
}

/// The list of suggestions for a field.
pub fn suggestions(node: &Node) -> Option<Node> {
    by_id(node, node.attribute("list")?).filter(|list| list.name() == "datalist")
}

/// The property `type`.
pub fn kind(node: &Node) -> &str {
    const INPUTS: [&str; 22] = [
        "text",
        "button",
        "checkbox",
        "color",
        "date",
        "datetime-local",
        "email",
        "file",
        "hidden",
        "image",
        "month",
        "number",
        "password",
        "radio",
        "range",
        "reset",
        "search",
        "submit",
        "tel",
        "time",
        "url",
        "week",
    ];
    match node.name() {
        "input" => one_of(node, "type", &INPUTS),
        "button" => one_of(node, "type", &["submit", "button", "menu", "reset"]),
        "fieldset" => "fieldset",
        "output" => "output",
        "textarea" => "textarea",
        "keygen" => "keygen",
        "select" if node.attribute("multiple").is_some() => "select-multiple",
        "select" => "select",
        "style" => match node.attribute("type") {
            None | Some("") => "text/css",
            Some(kind) => kind,
        },
        "ol" => one_of(node, "type", &["1", "a", "A", "i", "I"]),
        "li" => one_of(
            node,
            "type",
            &["", "1", "a", "A", "i", "I", "disc", "square", "circle"],
        ),
        _ => node.attribute("type").unwrap_or_default(),
    }
}

/// The property `value`.
pub fn value<'c>(context: &'c Context, node: &Node) -> Returned<'c> {
    let attribute = node.attribute("value");
    match node.name() {
        "button" => match attribute {
            Some(value) => context.string(value),
            None => context.string(&node.text()),
        },
        "option" => context.string(&values::option(node)),
        "select" => {
            let first = selected(node).into_iter().next();
            context.string(&first.map(|node| values::option(&node)).unwrap_or_default())
        }
        "output" => context.string(&node.text()),
        "li" => Ok(context.number(number(node, "value", 0) as f64)),
        "progress" => Ok(context.number(progress(node).0)),
        _ => context.string(attribute.unwrap_or_default()),
    }
}

/// An attribute of a progress bar that is not negative. It may be infinite or not a number, as in k6.
fn amount(node: &Node, attribute: &str) -> Option<f64> {
    let number: f64 = node.attribute(attribute)?.parse().ok()?;
    (number.is_nan() || number >= 0.0).then_some(number)
}

fn progress_maximum(node: &Node) -> f64 {
    amount(node, "max").unwrap_or(1.0)
}

/// The value and the position of a progress bar. The position is the share of the maximum, or -1 without a value.
pub fn progress(node: &Node) -> (f64, f64) {
    match amount(node, "value") {
        Some(value) => {
            let share = value / progress_maximum(node);
            (share, share)
        }
        None => (0.0, -1.0),
    }
}

/// The options of a `select` or `datalist`.
pub fn options(node: &Node) -> Vec<Node> {
    below(node, "option")
}

/// The selected options of a `select`.
pub fn selected(node: &Node) -> Vec<Node> {
    below(node, "option[selected]")
}

/// The position of the first selected option; -1 if no option is selected.
pub fn selected_index(node: &Node) -> f64 {
    let place = options(node)
        .iter()
        .position(|option| option.attribute("selected").is_some());
    place.map_or(-1.0, |place| place as f64)
}

/// The position of an option in its `select`; 0 outside of one.
pub fn option_index(node: &Node) -> f64 {
    let list = ancestor(node, &["select", "datalist"]);
    list.map_or(0.0, |list| position(&options(&list), node))
}

/// Whether the element is disabled, or the group that an option is in.
pub fn disabled(node: &Node) -> bool {
    let group = || ancestor(node, &["optgroup"]).filter(|_| node.name() == "option");
    node.attribute("disabled").is_some()
        || group().is_some_and(|group| group.attribute("disabled").is_some())
}

/// The property `label`. For an option without the attribute, it is the option's text.
pub fn label(node: &Node) -> String {
    match node.attribute("label") {
        Some(label) => label.to_owned(),
        None if node.name() == "option" => node.text(),
        None => String::new(),
    }
}

/// The property `length`.
pub fn length(node: &Node) -> usize {
    match node.name() {
        "form" => fields(node).len(),
        "select" => options(node).len(),
        _ => node.attribute("value").unwrap_or_default().len(),
    }
}

/// The property `size`.
pub fn size(node: &Node) -> f64 {
    match (node.name(), node.attribute("multiple")) {
        ("select", Some(_)) => 4.0,
        ("select", None) => 1.0,
        _ => number(node, "size", 0) as f64,
    }
}

fn position(all: &[Node], node: &Node) -> f64 {
    let place = all.iter().position(|other| other == node);
    place.map_or(-1.0, |place| place as f64)
}

/// The rows of a table or of a table section; for a text area, its number of rows.
pub fn rows<'c>(context: &'c Context, node: &Node) -> Returned<'c> {
    if node.name() == "textarea" {
        return Ok(context.number(number(node, "rows", 0) as f64));
    }
    list(context, rows_of(node))
}

fn rows_of(node: &Node) -> Vec<Node> {
    below(node, "tr")
}

/// The position of a row in its table, or in its section of it; -1 outside of a table.
pub fn row_index(node: &Node, within: &[&str]) -> f64 {
    let around = ancestor(node, within).map(|table| rows_of(&table));
    position(&around.unwrap_or_default(), node)
}

/// The cells of a row.
pub fn cells(node: &Node) -> Vec<Node> {
    named_children(node, &["td", "th"])
}

/// The position of a cell in its row; -1 outside of a row.
pub fn cell_index(node: &Node) -> f64 {
    let row = ancestor(node, &["tr"]).map(|row| cells(&row));
    position(&row.unwrap_or_default(), node)
}

/// The children with one of these names.
pub fn named_children(node: &Node, names: &[&str]) -> Vec<Node> {
    let mut children = node.element_children();
    children.retain(|child| names.contains(&child.name()));
    children
}

/// The first child with that name.
pub fn first_named<'c>(context: &'c Context, node: &Node, name: &str) -> Returned<'c> {
    let found = named_children(node, &[name]).into_iter().next();
    Element::or_undefined(context, found)
}

/// The images and objects that use a map.
pub fn images(node: &Node) -> Vec<Node> {
    let Some(id) = node.attribute("id") else {
        return Vec::new();
    };
    let used = format!("#{id}");
    let root = node.root();
    let uses = |node: &Node| {
        matches!(node.name(), "img" | "object") && node.attribute("usemap") == Some(&used)
    };
    root.descendants().filter(uses).collect()
}

/// The property `crossOrigin`. For a script it is the attribute; for other elements, it is undefined without a valid
/// value.
pub fn cross_origin<'c>(context: &'c Context, node: &Node) -> Returned<'c> {
    match node.attribute("crossorigin") {
        value if node.name() == "script" => context.string(value.unwrap_or_default()),
        Some(value @ ("anonymous" | "use-credentials")) => context.string(value),
        _ => Ok(context.undefined()),
    }
}

/// `width` and `height`: numbers for images and canvases, strings for other elements.
pub fn extent<'c>(context: &'c Context, node: &Node, attribute: &str) -> Returned<'c> {
    let default = match node.name() {
        "canvas" => 150,
        "img" => 0,
        _ => return context.string(node.attribute(attribute).unwrap_or_default()),
    };
    Ok(context.number(number(node, attribute, default) as f64))
}

/// `max` and `min`: numbers for progress bars and meters, strings for other elements.
pub fn bound<'c>(context: &'c Context, node: &Node, attribute: &str) -> Returned<'c> {
    match node.name() {
        "progress" => Ok(context.number(progress_maximum(node))),
        "meter" => Ok(context.number(number(node, attribute, 0) as f64)),
        _ => context.string(node.attribute(attribute).unwrap_or_default()),
    }
}

/// The maximum length of a field's text. Without a limit it is -1 for an input and 0 for a text area.
pub fn max_length(node: &Node) -> i64 {
    let default = if node.name() == "textarea" { 0 } else { -1 };
    number(node, "maxlength", default)
}

/// The words of `rel`, separated by single spaces as in k6.
pub fn rel_list<'c>(context: &'c Context, node: &Node) -> Returned<'c> {
    match node.attribute("rel") {
        None | Some("") => context.strings::<&str>([]),
        Some(rel) => context.strings(rel.split(' ')),
    }
}

/// The sibling nodes before and after a node, of all kinds.
pub fn adjacent_siblings(node: &Node) -> (Option<Node>, Option<Node>) {
    let Some(parent) = node.parent() else {
        return (None, None);
    };
    let all = parent.children();
    let Some(place) = all.iter().position(|other| other == node) else {
        return (None, None);
    };
    let before = place.checked_sub(1).and_then(|at| all.get(at));
    (before.cloned(), all.get(place + 1).cloned())
}
