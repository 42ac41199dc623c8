//! The hosts file.

use plimsoll_net::hosts_file::addresses_of;

use super::{Target, halves, text};

pub const TARGET: Target = Target {
    name: "hosts_file",
    run,
    seeds: &[
        b"a.test\x00127.0.0.1 localhost\n::1\tb A.test # c\n",
        b"c\0# 1.2.3.4 c\n1.2.3.4 c c\r\n\n1.2.3.256 c\n",
    ],
    words: &["127.0.0.1 ", "::1 ", "\t", "#", "\n", "\r\n", " a", "\0"],
};

fn run(data: &[u8]) {
    let (host, file) = halves(data);
    let file = text(file);
    assert!(addresses_of(&text(host), &file).len() <= file.lines().count());
}
