//! HTTP Archive 1.2, as Chrome, Edge, Firefox, Safari and proxies export it.

mod redirects;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine;
use serde::Deserialize;
use serde_json::Value;

use crate::headers::needed;
use crate::journey::{Body, Cookie, Journey, Json, Part, Request, Response};
use crate::settings::Settings;
use crate::url;

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    #[serde(default)]
    pages: Vec<Value>,
    entries: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    started_date_time: String,
    /// Milliseconds.
    #[serde(default)]
    time: Option<f64>,
    pageref: Option<String>,
    request: HarRequest,
    #[serde(default)]
    response: HarResponse,
    #[serde(rename = "_webSocketMessages")]
    messages: Option<Value>,
    #[serde(rename = "_error")]
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Header>,
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    params: Option<Vec<Param>>,
}

/// A field of a form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Param {
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    file_name: Option<String>,
    #[serde(default)]
    content_type: Option<String>,
}

impl PostData {
    /// The names of the files whose content was not recorded.
    fn lost_files(&self) -> impl Iterator<Item = &str> {
        let has_text = self.text.as_ref().is_some_and(|text| !text.is_empty());
        let params = self.params.iter().flatten().filter(move |_| !has_text);
        params
            .filter(|param| param.value.is_none())
            .filter_map(|param| param.file_name.as_deref())
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarResponse {
    #[serde(default)]
    status: Option<f64>,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    content: Content,
    #[serde(default, rename = "redirectURL")]
    redirect: Option<String>,
    #[serde(rename = "_error")]
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    encoding: Option<String>,
}

/// Longer pauses are cut: nobody wants to wait for a break in the middle of a recording.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Reads a recording.
pub fn read(text: &str, settings: &Settings) -> Result<Journey, String> {
    let file: File = serde_json::from_str(text)
        .map_err(|error| format!("this is not a recording in the HAR format: {error}"))?;
    let mut reader = Reader {
        settings,
        pages: pages(&file.log.pages),
        site: None,
        other_sites: BTreeMap::new(),
        journey: Journey::default(),
        ended: None,
    };
    for (at, entry) in file.log.entries.into_iter().enumerate() {
        reader.entry(at + 1, entry);
    }
    reader.name_other_sites();
    let mut journey = reader.journey;
    redirects::merge(&mut journey.requests);
    add_cookies(&mut journey);
    for request in &mut journey.requests {
        request.headers = needed(&request.method, std::mem::take(&mut request.headers));
    }
    Ok(journey)
}

/// The titles of pages by identifier. The title of a page is often its URL.
fn pages(pages: &[Value]) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    let mut used: Vec<String> = Vec::new();
    for page in pages {
        let part = |name: &str| page.get(name).and_then(Value::as_str);
        let (Some(id), Some(title)) = (part("id"), part("title")) else {
            continue;
        };
        let title = match url::split(title) {
            Some((_, "")) => "/",
            Some((_, rest)) => rest.split(['?', '#']).next().unwrap_or("/"),
            None => title.trim(),
        };
        let title = if title.is_empty() { id } else { title };
        let mut name = title.to_owned();
        let mut number = 2;
        while used.contains(&name) {
            name = format!("{title} ({number})");
            number += 1;
        }
        used.push(name.clone());
        titles.insert(id.to_owned(), name);
    }
    titles
}

struct Reader<'a> {
    settings: &'a Settings,
    pages: BTreeMap<String, String>,
    /// The site of the first entry.
    site: Option<String>,
    /// The number of entries for each host of another site.
    other_sites: BTreeMap<String, Vec<usize>>,
    journey: Journey,
    /// When the previous entry ended, in milliseconds since 1970.
    ended: Option<f64>,
}

impl Reader<'_> {
    fn entry(&mut self, number: usize, entry: Value) {
        let entry: Entry = match serde_json::from_value(entry) {
            Ok(entry) => entry,
            Err(error) => {
                return self
                    .journey
                    .problem(format!("entry {number}"), error.to_string());
            }
        };
        let given = entry.request.url.as_str();
        let short: String = given.chars().take(100).collect();
        let shown = format!("entry {number}, {} {short}", entry.request.method);
        let Some(host) = url::host(given) else {
            return self
                .journey
                .problem(shown, "only requests of http and https can be translated");
        };
        let status = entry.response.status.unwrap_or(0.0);
        if entry.messages.is_some() || status as i64 == 101 {
            return self
                .journey
                .problem(shown, "it is a WebSocket; use k6/websockets");
        }
        if !(100.0..=999.0).contains(&status) {
            let error = entry.error.as_ref().or(entry.response.error.as_ref());
            let why = error.and_then(Value::as_str);
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            return self.journey.problem(
                shown,
                format!("it had no response when it was recorded{why}"),
            );
        }
        let site = url::site(host);
        let first = self.site.get_or_insert_with(|| site.to_owned());
        let is_included = self
            .settings
            .hosts
            .iter()
            .any(|wanted| host == wanted || host.ends_with(&format!(".{wanted}")));
        if first != site && !is_included {
            self.other_sites
                .entry(host.to_owned())
                .or_default()
                .push(number);
            return;
        }
        let pause = self.pause(&entry);
        // As checked above, it is between 100 and 999.
        let request = self.request(entry, shown, status as u16, pause);
        self.journey.requests.push(request);
    }

    /// The time since the end of the previous entry.
    fn pause(&mut self, entry: &Entry) -> Duration {
        let Ok(start) = entry.started_date_time.parse::<jiff::Timestamp>() else {
            return Duration::ZERO;
        };
        let start = start.as_millisecond() as f64;
        let time = entry.time.filter(|time| time.is_finite() && *time > 0.0);
        let end = start + time.unwrap_or(0.0);
        let before = self.ended;
        self.ended = Some(before.map_or(end, |before| before.max(end)));
        let pause = before.map_or(0.0, |before| start - before);
        // The time that a browser needs between two requests is not a user's think time.
        match pause > 300.0 {
            true => Duration::from_secs_f64((pause / 1e3).min(LONGEST_PAUSE.as_secs_f64())),
            false => Duration::ZERO,
        }
    }

    fn request(&mut self, entry: Entry, shown: String, status: u16, pause: Duration) -> Request {
        let group = entry
            .pageref
            .and_then(|page| self.pages.get(&page).cloned());
        let response = response(entry.response, status, &entry.request.url);
        let headers: Vec<_> = entry
            .request
            .headers
            .into_iter()
            .map(|header| (header.name, header.value.unwrap_or_default().into()))
            .collect();
        let mut notes = Vec::new();
        if pause >= LONGEST_PAUSE {
            notes.push("The recorded pause before this was longer.".to_owned());
        }
        let lost = entry
            .request
            .post_data
            .iter()
            .flat_map(PostData::lost_files);
        for file in lost {
            self.journey.problem(
                shown.clone(),
                format!(
                    "the content of the file {file} is a placeholder; use open() in the script"
                ),
            );
            notes.push(format!("The content of {} is a placeholder.", file));
        }
        Request {
            group,
            method: entry.request.method.to_ascii_uppercase(),
            url: entry
                .request
                .url
                .split('#')
                .next()
                .unwrap_or_default()
                .into(),
            body: entry.request.post_data.map_or(Body::None, body),
            headers,
            pause,
            // Without the browser's cache, the server sends the contents.
            status: (status != 304).then_some(status),
            response: Some(response),
            notes,
            ..Request::default()
        }
    }

    fn name_other_sites(&mut self) {
        for (host, numbers) in std::mem::take(&mut self.other_sites) {
            let mut list: Vec<String> = numbers.iter().take(10).map(usize::to_string).collect();
            if numbers.len() > 10 {
                list.push(format!("and {} more", numbers.len() - 10));
            }
            let entries = if numbers.len() == 1 {
                "entry"
            } else {
                "entries"
            };
            self.journey.problem(
                format!("{entries} {}", list.join(", ")),
                format!("requests to another site are left out; --host {host} includes them"),
            );
        }
    }
}

fn response(response: HarResponse, status: u16, url: &str) -> Response {
    let text = response.content.text.unwrap_or_default();
    let body = match response.content.encoding.as_deref() {
        Some("base64") => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(text.trim());
            let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
            text.unwrap_or_default()
        }
        _ => text,
    };
    let mut headers: Vec<_> = response
        .headers
        .into_iter()
        .map(|header| (header.name, header.value.unwrap_or_default()))
        .collect();
    let redirect = response.redirect.filter(|target| !target.is_empty());
    let has_location = headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("location"));
    if let (Some(target), false) = (redirect, has_location) {
        headers.push(("Location".to_owned(), target));
    }
    Response {
        status,
        headers,
        body,
        url: url.to_owned(),
    }
}

fn body(data: PostData) -> Body {
    let kind = data.mime_type.unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let text = data.text.unwrap_or_default();
    let params = data.params.unwrap_or_default();
    if kind == "multipart/form-data" && text.is_empty() && !params.is_empty() {
        return Body::Multipart(params.into_iter().map(part).collect());
    }
    body_of(&kind, &text, || {
        let fields = params.iter().map(|field| {
            let value = field.value.as_deref().unwrap_or_default();
            // Browsers export them percent-encoded.
            (url::decode(&field.name, true), url::decode(value, true))
        });
        fields.collect()
    })
}

/// A part of a multipart body. The recording may lack the content of a file.
fn part(param: Param) -> Part {
    let kind = param.content_type.filter(|kind| !kind.is_empty());
    let kind = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
    let file = param.file_name.filter(|name| !name.is_empty());
    let value = match (param.value, &file) {
        (None, Some(_)) => "placeholder".to_owned(),
        (value, _) => value.unwrap_or_default(),
    };
    Part {
        name: param.name,
        value: value.into(),
        file: file.map(|name| (name, kind)),
    }
}

/// The body for a media type. `fields` are the fields of a form, in case its text was not recorded.
pub(crate) fn body_of(
    kind: &str,
    text: &str,
    fields: impl FnOnce() -> Vec<(String, String)>,
) -> Body {
    if kind.ends_with("json")
        && let Some(json) = Json::parse(text)
    {
        return Body::Json(json);
    }
    if kind == "application/x-www-form-urlencoded" {
        let fields = match text.is_empty() {
            true => Some(fields()).filter(|fields| !fields.is_empty()),
            false => url::form(text),
        };
        if let Some(fields) = fields {
            let fields = fields.into_iter().map(|(name, value)| (name, value.into()));
            return Body::Form(fields.collect());
        }
    }
    match text {
        "" => Body::None,
        text => Body::Text(text.into()),
    }
}

/// Cookies of requests that no earlier response has set.
fn add_cookies(journey: &mut Journey) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut cookies = Vec::new();
    for request in &journey.requests {
        let start = request.url.start();
        let sent = request.header("cookie").and_then(|header| header.literal());
        for pair in sent.unwrap_or_default().split(';') {
            let Some((name, value)) = pair.trim().split_once('=') else {
                continue;
            };
            if known.insert(name.to_owned()) {
                cookies.push(Cookie {
                    origin: url::origin(start).unwrap_or_default().to_owned(),
                    name: name.to_owned(),
                    value: value.to_owned(),
                });
            }
        }
        let headers = request
            .response
            .iter()
            .flat_map(|response| &response.headers);
        for (name, value) in headers {
            // Some browsers join several cookies with a line feed.
            for line in value
                .split('\n')
                .filter(|_| name.eq_ignore_ascii_case("set-cookie"))
            {
                if let Some((name, _)) = line.split_once('=') {
                    known.insert(name.trim().to_owned());
                }
            }
        }
    }
    journey.cookies = cookies;
}

#[cfg(test)]
mod tests;
