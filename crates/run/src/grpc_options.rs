//! `plimsoll grpc`: converts its options to a run that is ready to start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_grpc::{Compression, Endpoint, Limits};
use plimsoll_scriptless::call_values::{messages, metadata};
use plimsoll_scriptless::{CallSpec, Connections, Streaming};

use crate::connection_options::ConnectionOptions;
use crate::grpc::{Grpc, SchemaSource};
use crate::load_options::LoadOptions;
use crate::request::Load;
use crate::resolved::ResolvedLoad;

/// The options for the method and the load.
pub struct GrpcOptions {
    /// `HOST:PORT`.
    pub address: String,
    /// `package.Service/Method`.
    pub method: String,
    pub schema: SchemaOptions,
    /// Metadata of calls.
    pub metadata: Vec<String>,
    /// Messages as JSON, or `@` and the name of a file with them. The default is one empty message.
    pub data: Option<String>,
    pub timeout: Duration,
    pub connect_timeout: Duration,
    pub streaming: Streaming,
    pub gzip: bool,
    /// Maximum size of a received message, in bytes.
    pub max_receive: usize,
    pub plaintext: bool,
    pub authority: Option<String>,
    pub load: LoadOptions,
    pub connection: ConnectionOptions,
}

/// The source of the method's description. The default is the server's reflection service.
pub struct SchemaOptions {
    pub proto: Option<PathBuf>,
    pub protoset: Option<PathBuf>,
    pub import_paths: Vec<PathBuf>,
    /// Metadata for reflection.
    pub reflect_metadata: Option<String>,
}

impl GrpcOptions {
    /// Fills in what the options leave open.
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn resolve(mut self) -> Result<ResolvedLoad, String> {
        self.load.check()?;
        self.load.settle_arrivals()?;
        let users = self.load.users(1)?;
        let scenario = self.load.scenario("grpc", users)?;
        let data = match self.data.as_deref() {
            None => "{}".to_owned(),
            Some(text) => match text.strip_prefix('@') {
                Some(path) => plimsoll_machine::read_text_file(Path::new(path))
                    .map_err(|error| format!("--data @{path}: cannot read it: {error}"))?,
                None => text.to_owned(),
            },
        };
        let messages = messages(&data)?;
        // A connection belongs to one thread, so more threads than connections would be idle.
        let threads = self
            .load
            .threads
            .unwrap_or_else(plimsoll_machine::processors);
        let threads = match self.load.shared() {
            Some(connections) => threads.min(connections.max(1) as usize),
            None => threads,
        };
        let title = self.title(users);
        let mut configuration = self.load.describe(users, &scenario);
        configuration["title"] = title.clone().into();
        configuration["method"] = self.method.clone().into();
        configuration["metadata"] = self.metadata.clone().into();
        configuration["timeout"] = plimsoll_units::duration::format(self.timeout).into();
        configuration["gzip"] = self.gzip.into();
        configuration["messages"] = messages.len().into();
        self.connection.describe(&mut configuration);
        Ok(ResolvedLoad {
            title,
            configuration,
            duration: self.load.fixed_duration(),
            is_fixed_work: self.load.is_fixed_work(),
            threads: Some(threads),
            load: Load::Grpc(Box::new(Grpc {
                call: self.call(threads)?,
                schema: self.schema.source()?,
                method: self.method,
                messages,
                scenario,
            })),
        })
    }

    fn title(&self, users: u32) -> String {
        let load = match self.load.rate {
            Some(rate) => self.load.describe_rate(rate, "calls"),
            None if users == 1 => "1 user".to_owned(),
            None => format!("{users} users"),
        };
        let method = self.method.trim_start_matches('/');
        let connections = self.load.describe_connections();
        format!("{}/{method}, {load}, {connections}", self.address)
    }

    fn call(&self, threads: usize) -> Result<CallSpec, String> {
        let mut endpoint = Endpoint::parse(&self.address, !self.plaintext)?;
        if let Some(authority) = &self.authority {
            endpoint = endpoint.with_authority(authority);
        }
        let connections = match self.load.shared() {
            _ if self.load.opens_connection_per_request() => Connections::Fresh,
            None => Connections::PerUser,
            Some(connections) => Connections::Shared {
                connections,
                workers: u32::try_from(threads).unwrap_or(u32::MAX),
            },
        };
        let mut network = self.connection.network(self.load.rate.is_some())?;
        network.connect_timeout = self.connect_timeout;
        Ok(CallSpec {
            endpoint,
            network,
            metadata: metadata("--metadata", &self.metadata)?,
            user_agent: format!("plimsoll/{}", env!("CARGO_PKG_VERSION")),
            timeout: (!self.timeout.is_zero()).then_some(self.timeout),
            compression: if self.gzip {
                Compression::Gzip
            } else {
                Compression::Identity
            },
            limits: Limits {
                max_receive: self.max_receive,
                connect: self.connect_timeout,
                ..Limits::default()
            },
            connections,
            connects_before_start: self.load.connects_before_start(),
            streaming: self.streaming,
        })
    }
}

impl SchemaOptions {
    fn source(&self) -> Result<SchemaSource, String> {
        Ok(match (&self.protoset, &self.proto) {
            (Some(path), _) => SchemaSource::Protoset(path.clone()),
            (None, Some(file)) => SchemaSource::Proto {
                file: file.clone(),
                imports: self.import_paths.clone(),
            },
            (None, None) => SchemaSource::Reflection(match &self.reflect_metadata {
                Some(text) => Some(metadata("--reflect-metadata", std::slice::from_ref(text))?),
                None => None,
            }),
        })
    }
}
