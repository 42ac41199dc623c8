//! An HTTP request of a plan, with the headers, assertions and extractors in its tree.

use roxmltree::Node;

use super::scope::Scope;
use super::{Reader, elements, pairs, property, shown};
use crate::correlate::json_path;
use crate::har::body_of;
use crate::headers::needed;
use crate::javascript::string;
use crate::journey::{Body, Extract, Json, Part, Request};
use crate::text::Text;
use crate::url;

impl Reader {
    pub(super) fn sampler(
        &mut self,
        element: Node<'_, '_>,
        inner: Option<Node<'_, '_>>,
        scope: &Scope,
    ) {
        let mut scope = scope.clone();
        let inner = inner.map_or(Vec::new(), elements);
        for (child, _) in &inner {
            self.configure(*child, &mut scope);
        }
        scope.defaults(element);
        let method = property(element, "HTTPSampler.method");
        let method = if method.is_empty() {
            "GET".to_owned()
        } else {
            method.to_ascii_uppercase()
        };
        let arguments = pairs(
            element,
            "Arguments.arguments",
            "Argument.name",
            "Argument.value",
        );
        let is_raw = property(element, "HTTPSampler.postBodyRaw") == "true";
        let has_body = !matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS");
        let Some(mut target) = self.target(&scope) else {
            return self
                .journey
                .problem(shown(element), "it has no server name");
        };
        if !is_raw && !has_body {
            let mut joint = if target.shown().contains('?') {
                "&"
            } else {
                "?"
            };
            for (name, value) in &arguments {
                target.push_literal(&format!("{joint}{}=", url::encode(name)));
                target.0.extend(self.encoded(value).0);
                joint = "&";
            }
        }
        let mut headers: Vec<(String, Text)> = scope
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), self.variables.text(value)))
            .collect();
        let mut request = Request {
            group: scope.group.clone(),
            name: element
                .attribute("testname")
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            url: target,
            pause: scope.pause,
            ..Request::default()
        };
        request.body = match (is_raw, has_body) {
            (true, _) => self.raw(&arguments, &headers),
            (false, true) => self.form(element, &arguments, &mut request.notes),
            (false, false) => Body::None,
        };
        if matches!(request.body, Body::Form(_)) {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        request.keeps_redirect = property(element, "HTTPSampler.follow_redirects") == "false"
            && property(element, "HTTPSampler.auto_redirects") != "true";
        request.headers = needed(&method, headers);
        request.method = method;
        for (child, _) in inner {
            self.child(child, &mut request);
        }
        self.journey.requests.push(request);
    }

    /// The URL. Variables in its origin are replaced with their values, so that the script contains each origin only
    /// once.
    fn target(&mut self, scope: &Scope) -> Option<Text> {
        let path = scope.path.trim();
        if path.starts_with("http://") || path.starts_with("https://") {
            return Some(self.variables.text(path));
        }
        let domain = self.variables.inline(scope.domain.trim());
        if domain.is_empty() {
            return None;
        }
        let protocol = self
            .variables
            .inline(scope.protocol.trim())
            .to_ascii_lowercase();
        let protocol = if protocol.is_empty() {
            "http"
        } else {
            &protocol
        };
        let port = self.variables.inline(scope.port.trim());
        let is_default = matches!(
            (protocol, port.as_str()),
            (_, "" | "0") | ("http", "80") | ("https", "443")
        );
        let port = if is_default {
            String::new()
        } else {
            format!(":{port}")
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(
            self.variables
                .text(&format!("{protocol}://{domain}{port}{slash}{path}")),
        )
    }

    /// Text for a query. Its literal parts are percent-encoded.
    fn encoded(&mut self, text: &str) -> Text {
        let mut text = self.variables.text(text);
        for piece in &mut text.0 {
            match piece {
                crate::text::Piece::Literal(literal) => {
                    *literal = url::encode(&url::decode(literal, false))
                }
                crate::text::Piece::Code(code) => *code = format!("encodeURIComponent({code})"),
            }
        }
        text
    }

    fn raw(&mut self, arguments: &[(String, String)], headers: &[(String, Text)]) -> Body {
        let raw: String = arguments.iter().map(|(_, value)| value.as_str()).collect();
        let kind = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map_or(String::new(), |(_, value)| value.shown());
        if kind.contains("json")
            && !raw.contains("${")
            && let Body::Json(json) = body_of("json", &raw, Vec::new)
        {
            return Body::Json(json);
        }
        if kind.contains("json")
            && let Some(json) = Json::parse(&raw)
        {
            return Body::Json(self.filled(json));
        }
        match raw.as_str() {
            "" => Body::None,
            raw => Body::Text(self.variables.text(raw)),
        }
    }

    fn filled(&mut self, json: Json) -> Json {
        match json {
            Json::Plain(plain) => Json::Plain(plain),
            Json::Text(text) => {
                // A string remains a string.
                let mut whole = Text(vec![crate::text::Piece::Literal(String::new())]);
                whole
                    .0
                    .extend(self.variables.text(text.literal().unwrap_or_default()).0);
                match whole.0.len() {
                    1 => Json::Text(Text::default()),
                    2 if matches!(whole.0[1], crate::text::Piece::Literal(_)) => {
                        Json::Text(Text(vec![whole.0.remove(1)]))
                    }
                    _ => Json::Text(whole),
                }
            }
            Json::List(items) => {
                Json::List(items.into_iter().map(|item| self.filled(item)).collect())
            }
            Json::Object(fields) => {
                let fields = fields.into_iter();
                Json::Object(
                    fields
                        .map(|(name, value)| (name, self.filled(value)))
                        .collect(),
                )
            }
        }
    }

    fn form(
        &mut self,
        element: Node<'_, '_>,
        arguments: &[(String, String)],
        notes: &mut Vec<String>,
    ) -> Body {
        let files = pairs(element, "HTTPFileArgs.files", "File.path", "File.paramname");
        let is_multipart = property(element, "HTTPSampler.DO_MULTIPART_POST") == "true";
        if files.is_empty() && !is_multipart {
            let mut names: Vec<&str> = arguments.iter().map(|(name, _)| name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            if names.len() < arguments.len() {
                // An object would keep only one of several values.
                let mut text = Text::default();
                for (at, (name, value)) in arguments.iter().enumerate() {
                    text.push_literal(if at == 0 { "" } else { "&" });
                    text.push_literal(&format!("{}=", url::encode(name)));
                    text.0.extend(self.encoded(value).0);
                }
                return Body::Text(text);
            }
            let fields = arguments
                .iter()
                .map(|(name, value)| (name.clone(), self.variables.text(value)));
            let fields: Vec<_> = fields.collect();
            return if fields.is_empty() {
                Body::None
            } else {
                Body::Form(fields)
            };
        }
        let mut parts: Vec<Part> = arguments
            .iter()
            .map(|(name, value)| Part {
                name: name.clone(),
                value: self.variables.text(value),
                file: None,
            })
            .collect();
        for (path, name) in files {
            let file = path
                .rsplit(['/', '\\'])
                .next()
                .unwrap_or_default()
                .to_owned();
            self.journey.problem(
                shown(element),
                format!(
                    "the content of the file {file} is a placeholder; use open() in the script"
                ),
            );
            notes.push(format!("The content of {file} is a placeholder."));
            let kind = "application/octet-stream".to_owned();
            parts.push(Part {
                name,
                value: "placeholder".into(),
                file: Some((file, kind)),
            });
        }
        Body::Multipart(parts)
    }

    fn child(&mut self, child: Node<'_, '_>, request: &mut Request) {
        let extract = match child.tag_name().name() {
            "HeaderManager"
            | "ConstantTimer"
            | "UniformRandomTimer"
            | "GaussianRandomTimer"
            | "ResultCollector"
            | "Arguments"
            | "CookieManager"
            | "CacheManager" => return,
            "ResponseAssertion"
                if property(child, "Assertion.test_field") == "Assertion.response_code" =>
            {
                let strings = child
                    .descendants()
                    .filter(|node| node.has_tag_name("stringProp"));
                let texts = strings.filter_map(|node| node.text()?.trim().parse::<u16>().ok());
                let codes: Vec<u16> = texts.filter(|code| (100..1000).contains(code)).collect();
                request.status = codes.first().copied().or(request.status);
                return;
            }
            "JSONPostProcessor" => self.by_json_path(child),
            "RegexExtractor" => self.by_expression(child),
            "BoundaryExtractor" => self.by_boundaries(child),
            "HtmlExtractor" => self.by_selector(child),
            _ => None,
        };
        match extract {
            Some(extract) => request.extracts.push(extract),
            None => self
                .journey
                .problem(shown(child), "it cannot be translated"),
        }
    }

    fn extracted(&mut self, name: &str, code: String) -> Option<Extract> {
        let name = name.trim();
        (!name.is_empty()).then(|| Extract {
            variable: self.variables.extract(name),
            code,
            place: "the response".to_owned(),
        })
    }

    /// Only plain paths, such as `$.data[0].token`.
    fn by_json_path(&mut self, child: Node<'_, '_>) -> Option<Extract> {
        let name = property(child, "JSONPostProcessor.referenceNames");
        let path = property(child, "JSONPostProcessor.jsonPathExprs");
        let mut rest = path.trim().strip_prefix('$')?;
        let mut keys = Vec::new();
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (key, after) = inner.split_once(']')?;
                keys.push(key.trim_matches(['\'', '"']).to_owned());
                rest = after;
            } else {
                let inner = rest.strip_prefix('.')?;
                let end = inner.find(['.', '[']).unwrap_or(inner.len());
                let (key, after) = inner.split_at(end);
                keys.push(key.to_owned());
                rest = after;
            }
        }
        let is_plain = keys
            .iter()
            .all(|key| !key.is_empty() && !key.contains(['*', '?', '@', ':', ',', '(']));
        (is_plain && !keys.is_empty() && !name.contains(';'))
            .then(|| format!("response.json({})", string(&json_path(&keys))))
            .and_then(|code| self.extracted(&name, code))
    }

    fn by_expression(&mut self, child: Node<'_, '_>) -> Option<Extract> {
        let name = property(child, "RegexExtractor.refname");
        let expression = property(child, "RegexExtractor.regex");
        let template = property(child, "RegexExtractor.template");
        let group: usize = template.trim_matches('$').parse().ok()?;
        let source = match property(child, "RegexExtractor.useHeaders").as_str() {
            "" | "false" | "unescaped" | "as_document" => "response.body",
            "URL" => "response.url",
            _ => return None,
        };
        // JavaScript does not support possessive quantifiers and inline flags.
        let is_known = !["(?i", "(?s", "(?m", "*+", "++", "?+", "\\Q"]
            .iter()
            .any(|part| expression.contains(part));
        let pattern = format!("new RegExp({})", string(&expression));
        let code = format!("{source}.match({pattern})?.[{group}]");
        if !is_known || expression.is_empty() {
            return None;
        }
        self.extracted(&name, code)
    }

    fn by_boundaries(&mut self, child: Node<'_, '_>) -> Option<Extract> {
        let name = property(child, "BoundaryExtractor.refname");
        let (left, right) = (
            property(child, "BoundaryExtractor.lboundary"),
            property(child, "BoundaryExtractor.rboundary"),
        );
        if left.is_empty() || right.is_empty() {
            return None;
        }
        let code = format!(
            "response.body.split({})[1]?.split({})[0]",
            string(&left),
            string(&right)
        );
        self.extracted(&name, code)
    }

    fn by_selector(&mut self, child: Node<'_, '_>) -> Option<Extract> {
        let name = property(child, "HtmlExtractor.refname");
        let selector = string(&property(child, "HtmlExtractor.expr"));
        let attribute = property(child, "HtmlExtractor.attribute");
        let get = match attribute.as_str() {
            "" => "text()".to_owned(),
            attribute => format!("attr({})", string(attribute)),
        };
        self.extracted(
            &name,
            format!("response.html().find({selector}).first().{get}"),
        )
    }
}
