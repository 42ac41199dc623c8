//! Compiles the service descriptions. `protox` is a protobuf compiler in Rust, so
//! that no `protoc` is needed to build.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptions = protox::compile(["proto/greeter.proto"], ["proto"])?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .bytes(".")
        .compile_fds(descriptions)?;
    Ok(())
}
