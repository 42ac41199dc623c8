//! WebSocket frames as sent and received by a server (RFC 6455, section 5).

use std::io;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub const CONTINUATION: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;
/// The bit that marks the last frame of a message, and the bit for a compressed message.
pub const LAST: u8 = 0x80;
pub const COMPRESSED: u8 = 0x40;

/// Maximum length of a frame. No case sends a longer one.
const MAX_FRAME: u64 = 64 << 20;

/// One frame: its first byte, and its unmasked payload.
pub struct Frame {
    pub first: u8,
    pub payload: Vec<u8>,
}

impl Frame {
    pub fn opcode(&self) -> u8 {
        self.first & 0x0f
    }

    /// The payload, decompressed if the frame is marked as compressed. Each message is compressed
    /// separately.
    pub fn message(&self) -> io::Result<Vec<u8>> {
        if self.first & COMPRESSED == 0 {
            return Ok(self.payload.clone());
        }
        let mut input = self.payload.clone();
        input.extend_from_slice(&[0, 0, 0xff, 0xff]);
        let mut engine = Decompress::new(false);
        let mut out = Vec::with_capacity(1024);
        loop {
            let taken = usize::try_from(engine.total_in()).unwrap_or(usize::MAX);
            let rest = input.get(taken..).unwrap_or_default();
            engine.decompress_vec(rest, &mut out, FlushDecompress::Sync)?;
            let all_in = engine.total_in() >= input.len() as u64;
            if all_in && out.len() < out.capacity() || out.len() as u64 > MAX_FRAME {
                return Ok(out);
            }
            out.reserve(64 * 1024);
        }
    }
}

/// Reads one frame. Every client must mask its frames.
pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Frame> {
    let mut head = [0_u8; 2];
    stream.read_exact(&mut head).await?;
    let [first, second] = head;
    if second & 0x80 == 0 {
        return Err(io::Error::other("an unmasked frame"));
    }
    let length = match second & 0x7f {
        126 => u64::from(stream.read_u16().await?),
        127 => stream.read_u64().await?,
        length => u64::from(length),
    };
    let mut key = [0_u8; 4];
    stream.read_exact(&mut key).await?;
    if length > MAX_FRAME {
        return Err(io::Error::other("a frame that is too long"));
    }
    let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
    stream.read_exact(&mut payload).await?;
    for (byte, key) in payload.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
    Ok(Frame { first, payload })
}

/// Writes one frame. `first` is its opcode, with [`LAST`] unless more fragments follow.
pub async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    first: u8,
    payload: &[u8],
) -> io::Result<()> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(length as u8),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    stream.write_all(&frame).await
}

/// Writes a separately compressed message (RFC 7692, section 7.2.1).
pub async fn write_compressed(
    stream: &mut (impl AsyncWrite + Unpin),
    opcode: u8,
    payload: &[u8],
) -> io::Result<()> {
    let mut engine = Compress::new(Compression::default(), false);
    // Provide space for the complete output: a deflate engine that runs out of space holds back data.
    let mut out = Vec::with_capacity(payload.len() * 9 / 8 + 256);
    loop {
        let taken = usize::try_from(engine.total_in()).unwrap_or(usize::MAX);
        let rest = payload.get(taken..).unwrap_or_default();
        engine.compress_vec(rest, &mut out, FlushCompress::Sync)?;
        if engine.total_in() >= payload.len() as u64 && out.len() < out.capacity() {
            break;
        }
        out.reserve(64 * 1024);
    }
    out.truncate(out.len().saturating_sub(4));
    write(stream, LAST | COMPRESSED | opcode, &out).await
}

pub fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(reason.as_bytes());
    payload
}
