//! The dependencies between our crates that are allowed. `ARCHITECTURE.md` has the same table with the reasons; change
//! both together.

use super::Finding;
use super::manifest::{Manifest, short_name};

/// A crate, and what it may use besides the standard library and third-party crates.
const EDGES: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("address", &["units"]),
    ("clock", &["units"]),
    ("machine", &["units", "clock"]),
    ("plan", &["units", "address"]),
    ("pace", &["units", "plan"]),
    ("stats", &["units"]),
    ("samples", &["units", "plan", "stats"]),
    ("frames", &["units", "samples"]),
    ("verdict", &["units", "machine", "stats", "samples"]),
    ("net", &["units", "address", "clock"]),
    ("http2", &["units", "clock", "net"]),
    ("http3", &["units", "clock", "net", "http2"]),
    (
        "http",
        &["units", "address", "clock", "net", "http2", "http3"],
    ),
    ("ws", &["net", "http"]),
    ("browser", &["ws"]),
    (
        "grpc",
        &["units", "address", "clock", "net", "http", "http2"],
    ),
    ("sql", &["net"]),
    ("vegeta", &["units"]),
    (
        "engine",
        &["units", "clock", "machine", "plan", "pace", "samples"],
    ),
    ("quickjs", &["units", "clock", "engine"]),
    (
        "k6",
        &[
            "units", "clock", "samples", "net", "http", "ws", "browser", "grpc", "sql", "engine",
            "quickjs",
        ],
    ),
    (
        "script",
        &[
            "units", "clock", "machine", "plan", "samples", "http", "engine", "quickjs", "k6",
        ],
    ),
    (
        "scriptless",
        &[
            "units", "address", "clock", "plan", "samples", "net", "http", "grpc", "engine",
            "vegeta",
        ],
    ),
    ("netem", &["units", "clock", "net", "stats", "engine"]),
    ("certs", &[]),
    ("iperf", &["units", "clock"]),
    (
        "probe",
        &["units", "address", "clock", "stats", "net", "http", "iperf"],
    ),
    ("output", &["units", "plan", "stats", "samples", "verdict"]),
    (
        "exporters",
        &[
            "units", "clock", "machine", "stats", "samples", "net", "http", "grpc", "output",
        ],
    ),
    ("audit", &[]),
    ("import", &[]),
    ("results", &["units", "stats", "machine"]),
    (
        "run",
        &[
            "units",
            "address",
            "clock",
            "stats",
            "machine",
            "plan",
            "samples",
            "verdict",
            "net",
            "http",
            "grpc",
            "engine",
            "k6",
            "script",
            "scriptless",
            "vegeta",
            "output",
            "exporters",
            "results",
        ],
    ),
    ("plots", &[]),
    (
        "live",
        &[
            "units", "clock", "machine", "plan", "stats", "samples", "verdict", "engine", "output",
            "plots", "results", "run",
        ],
    ),
    (
        "fleet",
        &[
            "units", "clock", "plan", "pace", "machine", "samples", "frames", "verdict", "engine",
            "certs", "run",
        ],
    ),
    ("search", &["units", "stats", "results", "plots"]),
    ("compare", &["units", "stats", "results", "plots"]),
    ("report", &["stats", "results", "plots"]),
    (
        "lab",
        &["units", "stats", "audit", "results", "machine", "verdict"],
    ),
    (
        "terminal",
        &[
            "units", "clock", "machine", "plan", "stats", "samples", "output", "results", "engine",
            "run", "live", "search", "compare", "report", "lab", "import", "iperf",
        ],
    ),
    (
        "cli",
        &[
            "units",
            "address",
            "clock",
            "machine",
            "plan",
            "pace",
            "stats",
            "samples",
            "verdict",
            "net",
            "http",
            "grpc",
            "browser",
            "engine",
            "k6",
            "script",
            "scriptless",
            "vegeta",
            "netem",
            "certs",
            "iperf",
            "probe",
            "output",
            "exporters",
            "audit",
            "import",
            "results",
            "run",
            "live",
            "fleet",
            "search",
            "compare",
            "report",
            "terminal",
            "lab",
        ],
    ),
    // The measured systems and the test tools share no code with the product.
    ("testkit", &[]),
    ("testground", &[]),
    ("serving", &[]),
    ("zanzibar", &["serving"]),
    ("statuslist", &["serving"]),
    ("timezone", &["serving"]),
    ("orders", &["serving"]),
    ("gateway", &["serving"]),
    (
        "serve",
        &[
            "serving",
            "zanzibar",
            "statuslist",
            "timezone",
            "orders",
            "gateway",
        ],
    ),
    ("bench", &[]),
    ("xtask", &[]),
    ("systems-fuzz", &["gateway", "zanzibar"]),
    // Uses every crate that parses untrusted input.
    (
        "fuzz",
        &[
            "units",
            "address",
            "plan",
            "report",
            "pace",
            "stats",
            "frames",
            "samples",
            "net",
            "http2",
            "http3",
            "http",
            "grpc",
            "k6",
            "script",
            "vegeta",
            "sql",
            "scriptless",
            "results",
            "output",
            "audit",
            "import",
            "iperf",
            "ws",
            "lab",
        ],
    ),
];

/// The crates that tests of any crate may use in addition.
const FOR_TESTS: &[&str] = &["testkit", "testground", "clock", "bench"];

/// Every edge between our crates must be in the table, and every crate too.
pub fn check(manifests: &[Manifest]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in manifests {
        let name = manifest.short_name();
        let Some((_, allowed)) = EDGES.iter().find(|(listed, _)| *listed == name) else {
            findings.push(Finding::new(
                &manifest.path,
                0,
                format!("'{name}' is not in the crate table; give it a row in ARCHITECTURE.md and in xtask/src/tidy/crate_edges.rs"),
            ));
            continue;
        };
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|dependency| dependency.ours)
        {
            let used = short_name(&dependency.package);
            let may = allowed.contains(&used)
                || (dependency.dev && (FOR_TESTS.contains(&used) || used == name));
            if !may {
                findings.push(Finding::new(
                    &manifest.path,
                    manifest.line_of(&dependency.package),
                    format!(
                        "'{name}' may not use '{used}'; it may use: {}",
                        if allowed.is_empty() {
                            "no crate of this workspace".to_owned()
                        } else {
                            allowed.join(", ")
                        }
                    ),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Dependency;
    use super::*;

    fn manifest(package: &str, dependencies: &[(&str, bool)]) -> Manifest {
        Manifest {
            package: package.into(),
            path: format!("crates/{package}/Cargo.toml"),
            dependencies: dependencies
                .iter()
                .map(|&(package, dev)| Dependency {
                    package: package.into(),
                    renamed: None,
                    dev,
                    ours: true,
                })
                .collect(),
            text: dependencies
                .iter()
                .map(|(package, _)| format!("{}.workspace = true\n", short_name(package)))
                .collect(),
        }
    }

    #[test]
    fn the_table_has_no_cycle_and_no_unknown_crate() {
        for (index, (name, allowed)) in EDGES.iter().enumerate() {
            for used in *allowed {
                let place = EDGES.iter().position(|(listed, _)| listed == used);
                assert!(
                    place.is_some_and(|place| place < index),
                    "{name} uses {used}, which must be above it in the table"
                );
            }
        }
    }

    #[test]
    fn an_edge_in_the_table_passes() {
        assert_eq!(
            check(&[manifest("plimsoll-plan", &[("plimsoll-units", false)])]),
            []
        );
        assert_eq!(
            check(&[manifest("plimsoll-http", &[("plimsoll-testkit", true)])]),
            []
        );
    }

    #[test]
    fn an_edge_outside_the_table_is_found_with_its_line() {
        let findings = check(&[manifest(
            "plimsoll-plan",
            &[("plimsoll-units", false), ("plimsoll-net", false)],
        )]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
        assert!(
            findings[0]
                .message
                .contains("'plan' may not use 'net'; it may use: units")
        );
    }

    #[test]
    fn the_test_kit_is_for_tests_alone() {
        assert_eq!(
            check(&[manifest("plimsoll-http", &[("plimsoll-testkit", false)])]).len(),
            1
        );
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert_eq!(check(&[manifest("plimsoll-attic", &[])]).len(), 1);
    }
}
