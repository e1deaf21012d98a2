"""Every cost and threshold that a choice between methods reads: value, unit, source, what it was measured on.

| module | figures of |
|---|---|
| `host.py` | CPU: row-wise or column-wise, dot or Gustavson; NumPy's times; compilation, threads |
| `device.py` | GPU: methods, kernels and column indices of products |
| `traversal.py` | BFS and SSSP on both |
| `ranks.py` | several ranks: links, loops, what is kept whole |
| `structure.py` | element-wise operations, assignment, structure and dense operands on both |

A threshold is a constant of this package and an entry of THRESHOLDS under the same name. Costs are in nanoseconds of an
NVIDIA H200 or of a CPU core; device_profile.py scales those of a GPU to another GPU. Code reads `tuning.NAME` when it
is called, so that a test or a measurement may set one. Sizes of tables, of launches and of arrays in shared memory are
no choices: they are constants of the module that launches the kernel. Figures of forms are in storage, a layer below
the planner, those of pending elements in core, those of a loop in its algorithm.

>>> from grb_tile.planner import tuning
>>> tuning.THRESHOLDS["HIGH_DIAMETER_MEAN"].unit
'entries a row'
"""

from .device import *  # noqa: F403
from .host import *  # noqa: F403
from .ranks import *  # noqa: F403
from .structure import *  # noqa: F403
from .threshold import DEFINED as _DEFINED
from .traversal import *  # noqa: F403

# a module's names are in the order of their definitions, and so is _DEFINED
_NAMES = [name for name, value in globals().items() if name.isupper() and isinstance(value, (int, float, tuple))]
THRESHOLDS = dict(zip(_NAMES, _DEFINED, strict=True))
