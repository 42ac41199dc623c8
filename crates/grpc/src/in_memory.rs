//! Entry points for fuzz targets: they read what a server sends, without a connection. Not for
//! other callers.

use http::{HeaderMap, HeaderName, HeaderValue};
use prost_reflect::DescriptorPool;

use crate::details;
use crate::metadata::Metadata;
use crate::reflection;
use crate::status::Status;

/// Reads `fields` as the trailers of a call. Returns the status, its details as JSON, and the metadata.
pub fn read_trailers<'a>(
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
) -> (Option<Status>, String, Metadata) {
    let valid = |(name, value)| {
        let name = HeaderName::from_bytes(name).ok()?;
        Some((name, HeaderValue::from_bytes(value).ok()?))
    };
    let mut headers = HeaderMap::new();
    for (name, value) in fields.filter_map(valid) {
        headers.append(name, value);
    }
    let status = Status::of_headers(&headers);
    let bytes = status.as_ref().map_or(&[][..], |status| &status.details);
    let json = details::to_json(bytes, &DescriptorPool::global());
    (status, json, Metadata::read(&headers))
}

/// Reads a response of the reflection service. Returns the numbers of services and of files that it
/// names.
pub fn read_reflection(reply: &[u8]) -> (usize, usize) {
    let files: usize = reflection::files_of(reply)
        .map(|file| 1 + reflection::imports_of(file).count())
        .sum();
    (reflection::services_of(reply).len(), files)
}
