"""The times that the tests of the tasks and of the slider have taken, printed when a run ends.

CAMBIUM_INSPECTOR_REPEATS asks for more of them: a machine that does other work besides makes
single ones longer, so that a person looks at the least and at the median. The table is left in
.build/inspector/tasks.txt.
"""

import os
import statistics

from inspector_page import SHOTS

COUNT = int(os.environ.get("CAMBIUM_INSPECTOR_TRANSACTIONS", "2000"))
REPEATS = int(os.environ.get("CAMBIUM_INSPECTOR_REPEATS", "1"))
# Times are held to their bars where the log is as long as the bars are meant for.
IS_HELD = COUNT >= 1_000_000

# Of each task: its actions, and the milliseconds in the page and in the server of each repetition.
tasks = {}
# Of each part of the page: the milliseconds until each of the slider's positions was shown.
delays = {}


def add_task(name, actions, page, server):
    tasks.setdefault(name, []).append((actions, page, server))


def median(name):
    return statistics.median(page for _, page, _ in tasks[name])


def report():
    lines = [f"{COUNT:,} transactions, {REPEATS} repetitions; milliseconds"]
    if tasks:
        lines.append(f"{'task':<44} actions   least  median  in the server (median)")
    for name, found in tasks.items():
        actions, page, server = zip(*found)
        lines.append(
            f"{name:<44} {max(actions):>7} {min(page):>7.0f} {statistics.median(page):>7.0f}"
            f" {statistics.median(server):>7.1f}"
        )
    if delays:
        lines.append(f"{'slider: delay until shown':<44} moments median    95 %     max")
    for name, (moments, found) in delays.items():
        cuts = statistics.quantiles(found, n=20, method="inclusive")
        lines.append(f"{name:<44} {moments:>7} {cuts[9]:>6.0f} {cuts[18]:>7.0f} {max(found):>7.0f}")
    return "\n".join(lines) + "\n" if tasks or delays else ""


def save():
    SHOTS.mkdir(parents=True, exist_ok=True)
    (SHOTS / "tasks.txt").write_text(report())
