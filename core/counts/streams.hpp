// The streams as types, and the weight of a point. Counts of one stream do not turn into counts of
// another: the independence of partition and prediction that the theorem rests on is these types
// and the signatures that ask for them.
#pragma once

#include <cstdint>

namespace riparian {

struct Structure {};   // chooses splits
struct Estimation {};  // allows them, and predicts
struct Shared {};  // the one stream of Saffari's forest (R18): does all of that, and proves nothing

using Weight = std::uint64_t;  // copies of a point (R17)

}  // namespace riparian
