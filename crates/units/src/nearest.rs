//! Finds the name that a user probably meant.

/// The candidate that is closest to `written`, if it is close enough for a suggestion. Ignores
/// case, and at most a third of the letters may differ. Of equally close candidates, returns the
/// first one, so callers should order candidates by importance.
///
/// `written` is untrusted input of any length. If it is longer than any sensible name, the result
/// is `None` without a comparison.
pub fn nearest<'a, I>(written: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    const MAX_WRITTEN_LENGTH: usize = 64;
    let length = written.chars().take(MAX_WRITTEN_LENGTH + 1).count();
    if length == 0 || length > MAX_WRITTEN_LENGTH {
        return None;
    }
    let written = written.to_lowercase();
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let text: String = candidate.chars().take(MAX_WRITTEN_LENGTH).collect();
        let letters = text.chars().count();
        let allowed = (length.max(letters) / 3).max(1);
        let distance = strsim::osa_distance(&written, &text.to_lowercase());
        let is_nearer = best.is_none_or(|(best, _)| distance < best);
        if distance <= allowed && is_nearer && distance < letters {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_typing_error_in_a_key() {
        let keys = ["duration", "iterations", "stages", "vus", "maxVUs"];
        assert_eq!(nearest("durations", keys), Some("duration"));
        // Two swapped letters count as one error.
        assert_eq!(nearest("druation", keys), Some("duration"));
        assert_eq!(nearest("usv", ["vus"]), None);
        assert_eq!(nearest("VUS", keys), Some("vus"));
        assert_eq!(nearest("maxVus", keys), Some("maxVUs"));
        assert_eq!(nearest("vu", keys), Some("vus"));
    }

    #[test]
    fn suggests_nothing_for_distant_names() {
        let keys = ["duration", "iterations", "vus"];
        assert_eq!(nearest("somethingElse", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), keys), None);
    }
}
