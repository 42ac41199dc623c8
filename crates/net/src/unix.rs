use std::fmt;
use std::io;
use std::mem::{offset_of, size_of};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::Error;
use crate::traffic::TrafficCounter;

/// The address of a unix socket: a path that fits into a socket address, or a name in Linux's
/// abstract namespace, written with a leading `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnixPath(Arc<str>);

/// Maximum length of a path: one byte less than the address can hold (unix(7)).
const MAX_PATH: usize =
    size_of::<libc::sockaddr_un>() - offset_of!(libc::sockaddr_un, sun_path) - 1;

/// First and longest delay before another connection attempt.
const AGAIN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

impl UnixPath {
    /// Checks that a path can be the path of a socket. The socket need not exist yet.
    ///
    /// # Errors
    /// The reason why it cannot be one, without the path itself.
    pub fn parse(text: &str) -> Result<UnixPath, String> {
        if text.is_empty() || text == "@" {
            return Err("name the socket's file, such as /run/server.sock".to_owned());
        }
        if text.contains('\0') {
            return Err("it contains a zero byte".to_owned());
        }
        if text.len() > MAX_PATH {
            return Err(format!(
                "it has {} bytes, but a socket address has space for at most {MAX_PATH}; \
                 use a shorter path, or one relative to the working directory",
                text.len()
            ));
        }
        if text.starts_with('@') && !cfg!(target_os = "linux") {
            return Err("only Linux has sockets without a file; name a path".to_owned());
        }
        if let Ok(found) = std::fs::metadata(Path::new(text))
            && !found.file_type().is_socket()
        {
            return Err("it is not a socket".to_owned());
        }
        Ok(UnixPath(text.into()))
    }

    /// The path as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Connects within `limit`. A listener with a full queue rejects the connection with EAGAIN, where
    /// a TCP listener would let the client wait (connect(2)). So the attempt is repeated.
    pub(crate) async fn connect(&self, limit: Duration) -> Result<UnixStream, Error> {
        let address = match self.0.strip_prefix('@') {
            Some(name) => format!("\0{name}"),
            None => self.0.to_string(),
        };
        let failed = |source| Error::ConnectUnix {
            to: self.to_string(),
            source,
        };
        let deadline = Instant::now() + limit;
        let (mut pause, longest) = AGAIN;
        loop {
            match timeout_at(deadline, UnixStream::connect(&address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(failed(error));
                }
                Ok(Err(full)) if Instant::now() + pause >= deadline => return Err(failed(full)),
                Ok(Err(_)) => {}
                Err(_) => return Err(failed(io::ErrorKind::TimedOut.into())),
            }
            sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }
}

impl fmt::Display for UnixPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A unix socket whose bytes are counted for the user that opened it.
#[derive(Debug)]
pub struct UnixSocket {
    pub(crate) socket: UnixStream,
    pub(crate) counter: Rc<TrafficCounter>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_too_long_are_rejected() {
        assert_eq!(
            UnixPath::parse("/run/x.sock").unwrap().as_str(),
            "/run/x.sock"
        );
        assert!(UnixPath::parse(&"x".repeat(MAX_PATH)).is_ok());
        let error_for = |text: &str| UnixPath::parse(text).unwrap_err();
        assert!(error_for(&"x".repeat(MAX_PATH + 1)).contains("at most"));
        assert!(error_for("").contains("name the socket's file"));
        assert!(error_for("a\0b").contains("zero byte"));
        assert!(error_for("/etc/passwd").contains("not a socket"));
    }
}
