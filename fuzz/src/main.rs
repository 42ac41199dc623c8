//! Fuzz targets and the driver that runs them.
fn main() {}
