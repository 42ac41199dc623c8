//! The crates that may use large dependencies: one crate for each dependency, so that its build time and types do
//! not spread.

use super::Finding;
use super::manifest::Manifest;

/// Packages, the crates whose product code may use them, and the reason.
const HEAVY: &[(&[&str], &[&str], &str)] = &[
    (
        &["rquickjs", "plimsoll-quickjs-sys", "corosensei"],
        &["quickjs"],
        "`quickjs` wraps the JavaScript engine",
    ),
    (
        &["oxc_parser", "oxc_ast", "oxc_allocator", "oxc_span"],
        &["k6"],
        "`k6` strips types from TypeScript",
    ),
    (&["html5ever"], &["k6"], "`k6` parses HTML pages"),
    (
        &["serde-saphyr", "roxmltree"],
        &["import"],
        "`import` reads files of other tools",
    ),
    (
        &[
            "rustls",
            "tokio-rustls",
            "ring",
            "rustls-pki-types",
            "webpki-roots",
        ],
        &["net"],
        "`net` implements TLS",
    ),
    (
        &["rusqlite", "libsqlite3-sys"],
        &["results", "sql"],
        "`results` implements the store of runs, and `sql` the databases of scripts",
    ),
    (
        &["tokio-postgres"],
        &["sql"],
        "`sql` implements the databases of scripts",
    ),
    (&["clap"], &["cli"], "`cli` parses the command line"),
    (
        &["httparse"],
        &["http", "live"],
        "`http` implements the protocol; `live` has its own server",
    ),
    (
        &["h2"],
        &[],
        "HTTP/2 is our own (`http2`); h2 serves as a server in tests",
    ),
    (
        &["quinn", "quinn-proto", "h3", "h3-quinn"],
        &["http3"],
        "`http3` uses QUIC, and `net` configures its TLS",
    ),
    (
        &["rcgen"],
        &["certs"],
        "`certs` creates certificates for tests",
    ),
    (
        &["rsa"],
        &["certs", "k6", "sql"],
        "RSA keys belong to certificates for tests (`certs`), to WebCrypto (`k6`) and to passwords of MySQL (`sql`)",
    ),
    (
        &["p256", "p384", "p521", "x509-parser", "redis"],
        &["k6"],
        "`k6` offers elliptic curves, certificates and Redis to scripts",
    ),
    (
        &["async-nats"],
        &["fleet"],
        "`fleet` sends messages between agents",
    ),
    (
        &["prost", "snap", "parquet"],
        &["exporters"],
        "`exporters` creates messages for monitoring systems",
    ),
    (
        &["prost-reflect", "protox"],
        &["grpc"],
        "`grpc` reads protobuf descriptions at run time",
    ),
    (
        &["hyper", "hyper-util", "axum", "tonic"],
        &[],
        "server libraries belong to the measured systems, never to the generator",
    ),
    (
        &["async-std", "smol", "openssl", "native-tls", "reqwest"],
        &[],
        "tokio, rustls and our own client do the same",
    ),
];

/// Crates that are not part of the product may use any.
const FREE: &[&str] = &[
    "testkit",
    "testground",
    "serving",
    "serve",
    "zanzibar",
    "statuslist",
    "timezone",
    "orders",
    "gateway",
    "systems-fuzz",
    "bench",
];

/// A large dependency may only be used by its crate. Tests are exempt.
pub fn check(manifests: &[Manifest]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in manifests
        .iter()
        .filter(|manifest| !FREE.contains(&manifest.short_name()))
    {
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|dependency| !dependency.dev)
        {
            let Some((_, crates, reason)) = HEAVY
                .iter()
                .find(|(packages, ..)| packages.contains(&dependency.package.as_str()))
            else {
                continue;
            };
            if !crates.contains(&manifest.short_name()) {
                findings.push(Finding::new(
                    &manifest.path,
                    manifest.line_of(&dependency.package),
                    format!(
                        "'{}' may not depend on {}: {reason}",
                        manifest.short_name(),
                        dependency.package
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

    fn uses(package: &str, heavy: &str, dev: bool) -> Vec<Finding> {
        check(&[Manifest {
            package: package.into(),
            path: "Cargo.toml".into(),
            dependencies: vec![Dependency {
                package: heavy.into(),
                renamed: None,
                dev,
                ours: false,
            }],
            text: String::new(),
        }])
    }

    #[test]
    fn at_home_it_passes_and_elsewhere_it_is_found() {
        assert_eq!(uses("plimsoll-net", "rustls", false), []);
        assert_eq!(uses("plimsoll-http", "rustls", false).len(), 1);
        assert_eq!(uses("plimsoll-http", "hyper", true), []);
        assert_eq!(uses("plimsoll-serve", "hyper", false), []);
        assert_eq!(uses("plimsoll", "clap", false), []);
        assert_eq!(uses("plimsoll-script", "reqwest", false).len(), 1);
    }
}
