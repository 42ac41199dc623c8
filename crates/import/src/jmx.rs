//! JMeter test plans, versions 3 to 5.

mod sampler;
mod scope;

use std::time::Duration;

use roxmltree::{Document, Node, ParsingOptions};

use crate::journey::Journey;
use crate::template::Variables;
use scope::Scope;

/// Maximum nesting depth of elements.
const MAX_DEPTH: usize = 64;
/// Maximum number of elements in a plan.
const MAX_NODES: u32 = 2_000_000;

/// Reads a test plan.
pub fn read(text: &str) -> Result<Journey, String> {
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| format!("this is not XML: {error}"))?;
    let root = document.root_element();
    if root.tag_name().name() != "jmeterTestPlan" {
        return Err(format!(
            "it is not a test plan of JMeter: its root is <{}>",
            root.tag_name().name()
        ));
    }
    let mut reader = Reader {
        journey: Journey::default(),
        variables: Variables::new("${", "}", function),
    };
    for tree in root.children().filter(|node| node.has_tag_name("hashTree")) {
        reader.tree(tree, &Scope::default(), 0);
    }
    let mut journey = reader.journey;
    reader.variables.finish(&mut journey);
    Ok(journey)
}

/// JavaScript expressions for JMeter functions.
fn function(call: &str) -> Option<String> {
    let (name, rest) = call.split_once('(').unwrap_or((call, ""));
    let arguments = rest.strip_suffix(')').unwrap_or(rest);
    let mut arguments = arguments.split(',').map(str::trim);
    let code = match name {
        "__UUID" => "crypto.randomUUID()".to_owned(),
        "__time" | "__timeShift" => "Date.now()".to_owned(),
        "__threadNum" => "__VU".to_owned(),
        "__counter" => "(__ITER + 1)".to_owned(),
        "__Random" => {
            let low: i64 = arguments.next()?.parse().ok()?;
            let high: i64 = arguments.next()?.parse().ok()?;
            let count = high.checked_sub(low)?.checked_add(1)?;
            format!("({low} + Math.floor(Math.random() * {count}))")
        }
        // A property: an environment variable with the same name replaces its default value.
        "__P" | "__property" => {
            let name = arguments.next()?;
            let default = arguments.next().unwrap_or_default();
            let name = crate::javascript::string(name);
            format!("(__ENV[{name}] || {})", crate::javascript::string(default))
        }
        _ => return None,
    };
    Some(code)
}

struct Reader {
    journey: Journey,
    variables: Variables,
}

/// An element of a plan, and the tree of the elements inside it.
type Element<'a, 'i> = (Node<'a, 'i>, Option<Node<'a, 'i>>);

/// The elements of a tree. Each is followed by its own tree.
fn elements<'a, 'i>(tree: Node<'a, 'i>) -> Vec<Element<'a, 'i>> {
    let mut elements: Vec<Element<'a, 'i>> = Vec::new();
    for node in tree.children().filter(Node::is_element) {
        match elements.last_mut() {
            Some((_, inner @ None)) if node.has_tag_name("hashTree") => *inner = Some(node),
            _ if node.has_tag_name("hashTree") => {}
            _ => elements.push((node, None)),
        }
    }
    elements.retain(|(node, _)| node.attribute("enabled") != Some("false"));
    elements
}

/// The value of a property, such as `<stringProp name="…">`.
fn property(element: Node<'_, '_>, name: &str) -> String {
    let mut properties = element.children();
    let found = properties.find(|node| node.attribute("name") == Some(name));
    let text = found.and_then(|node| node.text());
    text.unwrap_or_default().to_owned()
}

/// The names and values of a collection of arguments or headers.
fn pairs(
    element: Node<'_, '_>,
    collection: &str,
    name: &str,
    value: &str,
) -> Vec<(String, String)> {
    let lists = element.descendants().filter(|node| {
        node.has_tag_name("collectionProp") && node.attribute("name") == Some(collection)
    });
    let items = lists.flat_map(|list| {
        list.children()
            .filter(|node| node.has_tag_name("elementProp"))
    });
    items
        .map(|item| (property(item, name), property(item, value)))
        .collect()
}

fn shown(element: Node<'_, '_>) -> String {
    let name = element.attribute("testname").unwrap_or_default();
    format!("{} \"{name}\"", element.tag_name().name())
}

impl Reader {
    fn tree(&mut self, tree: Node<'_, '_>, above: &Scope, depth: usize) {
        if depth > MAX_DEPTH {
            return self
                .journey
                .problem("an element of the plan", "it is nested too deeply");
        }
        let elements = elements(tree);
        let mut scope = above.clone();
        for (element, _) in &elements {
            self.configure(*element, &mut scope);
        }
        for (element, inner) in elements {
            self.element(element, inner, &scope, depth);
        }
    }

    /// Defaults, headers, variables and timers apply to everything in the same tree.
    fn configure(&mut self, element: Node<'_, '_>, scope: &mut Scope) {
        match element.tag_name().name() {
            "TestPlan" | "Arguments" => {
                let variables = pairs(
                    element,
                    "Arguments.arguments",
                    "Argument.name",
                    "Argument.value",
                );
                for (name, value) in variables {
                    self.variables.define(&name, &value);
                }
            }
            "ConfigTestElement" => scope.defaults(element),
            "HeaderManager" => {
                scope.headers.extend(pairs(
                    element,
                    "HeaderManager.headers",
                    "Header.name",
                    "Header.value",
                ));
            }
            "ConstantTimer" => {
                scope.pause += self.milliseconds(element, "ConstantTimer.delay", 1.0)
            }
            "UniformRandomTimer" | "GaussianRandomTimer" => {
                scope.pause += self.milliseconds(element, "ConstantTimer.delay", 1.0);
                scope.pause += match element.tag_name().name() {
                    // Half of the range is its mean.
                    "UniformRandomTimer" => self.milliseconds(element, "RandomTimer.range", 0.5),
                    _ => Duration::ZERO,
                };
            }
            "AuthManager"
            | "CSVDataSet"
            | "CounterConfig"
            | "RandomVariableConfig"
            | "KeystoreConfig" => {
                self.journey.problem(shown(element), "it is left out");
            }
            _ => {}
        }
    }

    fn milliseconds(&self, element: Node<'_, '_>, name: &str, share: f64) -> Duration {
        let value: f64 = self
            .variables
            .inline(&property(element, name))
            .trim()
            .parse()
            .unwrap_or(0.0);
        // A pause is at most an hour.
        Duration::from_secs_f64((value * share / 1e3).clamp(0.0, 3600.0))
    }

    fn element(
        &mut self,
        element: Node<'_, '_>,
        inner: Option<Node<'_, '_>>,
        scope: &Scope,
        depth: usize,
    ) {
        let kind = element.tag_name().name();
        match kind {
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => {
                return self.sampler(element, inner, scope);
            }
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => {
                let users = property(element, "ThreadGroup.num_threads");
                if users.trim() != "1" && !users.is_empty() {
                    self.journey.problem(
                        shown(element),
                        format!("its load is not in the script; use plimsoll run -u {users}"),
                    );
                }
            }
            "LoopController"
            | "WhileController"
            | "ForeachController"
            | "IfController"
            | "SwitchController"
            | "RandomController"
            | "RandomOrderController"
            | "InterleaveControl"
            | "OnceOnlyController"
            | "ThroughputController"
            | "RunTime" => {
                self.journey
                    .problem(shown(element), "its requests are sent once, in order");
            }
            "Arguments"
            | "ConfigTestElement"
            | "HeaderManager"
            | "TestPlan"
            | "ConstantTimer"
            | "UniformRandomTimer"
            | "GaussianRandomTimer"
            | "CookieManager"
            | "CacheManager"
            | "TransactionController"
            | "GenericController"
            | "ResultCollector"
            | "Summariser"
            | "AuthManager"
            | "CSVDataSet"
            | "CounterConfig"
            | "RandomVariableConfig"
            | "KeystoreConfig"
            | "DNSCacheManager"
            | "BackendListener"
            | "CriticalSectionController" => {}
            _ if kind.ends_with("ThreadGroup") => {
                self.journey
                    .problem(shown(element), "its load is not in the script");
            }
            _ => self
                .journey
                .problem(shown(element), "it cannot be translated"),
        }
        let Some(inner) = inner else { return };
        let mut scope = scope.clone();
        if matches!(kind, "TransactionController" | "GenericController") {
            scope.group = element.attribute("testname").map(str::to_owned);
        }
        self.tree(inner, &scope, depth + 1);
    }
}
