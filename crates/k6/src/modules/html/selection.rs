//! Selections: sets of nodes in the order in which they were found.

use std::rc::Rc;

use plimsoll_quickjs::{
    Call, Class, Context, Entry, InImage, Returned, Thrown, Value, collect_in_pieces, give_way,
};

use super::element::{self, Element};
use super::values;
use crate::modules::go_value;
use crate::pure::html::{Node, Selectors};

/// The cost of visiting a node, as the number of bytes that could be read in the same time.
const NODE: usize = 128;

const URL: &str = "url";

/// The nodes of a selection, and the selection that it was derived from.
pub struct Selection(Rc<Found>);

struct Found {
    nodes: Vec<Node>,
    from: Option<Rc<Found>>,
}

impl Found {
    /// The document. An empty selection gets it from the selection that it was derived from.
    fn root(&self) -> Option<Node> {
        let found = std::iter::successors(Some(self), |found| found.from.as_deref());
        found
            .flat_map(|found| found.nodes.first())
            .next()
            .map(Node::root)
    }
}

impl Selection {
    pub fn of(nodes: Vec<Node>) -> Self {
        Selection(Rc::new(Found { nodes, from: None }))
    }

    /// A new object for the script. The URL of the page is a property that scripts may set.
    pub fn object<'c>(self, context: &'c Context, url: Value<'c>) -> Returned<'c> {
        let object = context.instance(self)?;
        object.define(URL, url)?;
        Ok(object)
    }

    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }
}

impl Class for Selection {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"add", 1, add),
            Entry::function(c"attr", 2, attr),
            Entry::function(c"children", 1, |context, call| {
                filtered(context, call, Node::element_children)
            }),
            Entry::function(c"closest", 1, closest),
            Entry::function(c"contents", 0, |context, call| {
                go(context, call, |node| Ok(node.children()))
            }),
            Entry::function(c"data", 1, |context, call| {
                values::data(
                    context,
                    found(context, call)?.nodes.first(),
                    &call.argument(0),
                )
            }),
            Entry::function(c"each", 1, each),
            Entry::function(c"end", 0, end),
            Entry::function(c"eq", 1, eq),
            Entry::function(c"filter", 1, |context, call| keep(context, call, true)),
            Entry::function(c"find", 1, |context, call| {
                let wanted = Filter::read(call, &call.argument(0))?;
                go(context, call, |node| {
                    wanted.only(context, collect_in_pieces(node.descendants()))
                })
            }),
            Entry::function(c"first", 0, |context, call| {
                slice(context, call, 0, Some(1))
            }),
            Entry::function(c"get", 1, get),
            Entry::function(c"has", 1, has),
            Entry::function(c"html", 0, |context, call| {
                let html = found(context, call)?.nodes.first().map(Node::inner_html);
                context.string(&html.unwrap_or_default())
            }),
            Entry::function(c"index", 1, index),
            Entry::function(c"is", 1, is),
            Entry::function(c"last", 0, |context, call| slice(context, call, -1, None)),
            Entry::function(c"map", 1, map),
            Entry::function(c"next", 1, |context, call| {
                filtered(context, call, |node| {
                    after(node).into_iter().take(1).collect()
                })
            }),
            Entry::function(c"nextAll", 1, |context, call| {
                filtered(context, call, after)
            }),
            Entry::function(c"nextUntil", 2, |context, call| until(context, call, after)),
            Entry::function(c"not", 1, |context, call| keep(context, call, false)),
            Entry::function(c"parent", 1, |context, call| {
                filtered(context, call, |node| node.ancestors().take(1).collect())
            }),
            Entry::function(c"parents", 1, |context, call| {
                filtered(context, call, |node| node.ancestors().collect())
            }),
            Entry::function(c"parentsUntil", 2, |context, call| {
                until(context, call, |node| node.ancestors().collect())
            }),
            Entry::function(c"prev", 1, |context, call| {
                filtered(context, call, |node| {
                    before(node).into_iter().take(1).collect()
                })
            }),
            Entry::function(c"prevAll", 1, |context, call| {
                filtered(context, call, before)
            }),
            Entry::function(c"prevUntil", 2, |context, call| {
                until(context, call, before)
            }),
            Entry::function(c"serialize", 0, |context, call| {
                context.string(&values::serialize(&found(context, call)?.nodes))
            }),
            Entry::function(c"serializeArray", 0, |context, call| {
                values::serialize_array(context, &found(context, call)?.nodes)
            }),
            Entry::function(c"serializeObject", 0, |context, call| {
                values::serialize_object(context, &found(context, call)?.nodes)
            }),
            Entry::function(c"siblings", 1, |context, call| {
                filtered(context, call, |node| {
                    let all = node.siblings().0;
                    all.into_iter().filter(|other| other != node).collect()
                })
            }),
            Entry::function(c"size", 0, |context, call| {
                Ok(context.number(found(context, call)?.nodes.len() as f64))
            }),
            Entry::function(c"slice", 2, |context, call| {
                let end = call.argument(1);
                let end = if end.is_undefined() {
                    None
                } else {
                    Some(end.to_integer()?)
                };
                slice(context, call, call.argument(0).to_integer()?, end)
            }),
            Entry::function(c"text", 0, |context, call| {
                let texts = found(context, call)?
                    .nodes
                    .iter()
                    .map(Node::text)
                    .collect::<String>();
                context.string(&texts)
            }),
            Entry::function(c"toArray", 0, |context, call| {
                let found = found(context, call)?;
                let url = call.this().get(URL)?;
                let each = found.nodes.iter().map(|node| one(context, node, &url));
                let each: Result<Vec<_>, Thrown> = each.collect();
                context.array(each?)
            }),
            Entry::function(c"val", 0, |context, call| {
                match found(context, call)?.nodes.first() {
                    Some(node) => values::value(context, node),
                    None => Ok(context.undefined()),
                }
            }),
        ];
        ENTRIES
    }
}

/// An argument that selects nodes.
enum Filter<'c> {
    /// An invalid selector matches nothing.
    Selectors(Option<Selectors>),
    Nodes(Vec<Node>),
    /// A function, and the URL for the selections that it receives.
    Function(Value<'c>, Value<'c>),
}

impl<'c> Filter<'c> {
    fn read(call: &Call<'c>, value: &Value<'c>) -> Result<Filter<'c>, Thrown> {
        if let Some(selection) = value.instance::<Selection>() {
            return Ok(Filter::Nodes(selection.nodes().to_vec()));
        }
        if let Some(element) = value.instance::<Element>() {
            return Ok(Filter::Nodes(vec![element.0.clone()]));
        }
        if value.is_function() {
            return Ok(Filter::Function(value.clone(), call.this().get(URL)?));
        }
        if !value.is_string() {
            let kind = go_value::kind(value);
            return Err(value.context().throw_plain(format!(
                "invalid argument, cannot use a '{kind}' as a selector"
            )));
        }
        Ok(Filter::Selectors(Selectors::parse(&value.to_text()?)))
    }

    /// Whether the argument selects the node at index `place` of the selection.
    fn has(&self, context: &'c Context, place: usize, node: &Node) -> Result<bool, Thrown> {
        match self {
            Filter::Selectors(selectors) => Ok(selectors.as_ref().is_some_and(|s| s.matches(node))),
            Filter::Nodes(nodes) => {
                give_way(nodes.len());
                Ok(nodes.contains(node))
            }
            Filter::Function(function, url) => {
                let (place, node) = (context.number(place as f64), one(context, node, url)?);
                let result = function.call(&context.undefined(), &[&place, &node])?;
                Ok(result.is_truthy())
            }
        }
    }

    fn only(&self, context: &'c Context, nodes: Vec<Node>) -> Result<Vec<Node>, Thrown> {
        let mut kept = Vec::new();
        for (place, node) in nodes.into_iter().enumerate() {
            give_way(NODE);
            if self.has(context, place, &node)? {
                kept.push(node);
            }
        }
        Ok(kept)
    }
}

fn found(context: &Context, call: &Call<'_>) -> Result<Rc<Found>, Thrown> {
    match call.this().instance::<Selection>() {
        Some(selection) => Ok(Rc::clone(&selection.0)),
        None => Err(context.throw_type("not a selection")),
    }
}

fn one<'c>(context: &'c Context, node: &Node, url: &Value<'c>) -> Returned<'c> {
    give_way(NODE);
    Selection::of(vec![node.clone()]).object(context, url.clone())
}

/// A selection derived from another one, without duplicates.
fn follow<'c>(
    context: &'c Context,
    call: &Call<'c>,
    from: &Rc<Found>,
    nodes: Vec<Node>,
) -> Returned<'c> {
    let mut seen = std::collections::HashSet::new();
    let nodes = nodes.into_iter().filter(|node| {
        give_way(NODE);
        seen.insert(node.key())
    });
    let found = Found {
        nodes: collect_in_pieces(nodes),
        from: Some(Rc::clone(from)),
    };
    Selection(Rc::new(found)).object(context, call.this().get(URL)?)
}

/// All nodes that `find` finds from each node.
fn go<'c>(
    context: &'c Context,
    call: &Call<'c>,
    find: impl Fn(&Node) -> Result<Vec<Node>, Thrown>,
) -> Returned<'c> {
    let from = found(context, call)?;
    let mut nodes = Vec::new();
    for node in &from.nodes {
        nodes.extend(find(node)?);
    }
    follow(context, call, &from, nodes)
}

/// Like `go`, filtered with the argument if there is one.
fn filtered<'c>(
    context: &'c Context,
    call: &Call<'c>,
    find: impl Fn(&Node) -> Vec<Node>,
) -> Returned<'c> {
    let wanted = call.argument(0);
    if wanted.is_nullish() {
        return go(context, call, |node| Ok(find(node)));
    }
    let wanted = Filter::read(call, &wanted)?;
    go(context, call, |node| wanted.only(context, find(node)))
}

/// The nodes that `find` finds, up to those that the first argument selects, filtered with the second one.
fn until<'c>(
    context: &'c Context,
    call: &Call<'c>,
    find: impl Fn(&Node) -> Vec<Node>,
) -> Returned<'c> {
    let optional = |value: &Value<'c>| match value.is_nullish() {
        true => Ok(None),
        false => Filter::read(call, value).map(Some),
    };
    let (border, wanted) = (optional(&call.argument(0))?, optional(&call.argument(1))?);
    go(context, call, |node| {
        let mut passed = Vec::new();
        for (place, node) in find(node).into_iter().enumerate() {
            if let Some(border) = &border
                && border.has(context, place, &node)?
            {
                break;
            }
            passed.push(node);
        }
        match &wanted {
            Some(wanted) => wanted.only(context, passed),
            None => Ok(passed),
        }
    })
}

fn after(node: &Node) -> Vec<Node> {
    let (all, place) = node.siblings();
    all.into_iter().skip(place + 1).collect()
}

/// The preceding siblings, closest first.
fn before(node: &Node) -> Vec<Node> {
    let (mut all, place) = node.siblings();
    all.truncate(place);
    all.reverse();
    all
}

fn closest<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let wanted = Filter::read(call, &call.argument(0))?;
    go(context, call, |node| {
        for node in std::iter::once(node.clone()).chain(node.ancestors()) {
            if wanted.has(context, 0, &node)? {
                return Ok(vec![node]);
            }
        }
        Ok(Vec::new())
    })
}

/// The nodes that the argument selects, or those that it does not select.
fn keep<'c>(context: &'c Context, call: &Call<'c>, those: bool) -> Returned<'c> {
    let from = found(context, call)?;
    let wanted = Filter::read(call, &call.argument(0))?;
    let mut nodes = Vec::new();
    for (place, node) in from.nodes.iter().enumerate() {
        if wanted.has(context, place, node)? == those {
            nodes.push(node.clone());
        }
    }
    follow(context, call, &from, nodes)
}

fn is<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let wanted = Filter::read(call, &call.argument(0))?;
    for (place, node) in from.nodes.iter().enumerate() {
        if wanted.has(context, place, node)? {
            return Ok(context.bool(true));
        }
    }
    Ok(context.bool(false))
}

/// The nodes that have a selected descendant.
fn has<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let wanted = Filter::read(call, &call.argument(0))?;
    let mut nodes = Vec::new();
    for node in &from.nodes {
        let below = wanted.only(context, collect_in_pieces(node.descendants()))?;
        if !below.is_empty() {
            nodes.push(node.clone());
        }
    }
    follow(context, call, &from, nodes)
}

fn add<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let mut nodes = from.nodes.clone();
    match Filter::read(call, &call.argument(0))? {
        Filter::Nodes(more) => nodes.extend(more),
        wanted => {
            if let Some(root) = from.root() {
                nodes.extend(wanted.only(context, collect_in_pieces(root.descendants()))?);
            }
        }
    }
    follow(context, call, &from, nodes)
}

fn end<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let found = found(context, call)?;
    let before = match &found.from {
        Some(from) => Selection(Rc::clone(from)),
        None => Selection::of(Vec::new()),
    };
    before.object(context, call.this().get(URL)?)
}

fn eq<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let place = call.argument(0).to_integer()?;
    let end = place.checked_add(1).filter(|end| *end != 0);
    slice(context, call, place, end)
}

/// The nodes from `start` up to but excluding `end`. Negative positions count from the end.
fn slice<'c>(context: &'c Context, call: &Call<'c>, start: i64, end: Option<i64>) -> Returned<'c> {
    let from = found(context, call)?;
    let length = from.nodes.len() as i64;
    let place = |at: i64| {
        if at < 0 {
            at.saturating_add(length)
        } else {
            at
        }
    };
    let (start, end) = (place(start), place(end.unwrap_or(length)).min(length));
    let nodes = match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) => from.nodes.get(start..end).unwrap_or_default().to_vec(),
        _ => Vec::new(),
    };
    follow(context, call, &from, nodes)
}

/// Returns a position: without an argument, that of the first node among its siblings; with a node, that of this node in the
/// selection; with a selector, that of the first node among all nodes that the selector finds.
fn index<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let missing = || Ok(context.number(-1));
    let Some(first) = from.nodes.first() else {
        return missing();
    };
    let argument = call.argument(0);
    let place = if argument.is_nullish() {
        Some(first.siblings().1)
    } else {
        match Filter::read(call, &argument)? {
            Filter::Nodes(nodes) => nodes
                .first()
                .and_then(|wanted| from.nodes.iter().position(|node| node == wanted)),
            wanted => {
                let all = wanted.only(context, collect_in_pieces(first.root().descendants()))?;
                all.iter().position(|node| node == first)
            }
        }
    };
    place.map_or_else(missing, |place| Ok(context.number(place as f64)))
}

fn get<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    if call.count() == 0 {
        return element::list(context, from.nodes.clone());
    }
    let place = call.argument(0).to_integer()?;
    let place = match place {
        0.. => place,
        // As in k6, positions from the end work for all elements except the first.
        ..0 => match place.saturating_add(from.nodes.len() as i64) {
            0 => -1,
            place => place,
        },
    };
    let node = usize::try_from(place)
        .ok()
        .and_then(|at| from.nodes.get(at));
    Element::or_undefined(context, node.cloned())
}

fn each<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let function = call.argument(0);
    if !function.is_function() {
        return Err(context.throw_plain("each() needs a function"));
    }
    for (place, node) in from.nodes.iter().enumerate() {
        let (place, element) = (
            context.number(place as f64),
            context.instance(Element(node.clone()))?,
        );
        // As in k6, an exception of the function becomes an exception of each().
        if let Err(thrown) = function.call(&context.undefined(), &[&place, &element]) {
            let exception = context.take_exception(thrown);
            if exception.is_uncatchable() {
                return Err(exception.rethrow());
            }
            return Err(context.throw_plain(format!("each(): {}", exception.text())));
        }
    }
    Ok(call.this().clone())
}

fn map<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let function = call.argument(0);
    if !function.is_function() {
        return Err(context.throw_plain("map() needs a function"));
    }
    let url = call.this().get(URL)?;
    let mut results = Vec::new();
    for (place, node) in from.nodes.iter().enumerate() {
        let (place, node) = (context.number(place as f64), one(context, node, &url)?);
        results.push(function.call(&context.undefined(), &[&place, &node])?);
    }
    context.array(results)
}

fn attr<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let from = found(context, call)?;
    let name = call.argument(0).to_text()?;
    match from.nodes.first().and_then(|node| node.attribute(&name)) {
        Some(value) => context.string(value),
        None => Ok(call.argument(1).clone()),
    }
}
