"""Checks whether a process's memory stays flat."""

# Seconds in which connections, histograms and caches reach their size.
SETTLING = 20
# Growth that counts as flat: the kernel and the allocator move whole pages and segments.
ALLOWED_SHARE, ALLOWED_BYTES = 0.05, 2_000_000


def judge(samples, every, settling=SETTLING):
    """Returns (early, late, is_flat) of resident bytes, one sample per `every` seconds.

    Early is the highest sample of the first third after settling, and late that of the last third. The highest and not
    the median: garbage collection makes memory a sawtooth, and medians depend on where in it a third begins.
    """
    settled = samples[round(settling / every) :]
    third = len(settled) // 3
    if third == 0:
        raise ValueError("the run was too short to judge its memory")
    early, late = max(settled[:third]), max(settled[-third:])
    return early, late, late <= early + max(ALLOWED_BYTES, ALLOWED_SHARE * early)
