// Room to work in.
#pragma once

#include <cstdint>
#include <vector>

#include "predicting/descent.hpp"
#include "shuffle.hpp"
#include "split/entropy_sums.hpp"

namespace riparian {

// What a thread needs to learn: nothing of it outlives a block.
template <class Space>
struct CandidateScratch {
    std::vector<float> values;                   // the point, projected on the candidate dimensions
    std::vector<std::uint64_t> bits;             // left of which candidates it goes
    Shuffle shuffle;
    std::vector<typename Space::Feature> drawn;  // dimensions just drawn
    std::vector<std::uint64_t> labels;           // a histogram in the making
    CheckScratch check;
    Descent descent;
};

}  // namespace riparian
