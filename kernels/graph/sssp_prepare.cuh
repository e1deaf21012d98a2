// How many entries of each row are lighter than given weights, by binary search: rows ascend by weight.
//
// Result: class_end[8 i + k], k < 7: entries of row i lighter than classes[k]; class_end[8 i + 7]: all of them.
// Who calls: backends/cuda/graph/sssp_graph.py, once for each matrix.  Launch: a thread for each of the 8 n
// numbers.
#pragma once
#include "graph/sssp_state.cuh"

namespace grb {

template <class K, int BYTES>
__global__ void weight_classes(const int64_t* start, const void* entries, int64_t n, int64_t shift, const word* classes,
                               unsigned* class_end) {
  const PathEntry<K, BYTES>* row = static_cast<const PathEntry<K, BYTES>*>(entries);
  GRB_EACH(t, n * WEIGHT_CLASSES) {
    int64_t i = t / WEIGHT_CLASSES, low = start[i], high = start[i + 1];
    int k = int(t % WEIGHT_CLASSES);
    if (k < WEIGHT_CLASSES - 1)
      while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (row[middle].weight(unsigned(shift)) < K(classes[k])) low = middle + 1; else high = middle;
      }
    else
      low = high;
    class_end[t] = unsigned(low - start[i]);
  }
}

}  // namespace grb
