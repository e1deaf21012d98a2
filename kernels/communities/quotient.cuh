// Which entries are between classes of labels: flags[e] = label(i) != label(j) of entry e at (i, j).
//
// Algorithm: a warp for each row, because labels of columns are gathered anyhow.
// Launch: a grid-stride loop of warps; backends/cuda/communities/quotient.py.
#pragma once
#include "base/warp.cuh"

namespace grb {

template <int = 0>
__global__ void __launch_bounds__(256)
between_classes(const int64_t* start, const int32_t* columns, const int32_t* label, int64_t n, bool* flags) {
  GRB_EACH_WARP(i, n) {
    const int mine = label[i];
    const int64_t end = start[i + 1];
#pragma unroll 4
    for (int64_t e = start[i] + lane_number(); e < end; e += 32) flags[e] = label[columns[e]] != mine;
  }
}

}  // namespace grb
