/// How much of a summary is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Totals of the most important metrics.
    #[default]
    Compact,
    /// Every metric, and each group and scenario separately.
    Full,
}
