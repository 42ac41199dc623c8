//! Where a run took place.

use serde::{Deserialize, Serialize};

/// The machine and its software, as far as they bear on figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's name.
    pub cpu: String,
    /// Processors that could be used.
    pub cpus: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Operating system and version, such as `Debian GNU/Linux 12`.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// Scaling governor, boost, virtualisation, … by name, where they can be read.
    pub settings: Vec<(String, String)>,
    /// A hash of all above: figures of two runs with different ones are of two places.
    pub fingerprint: String,
}
