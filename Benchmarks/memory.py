"""The recorder's memory: it must not grow with the recording's length.

One run for each figure: a recording's peak hardly varies, but takes its time.
"""

import contenders
from crowd import watch
from figures import Goal, Row, Section

MIB = 1024 * 1024
MOST_MIB = 64
SECONDS = 10
QUICK_SECONDS = 1


def memory(setting):
    section = Section(
        "Recorder's peak memory and its work after the program's end",
        "VmHWM until the program's end, and of all its life; CPU time after the end")
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    found, section.skipped = setting.usable(
        [contenders.firstlight(setting.firstlight, setting.folder)])
    for contender in found:
        for threads, length in [(8, seconds), (8, 2 * seconds), (16, seconds)]:
            seen = watch(setting, contender, threads, 0, length)
            section.raw.append({"threads": threads, "seconds": length, **vars(seen)})
            judged = (threads, length) == (8, seconds)
            section.rows += rows(
                f"{threads} threads, {length} s", seen, judged, str(contender.taken()))
    return section


def rows(title, seen, judged, remark):
    def peak(label, bytes, remark=""):
        values = [bytes / MIB]
        goals = [Goal(f"≤ {MOST_MIB} MiB", MOST_MIB, values)] if judged else []
        return Row(f"{title}: {label}", values, "{:.1f} MiB", goals, remark)

    yield peak("while it runs", seen.peak, remark)
    yield peak("ever", seen.peak_ever)
    yield Row(f"{title}: CPU time after", [seen.after], "{:.2f} s")
