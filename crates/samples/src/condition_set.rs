/// A subset of a watch's conditions, by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionSet(pub Vec<u64>);

impl ConditionSet {
    #[inline]
    pub fn has(&self, index: usize) -> bool {
        self.0
            .get(index / 64)
            .is_some_and(|word| word & (1 << (index % 64)) != 0)
    }
}
