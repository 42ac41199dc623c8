//! Compiles quickjs-ng. See ../README.md for what differs from the published crate.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=quickjs");
    cc::Build::new()
        .extra_warnings(false)
        .warnings(false)
        .flag_if_supported("-Wno-implicit-const-int-float-conversion")
        // An unoptimised interpreter makes every test slow and uses several
        // times the stack, so the engine is optimised in every profile.
        .opt_level(2)
        .define("_GNU_SOURCE", None)
        .define("JS_ARENA_DISABLED", None)
        .files(["libregexp.c", "libunicode.c", "quickjs.c", "dtoa.c"].map(|f| format!("quickjs/{f}")))
        .compile("quickjs");
}
