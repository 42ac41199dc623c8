"""Checks whether a process's memory stays flat."""

# The time in which connections, histograms and caches reach their final size, in seconds.
SETTLING = 20
# Growth that counts as flat: the kernel and the allocator move whole pages and segments.
ALLOWED_SHARE, ALLOWED_BYTES = 0.05, 2_000_000


def judge(samples, every, settling=SETTLING):
    """Returns (early, late, is_flat) of resident bytes, one sample per `every` seconds.

    Early is the highest sample of the first third after settling, and late is that of the last third. The median would
    not do: garbage collection gives memory a sawtooth shape, and the median depends on where in it a third begins.
    """
    settled = samples[round(settling / every) :]
    third = len(settled) // 3
    if third == 0:
        raise ValueError("the run was too short to judge its memory")
    early, late = max(settled[:third]), max(settled[-third:])
    return early, late, late <= early + max(ALLOWED_BYTES, ALLOWED_SHARE * early)
