"""Judges whether a process's memory stays flat."""

import statistics

# A run settles in its first tenth, but within 20 to 60 s: connections, histograms and caches reach their size.
LEAST_SETTLING, MOST_SETTLING = 20, 60
# Growth that counts as flat: the kernel and the allocator move whole pages and segments.
ALLOWED_SHARE, ALLOWED_BYTES = 0.02, 1 << 20


def judge(samples, every):
    """Returns (early, late, highest, is_flat) of resident bytes, one sample per `every` seconds.

    Early is the median of the tenth after settling and late that of the last tenth. Both growth between them and a
    peak far above them are faults.
    """
    tenth = max(1, len(samples) // 10)
    settled = samples[round(min(max(tenth * every, LEAST_SETTLING), MOST_SETTLING) / every) :]
    if len(settled) < 2:
        raise ValueError("the run was too short to judge its memory")
    early = statistics.median(settled[:tenth])
    late = statistics.median(settled[-tenth:])
    highest = max(settled)
    allowed = early * ALLOWED_SHARE + ALLOWED_BYTES
    return early, late, highest, late <= early + allowed and highest <= early + 3 * allowed
