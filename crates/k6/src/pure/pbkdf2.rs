//! Derives keys from passwords: PBKDF2 (RFC 8018, section 5.2) with HMAC.

use plimsoll_quickjs::give_way;

use super::digests::{Algorithm, Hasher};

/// The cost of an iteration, as the number of bytes that a digest reads in the same time.
const ITERATION: usize = 512;

/// Derives `length` bytes from `password` and `salt` with that number of iterations (at least one).
pub fn derive(
    algorithm: Algorithm,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
) -> Vec<u8> {
    let keyed = Hasher::keyed(algorithm, password);
    let mut out = Vec::with_capacity(length);
    for number in 1_u32.. {
        if out.len() >= length {
            break;
        }
        give_way(ITERATION);
        let mut first = keyed.clone();
        first.update(salt);
        first.update(&number.to_be_bytes());
        let mut last = first.digest();
        let mut block = last.clone();
        for _ in 1..iterations {
            give_way(ITERATION);
            let mut next = keyed.clone();
            next.update(&last);
            last = next.digest();
            for (byte, other) in block.iter_mut().zip(&last) {
                *byte ^= other;
            }
        }
        out.append(&mut block);
    }
    out.truncate(length);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pure::digests::hex;

    /// RFC 6070, and RFC 7914, section 11.
    #[test]
    fn derives_the_published_keys() {
        for (algorithm, password, salt, iterations, length, expected) in [
            (
                Algorithm::Sha1,
                "password",
                "salt",
                1,
                20,
                "0c60c80f961f0e71f3a9b524af6012062fe037a6",
            ),
            (
                Algorithm::Sha1,
                "password",
                "salt",
                2,
                20,
                "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957",
            ),
            (
                Algorithm::Sha1,
                "pass\0word",
                "sa\0lt",
                4096,
                16,
                "56fa6aa75548099dcc37d7f03425e0c3",
            ),
            (
                Algorithm::Sha256,
                "passwd",
                "salt",
                1,
                64,
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc\
                 49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
            ),
        ] {
            let (password, salt) = (password.as_bytes(), salt.as_bytes());
            let found = derive(algorithm, password, salt, iterations, length);
            assert_eq!(hex(&found), expected);
        }
    }
}
