//! Reads files that users name, with a size limit for streams that may never end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use crate::file_set::read_in_set;

/// Maximum number of bytes to read from a device or a pipe, which may never end.
const STREAM_LIMIT: u64 = 256 << 20;

/// Reads a file. Reads at most 256 MiB from a device or a pipe.
///
/// # Errors
/// Returns an error if the file cannot be read. The kind is `FileTooLarge` or `OutOfMemory` if it
/// is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    read_in_set(path, || read_from_disk(path))
}

fn read_from_disk(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return read_stream(file);
    }
    // Files in /proc report a size of 0, and a log may grow during reading.
    let limit = metadata.len().max(STREAM_LIMIT);
    read_limited(file, metadata.len(), limit, "file")
}

/// Reads a UTF-8 file with the limits of [`read_file`].
///
/// # Errors
/// Like [`read_file`]; the kind is `InvalidData` if the file is not UTF-8.
pub fn read_text_file(path: &Path) -> Result<String> {
    text(read_file(path)?)
}

/// Reads a UTF-8 stream, such as stdin, to its end. Reads at most 256 MiB.
///
/// # Errors
/// Like [`read_text_file`].
pub fn read_text(stream: impl Read) -> Result<String> {
    text(read_stream(stream)?)
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let message = format!("the file is not UTF-8 text: byte {valid} is invalid");
        Error::new(ErrorKind::InvalidData, message)
    })
}

/// Reads a stream, such as stdin, to its end. Reads at most 256 MiB.
///
/// # Errors
/// Like [`read_file`].
pub fn read_stream(stream: impl Read) -> Result<Vec<u8>> {
    read_limited(stream, 0, STREAM_LIMIT, "device or pipe")
}

/// Opens a file for a reader that keeps all data in memory. At most 256 MiB can be read from a
/// device or a pipe.
///
/// # Errors
/// Returns an error if the file cannot be opened.
pub fn open_limited(path: &Path) -> Result<LimitedReader<File>> {
    let file = File::open(path)?;
    let is_file = file.metadata()?.is_file();
    let mut reader = LimitedReader::new(file);
    if is_file {
        reader.left = u64::MAX;
    }
    Ok(reader)
}

/// A reader that fails after 256 MiB.
pub struct LimitedReader<R> {
    stream: R,
    left: u64,
}

impl<R: Read> LimitedReader<R> {
    pub fn new(stream: R) -> Self {
        let left = STREAM_LIMIT;
        LimitedReader { stream, left }
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.stream.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(too_large("device or pipe", STREAM_LIMIT)),
        }
        Ok(read)
    }
}

fn read_limited(stream: impl Read, expected: u64, limit: u64, kind: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let reserved = usize::try_from(expected).map(|size| bytes.try_reserve_exact(size));
    if !matches!(reserved, Ok(Ok(()))) {
        let message = format!(
            "not enough memory for a file of {} MiB. Use a smaller file",
            expected >> 20
        );
        return Err(Error::new(ErrorKind::OutOfMemory, message));
    }
    stream
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(kind, limit));
    }
    Ok(bytes)
}

fn too_large(kind: &str, limit: u64) -> Error {
    let message = format!(
        "the {kind} has more than {} MiB, which is the limit. Use a regular file, or a stream that ends",
        limit >> 20
    );
    Error::new(ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_streams_are_read_up_to_the_limit() {
        let error = read_file(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let text = error.to_string();
        assert!(
            text.contains("device or pipe has more than 256 MiB"),
            "{text}"
        );
        assert!(read_stream(std::io::repeat(0)).is_err());
        let mut limited = LimitedReader::new(std::io::repeat(0));
        let error = std::io::copy(&mut limited, &mut std::io::sink()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_file(Path::new("/dev/null")).unwrap(), b"");
        let status = read_file(Path::new("/proc/self/status")).unwrap();
        assert!(!status.is_empty());
        let error = read_file(Path::new("/nonexistent")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn limits_apply_to_the_bytes_read() {
        assert_eq!(read_limited(&b"1234"[..], 0, 4, "file").unwrap(), b"1234");
        assert!(read_limited(&b"12345"[..], 0, 4, "file").is_err());
        let error = read_limited(&b""[..], u64::MAX, u64::MAX - 1, "file").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn text_is_utf8() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"ab\xff").unwrap();
        let error = read_text_file(file.path()).unwrap_err().to_string();
        assert_eq!(error, "the file is not UTF-8 text: byte 2 is invalid");
    }
}
