// A label of the target `Classes`.
#pragma once

#include <cstdint>

namespace riparian {

using Class = std::uint32_t;  // in order of arrival (R17)

}  // namespace riparian
