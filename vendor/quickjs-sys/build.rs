//! Compiles quickjs-ng. See ../README.md for what differs from the published crate.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=quickjs");
    let mut build = cc::Build::new();
    // With sanitizers, clang takes ten minutes for jumps from each opcode to the next at -O2, one for a switch at -O1.
    let sanitized = std::env::var_os("CARGO_FEATURE_ADDRESS_SANITIZER").is_some();
    if sanitized {
        build
            .compiler("clang")
            .flag("-fsanitize=address,fuzzer-no-link")
            .flag("-fno-omit-frame-pointer")
            .define("JS_SWITCH_DISPATCH", None);
    }
    build
        .extra_warnings(false)
        .warnings(false)
        .flag_if_supported("-Wno-implicit-const-int-float-conversion")
        // An unoptimised interpreter makes every test slow and uses several
        // times the stack, so the engine is optimised in every profile.
        .opt_level(if sanitized { 1 } else { 2 })
        .define("_GNU_SOURCE", None)
        .define("JS_ARENA_DISABLED", None)
        .define("JS_DUMPS_DISABLED", None)
        .files(
            ["libregexp.c", "libunicode.c", "quickjs.c", "dtoa.c"].map(|f| format!("quickjs/{f}")),
        )
        .compile("quickjs");
}
