// A candidate of a leaf by its number (see candidate_shape.hpp). Nothing here has code.
#pragma once

#include <cstdint>

namespace riparian {

struct Candidate {
    std::uint32_t number;
    std::uint32_t split_point;
};

}  // namespace riparian
