//! Gets descriptions of gRPC services from their server.

use std::rc::Rc;
use std::time::Duration;

use plimsoll_grpc::{Channel, Metadata, Schema};
use plimsoll_net::Network;

use crate::grpc::CallSpec;

/// Asks the server of `spec` for a description of the service that `method` belongs to.
///
/// # Errors
/// Why the server did not provide it.
pub fn reflect(spec: &CallSpec, method: &str, metadata: &Metadata) -> Result<Schema, String> {
    let runtime = crate::event_loop()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let network = Rc::new(Network::new(spec.network.clone()));
        let end = spec.endpoint.clone();
        let channel = Channel::new(end, network, None, Rc::default(), spec.limits);
        let mut schema = Schema::new();
        // This is not the time limit of a call, because nothing is measured yet.
        let timeout = Duration::from_secs(20);
        let agent = &spec.user_agent;
        let description = plimsoll_grpc::reflect(
            &channel,
            &mut schema,
            Some(method),
            metadata,
            agent,
            timeout,
        );
        match description.await {
            Ok(_) => Ok(schema),
            Err(status) if status.code == plimsoll_grpc::Code::UNIMPLEMENTED => Err(format!(
                "{} does not describe itself (no reflection): give --proto or --protoset",
                spec.endpoint
            )),
            Err(status) => Err(format!(
                "{} did not describe its services: {status}",
                spec.endpoint
            )),
        }
    })
}
