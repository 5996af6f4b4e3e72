// A label and a weight, as the core has them.
#pragma once

#include <cstdint>

namespace riparian {

using Class = std::uint32_t;   // in order of arrival (R17)
using Weight = std::uint64_t;  // copies of a point

}  // namespace riparian
