//! The settings that apply to the samplers of a tree.

use std::time::Duration;

use roxmltree::Node;

use super::property;

/// The defaults, headers and pauses of a tree and of its ancestors.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub group: Option<String>,
    pub headers: Vec<(String, String)>,
    pub pause: Duration,
    pub protocol: String,
    pub domain: String,
    pub port: String,
    pub path: String,
}

impl Scope {
    /// Applies defaults for HTTP requests. Empty values leave the current ones unchanged.
    pub fn defaults(&mut self, element: Node<'_, '_>) {
        for (name, field) in [
            ("HTTPSampler.protocol", &mut self.protocol),
            ("HTTPSampler.domain", &mut self.domain),
            ("HTTPSampler.port", &mut self.port),
            ("HTTPSampler.path", &mut self.path),
        ] {
            let given = property(element, name);
            if !given.trim().is_empty() {
                *field = given;
            }
        }
    }
}
