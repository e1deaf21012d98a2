"""Every cost and threshold that a choice between methods reads: value, unit, source, what it was measured on.

| module | figures |
|---|---|
| `host_products.py` | CPU: row-wise or column-wise, dot or Gustavson |
| `numpy_times.py` | CPU: what NumPy takes for a primitive |
| `compiled.py` | CPU: when a kernel is compiled, what is left to NumPy, when threads share the work |
| `device_matvec.py`, `device_matmul.py` | GPU: methods and kernels of products |
| `traversal.py` | BFS and SSSP on both |
| `structure.py` | element-wise operations, structure and dense operands on both |

A threshold is a constant of this package and an entry of THRESHOLDS under the same name. Costs are in nanoseconds of an
NVIDIA H200 or of a CPU core; device_profile.py scales those of a GPU to another GPU. Code reads `tuning.NAME` when it
is called, so that a test or a measurement may set one. Sizes of tables, of launches and of what a kernel keeps in
shared memory are no choices: they stand beside the kernel. Figures of forms are in storage, which lies below the
planner, those of pending elements in core, those of a loop in its algorithm.

>>> from grb_tile.planner import tuning
>>> tuning.THRESHOLDS["HIGH_DIAMETER_MEAN"].unit
'entries a row'
"""

from .compiled import *  # noqa: F403
from .device_matmul import *  # noqa: F403
from .device_matvec import *  # noqa: F403
from .host_products import *  # noqa: F403
from .numpy_times import *  # noqa: F403
from .structure import *  # noqa: F403
from .threshold import DEFINED as _DEFINED
from .traversal import *  # noqa: F403

# a module's names are in the order of their definitions, and so is _DEFINED
_NAMES = [name for name, value in globals().items() if name.isupper() and isinstance(value, (int, float, tuple))]
THRESHOLDS = dict(zip(_NAMES, _DEFINED, strict=True))
