// What shortest paths keep of a matrix whose rows ascend by weight: how many entries of a row are lighter than given weights.
//
// Who calls: backends/cuda/traversal/sssp_graph.py, once for each matrix.
#pragma once
#include "traversal/sssp_state.cuh"

namespace grb {

// cuts[8 i + k]: entries of row i lighter than classes[k], k < 7; cuts[8 i + 7]: all of them.  A thread for each number.
template <class K, int BYTES>
__global__ void row_cuts(const int64_t* start, const void* entries, int64_t n, int64_t shift, const word* classes,
                         unsigned* cuts) {
  const PathEntry<K, BYTES>* row = static_cast<const PathEntry<K, BYTES>*>(entries);
  GRB_EACH(t, n * CLASSES) {
    int64_t i = t / CLASSES, low = start[i], high = start[i + 1];
    int k = int(t % CLASSES);
    if (k < CLASSES - 1)
      while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (row[middle].weight(unsigned(shift)) < K(classes[k])) low = middle + 1; else high = middle;
      }
    else
      low = high;
    cuts[t] = unsigned(low - start[i]);
  }
}

}  // namespace grb
