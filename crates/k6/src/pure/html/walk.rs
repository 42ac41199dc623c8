//! Reads a tree: names, attributes, texts, and navigation between nodes.

use html5ever::serialize::{HtmlSerializer, SerializeOpts, Serializer};

use plimsoll_quickjs::{collect_in_pieces, give_way, reserve_in_pieces};

use super::tree::{Entry, Kind, Node};

/// Bytes of text written at once.
const PIECE: usize = 4096;
/// The cost of a step between nodes, as a number of bytes that could be read in the same time.
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

    /// An element's name in lower case; for other nodes their name in the DOM.
    pub fn name(&self) -> &str {
        match &self.entry().kind {
            Kind::Document => "#document",
            Kind::Doctype(_) => "#doctype",
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
        let attributes = match &self.entry().kind {
            Kind::Element(_, attributes) => &attributes[..],
            _ => &[],
        };
        attributes
            .iter()
            .map(|attribute| (&*attribute.name.local, &*attribute.value))
    }

    /// The document it is in.
    pub fn root(&self) -> Node {
        self.at(super::tree::DOCUMENT)
    }

    /// A key that is unique among all nodes while the node lives.
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

    /// All element children of its parent, including itself, and its position among them.
    pub fn siblings(&self) -> (Vec<Node>, usize) {
        let all = self
            .parent()
            .map_or_else(|| vec![self.clone()], |parent| parent.element_children());
        give_way(all.len());
        let place = all.iter().position(|node| node == self).unwrap_or(0);
        (all, place)
    }

    /// All nodes below it in the order of the document.
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

    /// All text in it.
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

    /// Its content as HTML.
    pub fn inner_html(&self) -> String {
        let mut html = Vec::new();
        let options = SerializeOpts {
            create_missing_parent: true,
            ..SerializeOpts::default()
        };
        let mut serializer = HtmlSerializer::new(&mut html, options);
        // Writing to memory cannot fail.
        let _ = self.write(&mut serializer);
        String::from_utf8(html).unwrap_or_default()
    }

    fn write(&self, serializer: &mut impl Serializer) -> std::io::Result<()> {
        enum Step {
            Open(usize),
            Close(usize),
        }
        let nodes = &self.tree.nodes;
        let mut waiting = Vec::new();
        push_reversed(&mut waiting, &self.entry().children, Step::Open);
        while let Some(step) = waiting.pop() {
            give_way(STEP);
            match step {
                Step::Close(id) => {
                    if let Kind::Element(name, _) = &nodes[id].kind {
                        serializer.end_elem(name.clone())?;
                    }
                }
                Step::Open(id) => match &nodes[id].kind {
                    Kind::Document => {}
                    Kind::Doctype(name) => serializer.write_doctype(name)?,
                    Kind::Text(text) => {
                        let mut rest = text.as_str();
                        while !rest.is_empty() {
                            let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
                            serializer.write_text(piece)?;
                            give_way(PIECE);
                            rest = after;
                        }
                    }
                    Kind::Comment(text) => serializer.write_comment(text)?,
                    Kind::Element(name, attributes) => {
                        let attributes = attributes.iter().map(|a| (&a.name, &a.value[..]));
                        serializer.start_elem(name.clone(), attributes)?;
                        waiting.push(Step::Close(id));
                        push_reversed(&mut waiting, &nodes[id].children, Step::Open);
                    }
                },
            }
        }
        Ok(())
    }
}

/// Pushes `of` each number, the last one first, and yields occasionally.
fn push_reversed<T>(to: &mut Vec<T>, numbers: &[usize], of: impl Fn(usize) -> T) {
    for piece in numbers.rchunks(PIECE) {
        give_way(PIECE);
        reserve_in_pieces(to, piece.len());
        to.extend(piece.iter().rev().map(|number| of(*number)));
    }
}
