// The streams as types, and the weight of a point. Counts of one stream cannot become counts of
// another. These types, and the signatures that require them, ensure the independence of partition
// and prediction on which the theorem rests.
#pragma once

#include <cstdint>

namespace riparian {

struct Structure {};   // chooses splits
struct Estimation {};  // allows them, and predicts
struct Shared {};      // the one stream of Saffari's forest (R18), which does both

using Weight = std::uint64_t;  // copies of a point (R17)

}  // namespace riparian
