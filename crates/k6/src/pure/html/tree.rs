//! The tree that html5ever (the HTML standard's parsing algorithm) builds. It is an arena, so parsing or dropping
//! deeply nested documents needs no deep stack.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use html5ever::interface::{
    Attribute, ElemName, ElementFlags, NodeOrText, QualName, QuirksMode, TreeSink,
};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{LocalName, Namespace, ParseOpts, parse_document};
use plimsoll_quickjs::{drop_later, give_way, give_way_in_drop, reserve_in_pieces};

/// The number of bytes to pass to the parser at a time.
const PIECE: usize = 512;
/// The cost of creating or dropping a node, as the number of bytes that could be read in the same time.
const NODE: usize = 256;

/// Parses a document. HTML parsing accepts any text.
pub fn parse(text: &str) -> Node {
    let mut options = ParseOpts::default();
    // As in k6, a byte order mark is text.
    options.tokenizer.discard_bom = false;
    let mut parser = parse_document(Builder::default(), options);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
        // A piece of a tag with many attributes can take as long as a whole page, so check the clock each time.
        give_way(32 * PIECE);
        parser.process(piece.into());
        rest = after;
    }
    Node {
        tree: Rc::new(parser.finish()),
        id: DOCUMENT,
    }
}

/// A node. It keeps its whole document alive.
#[derive(Clone)]
pub struct Node {
    pub(super) tree: Rc<Tree>,
    pub(super) id: usize,
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        Rc::ptr_eq(&self.tree, &other.tree) && self.id == other.id
    }
}

pub(super) const DOCUMENT: usize = 0;

pub(super) struct Tree {
    pub nodes: Nodes,
}

/// Nodes in chunks. A growing document is never moved, because moving it would take as long as parsing it.
#[derive(Default)]
pub(super) struct Nodes {
    chunks: Vec<Vec<Entry>>,
}

/// The number of nodes per chunk. The first chunk is smaller, for small documents.
const CHUNK: usize = 1024;

impl Nodes {
    pub fn len(&self) -> usize {
        match self.chunks.last() {
            Some(last) => (self.chunks.len() - 1) * CHUNK + last.len(),
            None => 0,
        }
    }

    fn push(&mut self, entry: Entry) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(entry),
            None => self.chunks.push(vec![entry]),
            Some(_) => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(entry);
                self.chunks.push(chunk);
            }
        }
    }

    fn pop(&mut self) -> Option<Entry> {
        let entry = self.chunks.last_mut()?.pop();
        if self.chunks.last().is_some_and(Vec::is_empty) {
            self.chunks.pop();
        }
        entry
    }
}

impl Index<usize> for Nodes {
    type Output = Entry;

    fn index(&self, id: usize) -> &Entry {
        &self.chunks[id / CHUNK][id % CHUNK]
    }
}

impl IndexMut<usize> for Nodes {
    fn index_mut(&mut self, id: usize) -> &mut Entry {
        &mut self.chunks[id / CHUNK][id % CHUNK]
    }
}

pub(super) struct Entry {
    pub kind: Kind,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

pub(super) enum Kind {
    Document,
    Doctype(String),
    Text(String),
    Comment(String),
    Element(QualName, Vec<Attribute>),
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if drop_later(self) {
            return;
        }
        // Nodes refer to each other by index, so they can be dropped in any order.
        while let Some(entry) = self.pop() {
            #[cfg(debug_assertions)]
            if std::thread::panicking() {
                DROPPED_WHILE_UNWINDING.set(DROPPED_WHILE_UNWINDING.get() + 1);
            }
            drop(entry);
            give_way_in_drop(NODE);
        }
    }
}

#[cfg(debug_assertions)]
thread_local! {
    /// The number of nodes that were dropped while the stack was unwound. A stack that is being unwound cannot be
    /// suspended. A test in the crate `script` reads this number.
    pub static DROPPED_WHILE_UNWINDING: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Receives the parser's events and builds the tree.
struct Builder {
    nodes: RefCell<Nodes>,
}

impl Default for Builder {
    fn default() -> Self {
        let document = Entry {
            kind: Kind::Document,
            parent: None,
            children: Vec::new(),
        };
        let mut nodes = Nodes::default();
        nodes.push(document);
        Builder {
            nodes: RefCell::new(nodes),
        }
    }
}

/// An element's name. Cloning it is cheap, because its parts are interned.
#[derive(Debug)]
struct Named(QualName);

impl ElemName for Named {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Builder {
    fn add(&self, kind: Kind) -> usize {
        give_way(NODE);
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Entry {
            kind,
            parent: None,
            children: Vec::new(),
        });
        nodes.len() - 1
    }

    /// Inserts `child` under `parent`: before the child at `place`, or last if that is `None`.
    fn put(&self, parent: usize, place: Option<usize>, child: NodeOrText<usize>) {
        give_way(NODE);
        let mut nodes = self.nodes.borrow_mut();
        let place = place.unwrap_or(nodes[parent].children.len());
        let child = match child {
            NodeOrText::AppendNode(child) => child,
            NodeOrText::AppendText(text) => {
                // Merge adjacent text into one node.
                let before = place.checked_sub(1).map(|at| nodes[parent].children[at]);
                if let Some(before) = before
                    && let Kind::Text(known) = &mut nodes[before].kind
                {
                    known.push_str(&text);
                    return;
                }
                nodes.push(Entry {
                    kind: Kind::Text(text.to_string()),
                    parent: None,
                    children: Vec::new(),
                });
                nodes.len() - 1
            }
        };
        detach(&mut nodes, child);
        let place = place.min(nodes[parent].children.len());
        nodes[child].parent = Some(parent);
        reserve_in_pieces(&mut nodes[parent].children, 1);
        nodes[parent].children.insert(place, child);
    }
}

fn detach(nodes: &mut Nodes, child: usize) {
    if let Some(parent) = nodes[child].parent.take() {
        let children = &mut nodes[parent].children;
        give_way(children.len());
        children.retain(|other| *other != child);
    }
}

// All handles are indexes of nodes that this builder has created, and nodes are never removed.
impl TreeSink for Builder {
    type Handle = usize;
    type Output = Tree;
    type ElemName<'a> = Named;

    fn finish(self) -> Tree {
        Tree {
            nodes: self.nodes.into_inner(),
        }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> Named {
        // The parser calls this for all open elements when an element begins or ends.
        give_way(16);
        match &self.nodes.borrow()[*target].kind {
            Kind::Element(name, _) => Named(name.clone()),
            _ => Named(QualName::new(
                None,
                Namespace::from(""),
                LocalName::from(""),
            )),
        }
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> usize {
        self.add(Kind::Element(name, attrs))
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        self.add(Kind::Comment(text.to_string()))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> usize {
        self.add(Kind::Comment(format!("?{target} {data}")))
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.put(*parent, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &usize,
        previous: &usize,
        child: NodeOrText<usize>,
    ) {
        let has_parent = self.nodes.borrow()[*element].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, _: StrTendril, _: StrTendril) {
        let doctype = self.add(Kind::Doctype(name.to_string()));
        self.put(DOCUMENT, None, NodeOrText::AppendNode(doctype));
    }

    // The contents of a template are searched like other contents.
    fn get_template_contents(&self, target: &usize) -> usize {
        *target
    }

    fn same_node(&self, one: &usize, other: &usize) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, child: NodeOrText<usize>) {
        if let NodeOrText::AppendNode(child) = &child {
            detach(&mut self.nodes.borrow_mut(), *child);
        }
        let (parent, place) = {
            let nodes = self.nodes.borrow();
            let Some(parent) = nodes[*sibling].parent else {
                return;
            };
            let children = &nodes[parent].children;
            give_way(children.len());
            (parent, children.iter().position(|other| other == sibling))
        };
        self.put(parent, place, child);
    }

    fn add_attrs_if_missing(&self, target: &usize, attrs: Vec<Attribute>) {
        if let Kind::Element(_, known) = &mut self.nodes.borrow_mut()[*target].kind {
            for attr in attrs {
                if known.iter().all(|other| other.name != attr.name) {
                    known.push(attr);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &usize) {
        detach(&mut self.nodes.borrow_mut(), *target);
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[*node].children);
        give_way(children.len());
        for child in &children {
            nodes[*child].parent = Some(*new_parent);
        }
        nodes[*new_parent].children.extend(children);
    }
}
