"""Faults of the CUDA backend on the host's side, and of masked products; the CPU emulation runs them."""

from . import Fault

CUDA = "tests/backends/cuda/"
MASKED = (CUDA + "test_masked.py",)
CHAINS = (CUDA + "test_masked_chains.py",)
MEMORY = (CUDA + "test_memory.py",)
SINGLE = (CUDA + "test_single_values.py",)
DEVICES = (CUDA + "test_devices.py",)

FAULTS = [
    Fault(
        "kernels/products/masked_rows.cuh",
        "a long row of the mask is left out whose sampled positions have no work",
        "if (length && (work > 0 || products > 0 || step > 1 || a_step > 1)) {",
        "if (length && (work > 0 || products > 0)) {",
        MASKED,
    ),
    Fault(
        "kernels/products/masked_push.cuh",
        "values that were there are replaced by later products where the monoid has no start value",
        "values[p] = had ? S::add(values[p], value) : value;",
        "values[p] = value;",
        MASKED,
    ),
    Fault(
        "kernels/products/masked_words.cuh",
        "the bits of a word are those of 32 columns",
        "bits |= word(1) << (int64_t(cols[q]) & 63);",
        "bits |= word(1) << (int64_t(cols[q]) & 31);",
        CHAINS,
    ),
    Fault(
        "kernels/products/masked_emit.cuh",
        "the sum of a row that several warps compute is that of the last",
        "    if constexpr (R::any) o.out[r] = sum.value; else merge<R>(o.out + r, sum.value);",
        "    o.out[r] = sum.value;",
        CHAINS,
    ),
    Fault(
        "kernels/products/masked_rows.cuh",
        "positions that the whole warp has taken are taken by a group of lanes too",
        "      if (of_warp) length = 0;\n",
        "",
        CHAINS,
    ),
    Fault(
        "kernels/products/spgemm_split.cuh",
        "bits before a word are counted from the words that a block reads at once",
        "uint32_t(done + rank)",
        "uint32_t(rank)",
        (CUDA + "test_spgemm.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/products/inner.py",
        "an inner product of one value that the device does not keep is None",
        "        return device.host(value)[0] if known is None else known\n",
        "        return known\n",
        SINGLE,
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/mailbox.py",
        "an interrupt leaves a copy that writes to the words of the next call",
        "        except BaseException:\n            self._synchronize(stream)\n",
        "        except BaseException:\n",
        MEMORY,
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/device.py",
        "arrays that are read together share a word",
        "count += (array.nbytes + 7) >> 3",
        "count += (array.nbytes + 3) >> 3",
        (CUDA + "test_device.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/device.py",
        "a device takes the stream of another one for its own",
        "            if self.several and self.is_elsewhere():  # the thread's stream is another device's\n"
        "                self.synchronize()\n            elif",
        "            if",
        DEVICES,
    ),
    Fault(
        "grb_tile/io/device_arrays.py",
        "a merge begins under the lock of the device",
        '            getattr(x, "_store", None)\n',
        "            pass\n",
        DEVICES,
    ),
]
