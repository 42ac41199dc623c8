"""Numbers as Markdown tables: a median with its range, a ratio with its spread."""

import statistics


def spread(values, form="{:.2f}"):
    """`median (lowest–highest)`."""
    if not values:
        return "–"
    middle, low, high = (form.format(f(values)) for f in (statistics.median, min, max))
    return middle if low == high else f"{middle} ({low}–{high})"


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |"]
    lines.append("|" + "|".join("---" if n == 0 else "---:" for n in range(len(headings))) + "|")
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def goals(rows):
    """A table of goals: what is compared, the value or the values of all rounds, `≥` or `≤`, and the bound."""
    judged = []
    for name, measured, sign, bound in rows:
        values = measured if isinstance(measured, list) else [measured]
        if values:
            middle = statistics.median(values)
            reached = middle >= bound if sign == "≥" else middle <= bound
            verdict = "reached" if reached else "**missed**"
            judged.append((name, spread(values), f"{sign} {bound}", verdict))
    return table(["goal", "measured", "wanted", ""], judged)


def megabytes(count):
    return f"{count / 1e6:.1f}"
