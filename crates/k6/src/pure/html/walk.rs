//! Reads a tree: names, attributes, texts, and navigation between nodes.

use plimsoll_quickjs::{collect_in_pieces, give_way, reserve_in_pieces};

use super::tree::{Entry, Kind, Node};

/// The number of bytes of text to write at a time.
const PIECE: usize = 4096;
/// The cost of a step between nodes, as the number of bytes that could be read in the same time.
const STEP: usize = 64;
/// The cost of listing a child, in the same unit.
const CHILD: usize = 8;

impl Node {
    fn entry(&self) -> &Entry {
        &self.tree.nodes[self.id]
    }

    fn at(&self, id: usize) -> Node {
        Node {
            tree: self.tree.clone(),
            id,
        }
    }

    pub fn is_element(&self) -> bool {
        matches!(self.entry().kind, Kind::Element(..))
    }

    /// An element's name in lower case. Other nodes have their DOM name.
    pub fn name(&self) -> &str {
        match &self.entry().kind {
            Kind::Document => "#document",
            Kind::Doctype(name) => name,
            Kind::Text(_) => "#text",
            Kind::Comment(_) => "#comment",
            Kind::Element(name, _) => &name.local,
        }
    }

    /// The content of text and comments.
    pub fn value(&self) -> Option<&str> {
        match &self.entry().kind {
            Kind::Text(text) | Kind::Comment(text) => Some(text),
            _ => None,
        }
    }

    /// The DOM's number of the node type.
    pub fn kind(&self) -> u32 {
        match self.entry().kind {
            Kind::Element(..) => 1,
            Kind::Text(_) => 3,
            Kind::Comment(_) => 8,
            Kind::Document => 9,
            Kind::Doctype(_) => 10,
        }
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.qualified_attributes()
            .map(|(_, name, value)| (name, value))
    }

    /// Prefixes, local names and values. Only attributes of foreign elements have a prefix, such as `xlink`.
    pub fn qualified_attributes(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let attributes = match &self.entry().kind {
            Kind::Element(_, attributes) => &attributes[..],
            _ => &[],
        };
        attributes.iter().map(|attribute| {
            let prefix = attribute.name.prefix.as_deref().unwrap_or_default();
            (prefix, &*attribute.name.local, &*attribute.value)
        })
    }

    /// The document that the node is in.
    pub fn root(&self) -> Node {
        self.at(super::tree::DOCUMENT)
    }

    /// A key that is unique among all nodes while the node is alive.
    pub fn key(&self) -> (usize, usize) {
        (std::rc::Rc::as_ptr(&self.tree) as usize, self.id)
    }

    pub fn parent(&self) -> Option<Node> {
        self.entry().parent.map(|id| self.at(id))
    }

    /// The ancestor elements, closest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Node> + use<> {
        std::iter::successors(self.parent(), Node::parent)
            .inspect(|_| give_way(STEP))
            .filter(Node::is_element)
    }

    pub fn children(&self) -> Vec<Node> {
        let children = &self.entry().children;
        give_way(CHILD * children.len());
        collect_in_pieces(children.iter().map(|id| self.at(*id)))
    }

    pub fn element_children(&self) -> Vec<Node> {
        self.children()
            .into_iter()
            .filter(Node::is_element)
            .collect()
    }

    /// All element children of the node's parent, including the node itself, and its position among them.
    pub fn siblings(&self) -> (Vec<Node>, usize) {
        let all = self
            .parent()
            .map_or_else(|| vec![self.clone()], |parent| parent.element_children());
        give_way(all.len());
        let place = all.iter().position(|node| node == self).unwrap_or(0);
        (all, place)
    }

    /// All descendants in document order.
    pub fn descendants(&self) -> impl Iterator<Item = Node> + use<'_> {
        let mut waiting = Vec::new();
        push_reversed(&mut waiting, &self.entry().children, |id| id);
        std::iter::from_fn(move || {
            give_way(STEP);
            let id = waiting.pop()?;
            push_reversed(&mut waiting, &self.tree.nodes[id].children, |id| id);
            Some(self.at(id))
        })
    }

    pub fn text(&self) -> String {
        if let Kind::Text(text) = &self.entry().kind {
            give_way(text.len());
            return text.clone();
        }
        let mut all = String::new();
        for node in self.descendants() {
            if let Kind::Text(text) = &node.entry().kind {
                give_way(text.len());
                all.push_str(text);
            }
        }
        all
    }

    /// The text directly in the node.
    pub fn own_text(&self) -> String {
        let texts =
            self.entry()
                .children
                .iter()
                .filter_map(|id| match &self.tree.nodes[*id].kind {
                    Kind::Text(text) => {
                        give_way(text.len());
                        Some(text.as_str())
                    }
                    _ => None,
                });
        texts.collect()
    }

    /// The node's content as HTML, with k6's escapes: `<br/>`, `&#34;` and `&#39;`.
    pub fn inner_html(&self) -> String {
        enum Step {
            Open(usize),
            Close(usize),
        }
        let nodes = &self.tree.nodes;
        let mut html = String::new();
        let mut waiting = Vec::new();
        push_reversed(&mut waiting, &self.entry().children, Step::Open);
        // The open elements. The content of some elements needs no escapes. As in k6, the node's own text is always
        // escaped.
        let mut open: Vec<&str> = Vec::new();
        while let Some(step) = waiting.pop() {
            give_way(STEP);
            match step {
                Step::Close(id) => {
                    if let Kind::Element(name, _) = &nodes[id].kind {
                        html.extend(["</", &*name.local, ">"]);
                        open.pop();
                    }
                }
                Step::Open(id) => match &nodes[id].kind {
                    Kind::Document => {}
                    Kind::Doctype(name) => html.extend(["<!DOCTYPE ", name.as_ref(), ">"]),
                    Kind::Text(text) if open.last().is_some_and(|name| RAW.contains(name)) => {
                        push_pieces(&mut html, text, String::push_str);
                    }
                    Kind::Text(text) => push_pieces(&mut html, text, push_escaped),
                    Kind::Comment(text) => html.extend(["<!--", text.as_ref(), "-->"]),
                    Kind::Element(name, attributes) => {
                        html.extend(["<", &*name.local]);
                        for attribute in attributes {
                            html.push(' ');
                            if let Some(prefix) = &attribute.name.prefix {
                                html.extend([&**prefix, ":"]);
                            }
                            html.extend([&*attribute.name.local, "=\""]);
                            push_pieces(&mut html, &attribute.value, push_escaped);
                            html.push('"');
                        }
                        if VOID.contains(&&*name.local) {
                            html.push_str("/>");
                            continue;
                        }
                        html.push('>');
                        open.push(&*name.local);
                        waiting.push(Step::Close(id));
                        push_reversed(&mut waiting, &nodes[id].children, Step::Open);
                    }
                },
            }
        }
        html
    }
}

/// Elements without an end tag.
const VOID: [&str; 15] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track", "wbr",
];
/// Elements whose text is written without escapes.
const RAW: [&str; 8] = [
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "script",
    "style",
    "xmp",
];

/// Writes a text piece by piece, and yields occasionally.
fn push_pieces(html: &mut String, text: &str, push: impl Fn(&mut String, &str)) {
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
        push(html, piece);
        give_way(PIECE);
        rest = after;
    }
}

fn push_escaped(html: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&#34;"),
            '\'' => html.push_str("&#39;"),
            '\r' => html.push_str("&#13;"),
            other => html.push(other),
        }
    }
}

/// Pushes `of(number)` for each number, the last one first, and yields occasionally.
fn push_reversed<T>(to: &mut Vec<T>, numbers: &[usize], of: impl Fn(usize) -> T) {
    for piece in numbers.rchunks(PIECE) {
        give_way(PIECE);
        reserve_in_pieces(to, piece.len());
        to.extend(piece.iter().rev().map(|number| of(*number)));
    }
}
