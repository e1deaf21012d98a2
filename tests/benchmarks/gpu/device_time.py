"""The device's time of a call, kernel by kernel: an event before and after each launch of the library's kernels.

    launches = Launches(select.current().device)         # before the first kernel is launched
    with launches.recorded() as found:
        call()
    found.kernels, found.busy, found.count               # {name: [launches, ms]}, ms in which a kernel ran, launches

Kernels that run beside each other count once in `busy`.  CuPy's own kernels and copies are not seen; the events add 1
to 2 us to each kernel.
"""

from collections import defaultdict
from contextlib import contextmanager

STREAM = 8  # the position of the stream among the driver's arguments


class Recorded:
    """What ran within one block."""

    def __init__(self):
        self.kernels, self.busy, self.count = {}, 0.0, 0


class Launches:
    """Stands before the driver's launches of a device."""

    def __init__(self, device):
        self.device, self.launcher, self.marks = device, device.launcher, None
        for name in ("launch", "launch_cooperative"):
            setattr(self.launcher, name, self._marked(getattr(self.launcher, name)))

    def _marked(self, launch):
        runtime = self.launcher.xp.cuda.runtime

        def marked(*arguments):
            if self.marks is None:
                return launch(*arguments)
            before, after = runtime.eventCreate(), runtime.eventCreate()
            runtime.eventRecord(before, arguments[STREAM])
            launch(*arguments)
            runtime.eventRecord(after, arguments[STREAM])
            self.marks.append((arguments[0], before, after))

        return marked

    @contextmanager
    def recorded(self):
        runtime, found = self.launcher.xp.cuda.runtime, Recorded()
        self.device.synchronize()
        zero = runtime.eventCreate()
        runtime.eventRecord(zero, self.launcher.current_stream().ptr)
        self.marks = []
        try:
            yield found
        finally:
            marks, self.marks = self.marks, None
            self.device.synchronize()
        names = {kernel.function.ptr: kernel.name for kernel in self.launcher._kernels.values()}
        spans, sums = [], defaultdict(lambda: [0, 0.0])
        for function, before, after in marks:
            start, stop = (runtime.eventElapsedTime(zero, event) for event in (before, after))
            spans.append((start, stop))
            row = sums[names.get(function, "?")]
            row[0] += 1
            row[1] += stop - start
            runtime.eventDestroy(before), runtime.eventDestroy(after)
        runtime.eventDestroy(zero)
        upto = 0.0
        for start, stop in sorted(spans):
            found.busy += max(stop - max(start, upto), 0.0)
            upto = max(upto, stop)
        found.kernels, found.count = dict(sums), len(marks)


def most(found, count=4):
    """The kernels that take most: `name launches x ms`."""
    rows = sorted(found.kernels.items(), key=lambda row: -row[1][1])[:count]
    return ", ".join(f"{name} {launches}x {ms:.3f}" for name, (launches, ms) in rows)
