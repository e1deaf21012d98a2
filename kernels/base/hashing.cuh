// Counter-based random bits: the finaliser of splitmix64, equal to grb_tile/hashing.py.
//
// Who includes it: communities/move_rounds.cuh, communities/join_rounds.cuh, graph/random_walks.cuh.
#pragma once
#include "base/launch.cuh"

namespace grb {

// splitmix64's finaliser of counter x golden ratio + key.
GRB_DEVICE word mixed_by(word counter, word key) {
  word x = counter * 0x9E3779B97F4A7C15ull + key;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

}  // namespace grb
