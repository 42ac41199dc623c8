//! Requests the descriptions of services from the server (gRPC server reflection).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::call::Call;
use crate::channel::Channel;
use crate::code::Code;
use crate::frame::{Compression, Framed};
use crate::metadata::Metadata;
use crate::schema::{Method, Schema, split_method};
use crate::status::Status;
use crate::template::Template;
use crate::wire::{self, Field};

/// Maximum size of all descriptors together, so a reflection that never ends has a bounded cost.
const MAX_BYTES: usize = 64 << 20;
/// Maximum number of requests.
const MAX_REQUESTS: usize = 10_000;

/// The reflection services to try, newest first.
const SERVICES: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Field numbers of `ServerReflectionRequest`.
const FILE_BY_FILENAME: u32 = 3;
const FILE_CONTAINING_SYMBOL: u32 = 4;
const LIST_SERVICES: u32 = 7;
/// Field numbers of `ServerReflectionResponse`.
const FILE_DESCRIPTORS: u32 = 4;
const SERVICE_LIST: u32 = 6;
const ERROR: u32 = 7;

/// Requests the server's services and adds them to `schema`. With `only` (the name of a method),
/// requests only the service of that method.
///
/// # Errors
/// The reason why the server did not describe itself.
pub async fn reflect(
    channel: &Channel,
    schema: &mut Schema,
    only: Option<&str>,
    metadata: &Metadata,
    user_agent: &str,
    timeout: Duration,
) -> Result<Vec<Method>, Status> {
    let mut last = Status::ok();
    for path in SERVICES {
        let template = Template::new(
            channel.endpoint(),
            path,
            metadata,
            user_agent,
            Some(timeout),
            Compression::Identity,
        )
        .map_err(|error| Status::new(Code::INTERNAL, error))?;
        let call = channel.open(&template, plimsoll_clock::now()).await?;
        let mut session = Session {
            call,
            requests: 0,
            bytes: 0,
            files: BTreeMap::new(),
            imported: BTreeSet::new(),
        };
        match session.fetch_all(only).await {
            Ok(()) => {
                let files = session.files;
                return schema.add_files(&files).map_err(|error| {
                    Status::new(
                        Code::INTERNAL,
                        format!("the server's description is invalid: {error}"),
                    )
                });
            }
            Err(status) if status.code == Code::UNIMPLEMENTED => last = status,
            Err(status) => return Err(status),
        }
    }
    Err(last)
}

struct Session {
    call: Call,
    requests: usize,
    bytes: usize,
    files: BTreeMap<String, Vec<u8>>,
    /// Names of imported files that were not requested yet. Some of them may already have been
    /// received.
    imported: BTreeSet<String>,
}

impl Session {
    async fn fetch_all(&mut self, only: Option<&str>) -> Result<(), Status> {
        let services = match only {
            Some(method) => match split_method(method) {
                Some((service, _)) => vec![service.to_owned()],
                None => Vec::new(),
            },
            None => self.services().await?,
        };
        for service in services {
            self.fetch(FILE_CONTAINING_SYMBOL, &service).await?;
        }
        // Servers may omit imported files. A name is permanently removed from the set when its file was
        // received or requested.
        while let Some(name) = self.imported.pop_first() {
            if !self.files.contains_key(&name) {
                self.fetch(FILE_BY_FILENAME, &name).await?;
                self.files.entry(name).or_default();
            }
        }
        self.files.retain(|_, file| !file.is_empty());
        let _ = self.call.sender.finish().await;
        Ok(())
    }

    async fn services(&mut self) -> Result<Vec<String>, Status> {
        let reply = self.exchange(LIST_SERVICES, "*").await?;
        Ok(services_of(&reply))
    }

    /// Requests files and stores them.
    async fn fetch(&mut self, field: u32, name: &str) -> Result<(), Status> {
        let reply = self.exchange(field, name).await?;
        for file in files_of(&reply) {
            let name = wire::bytes_of(file, 1).unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            if !self.files.contains_key(&name) {
                self.bytes += file.len();
                self.imported.extend(imports_of(file));
                self.files.insert(name, file.to_vec());
            }
        }
        if self.bytes > MAX_BYTES {
            return Err(Status::new(
                Code::RESOURCE_EXHAUSTED,
                format!("the server's description has more than {MAX_BYTES} bytes"),
            ));
        }
        Ok(())
    }

    async fn exchange(&mut self, field: u32, text: &str) -> Result<bytes::Bytes, Status> {
        self.requests += 1;
        if self.requests > MAX_REQUESTS {
            return Err(Status::new(
                Code::RESOURCE_EXHAUSTED,
                format!("the server's description needs more than {MAX_REQUESTS} requests"),
            ));
        }
        let mut question = Vec::new();
        wire::put_bytes(&mut question, field, text.as_bytes());
        let question = Framed::new(&question, Compression::Identity, usize::MAX)?;
        // If sending fails, the receiver has the more precise error.
        let _ = self.call.sender.send(&question).await;
        let Some(reply) = self.call.receiver.message().await else {
            let status = self.call.receiver.status().cloned();
            let status = status.unwrap_or_else(Status::ok);
            return Err(if status.code.is_ok() {
                Status::new(Code::INTERNAL, "the server ended the reflection early")
            } else {
                status
            });
        };
        if let Some(error) = wire::bytes_of(&reply, ERROR) {
            let code = wire::fields(error).find_map(|field| match field {
                Field::Number(1, code) => u32::try_from(code).ok(),
                _ => None,
            });
            let what = wire::bytes_of(error, 2).unwrap_or_default();
            let message = format!("{text}: {}", String::from_utf8_lossy(what));
            // "Unimplemented" in the response body does not refer to the reflection method itself.
            let code = match code {
                Some(12) | None => Code::UNKNOWN,
                Some(code) => Code(code),
            };
            return Err(Status::new(code, message));
        }
        Ok(reply)
    }
}

/// The names of the services in a response that lists them.
pub(crate) fn services_of(reply: &[u8]) -> Vec<String> {
    let list = wire::bytes_of(reply, SERVICE_LIST).unwrap_or_default();
    let names = wire::fields(list).filter_map(|field| match field {
        Field::Bytes(1, service) => wire::bytes_of(service, 1),
        _ => None,
    });
    names
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// The file descriptors in a response, as the server encoded them.
pub(crate) fn files_of(reply: &[u8]) -> impl Iterator<Item = &[u8]> {
    let files = wire::bytes_of(reply, FILE_DESCRIPTORS).unwrap_or_default();
    wire::fields(files).filter_map(|field| match field {
        Field::Bytes(1, file) => Some(file),
        _ => None,
    })
}

/// The names of the files that a file descriptor imports.
pub(crate) fn imports_of(file: &[u8]) -> impl Iterator<Item = String> + '_ {
    wire::fields(file).filter_map(|field| match field {
        Field::Bytes(3, name) => Some(String::from_utf8_lossy(name).into_owned()),
        _ => None,
    })
}
