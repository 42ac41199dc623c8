//! Observes the handshake of one connection, because quinn does not report its details.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_net::{QuicNotes, TlsError};
use plimsoll_units::Moment;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::crypto::{
    ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
};
use quinn::{ConnectError, ConnectionId, Side};
use quinn_proto::TransportError;
use quinn_proto::transport_parameters::TransportParameters;

/// Observations of a handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandshakeFacts(Arc<Mutex<Facts>>);

#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// When the server's first handshake data arrived.
    pub(crate) first_response: Option<Moment>,
    pub(crate) cipher_suite: &'static str,
    pub(crate) refusal: Option<TlsError>,
}

impl HandshakeFacts {
    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A TLS configuration for one connection. Its session records the handshake.
pub(crate) struct ObservedTls {
    pub(crate) tls: Arc<QuicClientConfig>,
    pub(crate) handshake: HandshakeFacts,
}

impl ClientConfig for ObservedTls {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let session = Arc::clone(&self.tls).start_session(version, server_name, params)?;
        Ok(Box::new(ListeningSession {
            session,
            handshake: self.handshake.clone(),
        }))
    }
}

struct ListeningSession {
    session: Box<dyn Session>,
    handshake: HandshakeFacts,
}

impl Session for ListeningSession {
    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.handshake
            .facts()
            .first_response
            .get_or_insert_with(plimsoll_clock::now);
        // Discard the records of other connections.
        QuicNotes::take();
        let read = self.session.read_handshake(buf);
        if read.is_err() {
            self.handshake.facts().refusal = QuicNotes::take().refusal;
        }
        read
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        QuicNotes::take();
        let keys = self.session.write_handshake(buf)?;
        if let Some(suite) = QuicNotes::take().cipher_suite {
            self.handshake.facts().cipher_suite = suite;
        }
        Some(keys)
    }

    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.session.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.session.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.session.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.session.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.session.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.session.transport_parameters()
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.session.next_1rtt_keys()
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.session.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.session.export_keying_material(output, label, context)
    }
}
