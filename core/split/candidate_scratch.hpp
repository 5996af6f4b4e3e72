// Room to work in.
#pragma once

#include <cstdint>
#include <vector>

#include "predicting/descent.hpp"
#include "shuffle.hpp"

namespace riparian {

// What a thread needs to learn: nothing of it outlives a block.
template <class Space, class Target>
struct CandidateScratch {
    std::vector<float> values;        // the point, projected on the candidate dimensions
    std::vector<std::uint64_t> bits;  // left of which candidates it goes
    Shuffle shuffle;
    std::vector<typename Space::Feature> drawn;  // dimensions just drawn
    typename Target::Check check;
    Descent descent;
};

}  // namespace riparian
