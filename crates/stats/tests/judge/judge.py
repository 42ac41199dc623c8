"""Judges for crates/stats: the same questions, answered by numpy, scipy, statsmodels
and kneed (versions in requirements.txt). Prints JSON; judged.json, in the same folder, is its
output, and the test compares both our answers and, where the packages are installed,
a fresh run with it."""

import json

import numpy as np
from kneed import KneeLocator
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20240601)
out = {}

out["t_quantile"] = [[c, f, float(stats.t.ppf((1 + c) / 2, f))]
                     for c in (0.5, 0.9, 0.95, 0.99, 0.999) for f in (1, 2, 3.5, 10, 57, 1000)]
out["t_two_sided"] = [[t, f, float(2 * stats.t.sf(t, f))]
                      for t in (0.0, 0.3, 1.0, 2.5, 8.0, 40.0) for f in (1, 2, 3.5, 10, 57, 1000)]

# The numbers below were drawn after these.
rng.normal(0.3, 1.0, 103)

p = np.round(rng.uniform(0, 0.1, 12), 6)
out["holm"] = {"p": p.tolist(), "adjusted": multipletests(p, method="holm")[1].tolist()}

a, b = np.round(rng.normal(5, 1, 12), 6), np.round(rng.normal(6, 2, 17), 6)
out["welch"] = {"a": a.tolist(), "b": b.tolist(),
                "p": float(stats.ttest_ind(a, b, equal_var=False).pvalue)}

# Gunther's ray tracer (Gunther 2007, chapter 5): processors and throughput.
load = np.array([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], float)
ray = np.array([20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310], float)
made = 100 * load / (1 + 0.02 * (load - 1) + 0.0005 * load * (load - 1))
noisy = np.round(made * (1 + rng.normal(0, 0.01, load.size)), 4)


def usl(n, lam, sigma, kappa):
    return lam * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


fits = []
for x in (ray, noisy):
    at, covariance = optimize.curve_fit(usl, load, x, p0=[x[0], 0.01, 0.0001])
    half = stats.t.ppf(0.975, load.size - 3) * np.sqrt(np.diag(covariance))
    fits.append({"load": load.tolist(), "throughput": x.tolist(),
                 "at": at.tolist(), "half": half.tolist()})
out["usl"] = fits

knees = []
x = np.linspace(0, 1, 10)
knees.append((x, -1 / (x + 0.1) + 5))
x = np.arange(1, 31, dtype=float)
knees.append((x, np.minimum(100 * x, 1200) + 5 * np.sqrt(x)))
knees.append((x, 900 * x / (x + 6)))
knees.append((x, 40 * x))
out["knee"] = [{"x": x.tolist(), "y": y.tolist(),
                "knee": None if (k := KneeLocator(x, y, S=1.0, curve="concave", direction="increasing").knee) is None else float(k)}
               for x, y in knees]

series = np.round(np.concatenate([rng.normal(10, 1, 20), rng.normal(12, 1, 25)]), 6)


def energy(s, t):
    x, y = s[:t], s[t:]
    m, k = len(x), len(y)
    across = np.abs(x[:, None] - y[None, :]).mean()
    within = lambda v: np.abs(v[:, None] - v[None, :]).sum() / (len(v) * (len(v) - 1))
    return m * k / (m + k) * (2 * across - within(x) - within(y))


values = [(t, float(energy(series, t))) for t in range(3, len(series) - 2)]
out["energy"] = {"series": series.tolist(), "best": max(values, key=lambda v: v[1])}

warm = np.round(np.concatenate([np.linspace(40, 10, 15), rng.normal(10, 1, 85)]), 6)
batches = warm.reshape(-1, 5).mean(1)
errors = [(((batches[d:] - batches[d:].mean()) ** 2).sum() / len(batches[d:]) ** 2, d)
          for d in range(0, len(batches) // 2 + 1)]
out["mser5"] = {"windows": warm.tolist(), "cut": 5 * min(errors)[1]}

print(json.dumps(out, indent=1))
