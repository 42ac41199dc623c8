//! Tests that modules and global objects behave as recorded.

use super::assert_observed;

#[test]
fn console() {
    assert_observed("console");
    assert_observed("console_exotic");
}

#[test]
fn crypto() {
    assert_observed("crypto");
}

#[test]
fn csv() {
    assert_observed("csv");
}

#[test]
fn data() {
    assert_observed("data");
}

#[test]
fn encoding() {
    assert_observed("encoding");
}

#[test]
fn fs() {
    assert_observed("fs");
}

#[test]
fn metrics() {
    assert_observed("metrics");
}

/// `text_codec.txt` is the log of Node.js for this script, because k6 1.8 has neither class.
#[test]
fn text_codec() {
    assert_observed("text_codec");
}

/// A script that uses every feature of TypeScript.
#[test]
fn typescript() {
    assert_observed("typescript");
}

/// `webcrypto.txt` is the log of Node.js for this script, except where k6 differs: the names of some errors, and a JSON
/// Web Key with another use (see `cases/crypto`).
#[test]
fn webcrypto() {
    assert_observed("webcrypto");
}

/// Node.js 20 uses its own names for some errors. This test expects the names from the standard.
#[test]
fn errors_of_webcrypto_have_the_names_of_the_standard() {
    assert_observed("webcrypto_faults");
}
