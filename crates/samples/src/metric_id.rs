/// A metric of one [`Registry`](crate::Registry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub(crate) u32);

impl MetricId {
    /// The metric's index in the registry.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
