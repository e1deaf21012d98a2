// The rows of one tile row, merged side by side by a group of lanes: the common step of building tiles of any kind.
//
// Who includes it: products/bit_tiles_build.cuh, products/bitblock_build.cuh, products/tiles.cuh.
// A group: 8 lanes for blocks of 8, 16 for tiles of 16, else 32; a lane for each row (two rows for tiles of 64).
// A task is a tile row or one of the parts of a long one: tasks task_ptr[r] .. task_ptr[r+1]-1 are tile row r (owner[j]
//   is r; null: j), divided at the columns that divide its longest row into equal parts.
#pragma once
#include "products/bit_tiles.cuh"
#include "base/views.cuh"

namespace grb {

template <class W> struct TileGroup {
  static constexpr int NT = 8 * sizeof(W), LANES = NT < 32 ? NT : 32, EACH = NT / LANES, IN_WARP = 32 / LANES;
  static constexpr int SHIFT = NT == 8 ? 3 : NT == 16 ? 4 : NT == 32 ? 5 : 6;
  static GRB_DEVICE int number() { return lane_number() / LANES; }
  static GRB_DEVICE int lane() { return lane_number() % LANES; }
  // The word whose bit EACH-th part u, lane l is flag[u] of lane l of the group.  The warp calls together.
  static GRB_DEVICE W gathered(const bool (&flag)[EACH]) {
    W all = 0;
    for (int u = 0; u < EACH; u++) {
      unsigned votes = __ballot_sync(ALL_LANES, flag[u]);
      all |= W(W(votes >> (number() * LANES % 32)) << (u * LANES % NT));
    }
    return all;
  }
};

// Where each lane's rows begin and stop in this task; the tile row.  The warp calls together.
template <class W, class I>
GRB_DEVICE int64_t begin_task(const int64_t* indptr, const I* cols, int64_t nrows, int64_t tasks,
                              const int64_t* task_ptr, const int32_t* owner, int64_t task,
                              int64_t (&at)[TileGroup<W>::EACH], int64_t (&stop)[TileGroup<W>::EACH]) {
  using G = TileGroup<W>;
  bool here = task < tasks;
  int64_t tile_row = owner == nullptr || !here ? task : int64_t(owner[task]);
  for (int u = 0; u < G::EACH; u++) {
    int64_t row = tile_row * G::NT + u * G::LANES + G::lane();
    at[u] = here && row < nrows ? indptr[row] : 0;
    stop[u] = here && row < nrows ? indptr[row + 1] : 0;
  }
  if (owner == nullptr) return tile_row;
  int64_t part = here ? task - task_ptr[tile_row] : 0, parts = here ? task_ptr[tile_row + 1] - task_ptr[tile_row] : 1;
  int64_t longest = 0, begin = 0;
  bool last = part + 1 == parts;
  for (int u = 0; u < G::EACH; u++)          // the group's longest row, the first of such
    if (stop[u] - at[u] > longest) longest = stop[u] - at[u], begin = at[u];
  for (int by = G::LANES / 2; by; by >>= 1) {
    int64_t other = __shfl_xor_sync(ALL_LANES, longest, by), where = __shfl_xor_sync(ALL_LANES, begin, by);
    if (other > longest || (other == longest && where < begin)) longest = other, begin = where;
  }
  I low = part == 0 ? I(0) : I(cols[begin + longest * part / parts] >> G::SHIFT << G::SHIFT);
  I high = last ? I(0) : I(cols[begin + longest * (part + 1) / parts] >> G::SHIFT << G::SHIFT);
  for (int u = 0; u < G::EACH; u++) {
    int64_t row_begin = at[u], row_stop = stop[u];
    if (part) at[u] = lower_bound(cols, row_begin, row_stop, low);
    if (!last) stop[u] = lower_bound(cols, row_begin, row_stop, high);
  }
  return tile_row;
}

}  // namespace grb
