// The pull of SSSP: each vertex whose distance is not final searches its row, light entries first, for
// d(u) + w < d(v).
//
// Who includes it: graph/sssp.cuh, which lists the phases of a round.
// An entry of weight w can only improve v if low + w < d(v), where no vertex in question is nearer than `low`; rows
// ascend by weight, so the first entry that fails this ends the row.  This loop is not shared with pull.cuh, because a
// minimum keeps several candidates in registers (SIDE vertices a lane, HEAD entries each) where a search for any match
// stops at the first.
// Reference: Chakaravarthy, Checconi, Petrini, Sabharwal (IPDPS 2014), "pull" and "pruning by weight".
#pragma once
#include "graph/sssp_relax.cuh"

namespace grb {

template <class K, int BYTES, bool REAL> struct SsspPull : SsspRelax<K, BYTES, REAL> {
  using Relax = SsspRelax<K, BYTES, REAL>;
  using Entry = typename Relax::Entry;
  using Relax::g, Relax::counters, Relax::warp, Relax::warps, Relax::shift;
  static constexpr K NONE = Relax::NONE;

  // First sweep: all vertices at or above `settled`; those that another of them may still improve are marked in
  // `was_active`.
  // Second sweep: the marked vertices; the improved ones are listed.
  GRB_DEVICE void pull(K settled, K low, bool second) {
    constexpr int SIDE = BYTES == 4 ? 4 : 2;   // vertices of a lane
    constexpr int HEAD = 4;                    // entries read at once
    constexpr int ROW_OF_LANE = 16;            // further entries that a lane reads alone
    const Entry* in = static_cast<const Entry*>(g.in);
    int lane = lane_number();
    for (int64_t group = warp; group * (32 * SIDE) < g.n; group += warps) {
      int64_t v0 = group * (32 * SIDE) + lane, first[SIDE], end[SIDE];
      K had[SIDE], best[SIDE];
      Entry head[SIDE][HEAD];
      unsigned further = 0;
#pragma unroll
      for (int s = 0; s < SIDE; s++) {
        bool looks = v0 + 32 * s < g.n && (!second || load_l2(g.was_active + group * SIDE + s) >> lane & 1);
        had[s] = best[s] = looks ? load_l2(g.dist + v0 + 32 * s) : K(0);
      }
#pragma unroll
      for (int s = 0; s < SIDE; s++) {
        bool open = had[s] >= settled;           // settled > 0
        first[s] = open ? g.in_start[v0 + 32 * s] : 0;
        end[s] = open ? g.in_start[v0 + 32 * s + 1] : 0;
      }
#pragma unroll
      for (int s = 0; s < SIDE; s++)
#pragma unroll
        for (int k = 0; k < HEAD; k++)
          if (first[s] < end[s]) head[s][k] = in[first[s] + k < end[s] ? first[s] + k : end[s] - 1];
#pragma unroll
      for (int s = 0; s < SIDE; s++)             // the lightest entry first: most rows have no better one
        if (first[s] < end[s]) better(best[s], had[s], low, head[s][0]);
#pragma unroll
      for (int s = 0; s < SIDE; s++)
        if (first[s] < end[s]) {
          K known = best[s];
#pragma unroll
          for (int k = 1; k < HEAD; k++) better(best[s], known, low, head[s][k]);
          bool more = best[s] == NONE || this->sum(low, head[s][HEAD - 1].weight(shift)) < best[s];
          further |= unsigned(more && first[s] + HEAD < end[s]) << s;
        }
#pragma unroll
      for (int s = 0; s < SIDE; s++) {
        int64_t v = v0 + 32 * s;
        bool late = further >> s & 1;
        if (late) {
          int64_t i = first[s] + HEAD, alone = end[s] - i > ROW_OF_LANE ? i + ROW_OF_LANE : end[s];
          for (; late && i < alone; i += HEAD) {
            Entry entry[HEAD];
#pragma unroll
            for (int k = 0; k < HEAD; k++) entry[k] = in[i + k < end[s] ? i + k : end[s] - 1];
            K known = best[s];
#pragma unroll
            for (int k = 0; k < HEAD; k++) better(best[s], known, low, entry[k]);
            late = best[s] == NONE || this->sum(low, entry[HEAD - 1].weight(shift)) < best[s];
          }
          late = late && i < end[s];
        }
        for_each_lane(late, [&](int who) {
          int64_t from = shuffle(first[s], who) + HEAD + ROW_OF_LANE, to = shuffle(end[s], who);
          K least = shuffle(best[s], who);
          for (int64_t i = from; i < to; i += 32) {
            Entry entry = in[i + lane < to ? i + lane : to - 1];
            K mine = least;
            better(mine, least, low, entry);
            least = warp_min(mine);
            if (least != NONE && this->sum(low, shuffle(entry.weight(shift), 31)) >= least) break;
          }
          if (lane == who) best[s] = least;
        });
        bool improved = best[s] < had[s];
        if (improved) atomicMin(&g.dist[v], best[s]);
        if (second) {
          this->stage(improved && visit(g.in_list, int(v)), int(v), g.list, &counters->listed);
        } else {
          bool again = first[s] < end[s] && (best[s] == NONE || this->sum(settled, head[s][0].weight(shift)) < best[s]);
          unsigned marks = __ballot_sync(ALL_LANES, again);
          if (lane == 0 && v < g.n) g.was_active[group * SIDE + s] = marks;
        }
      }
    }
    if (second) this->flush(g.list, &counters->listed);
  }
  // Relax the source's whole row, so that the first sweep can ignore it.  Returns the weight of its lightest entry, a
  // lower limit of all other distances.
  GRB_DEVICE K relax_source(int64_t source) {
    const Entry* out = static_cast<const Entry*>(g.out);
    int64_t first = g.start[source], end = g.start[source + 1];
    if (first == end) return K(0);
    for (int64_t k = first + thread_number(); k < end; k += thread_count()) {
      Entry entry = out[k];
      if (entry.column(shift) != source) atomicMin(&g.dist[entry.column(shift)], entry.weight(shift));
    }
    return out[first].weight(shift);
  }
  // best = min(best, d(u) + w); d(u) is read only when low + w < known.
  GRB_DEVICE void better(K& best, K known, K low, const Entry& entry) {
    K w = entry.weight(shift);
    if (known != NONE && this->sum(low, w) >= known) return;
    K d = load_l2(g.dist + entry.column(shift));
    if (d == NONE) return;
    d = this->sum(d, w);
    best = d < best ? d : best;
  }
};

}  // namespace grb
