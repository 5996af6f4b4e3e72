// Scratch memory of a thread.
#pragma once

#include <cstdint>
#include <vector>

#include "predicting/block_answers.hpp"
#include "predicting/descent.hpp"
#include "shuffle.hpp"

namespace riparian {

// What a thread needs to learn. Nothing in it outlives a block.
template <class Space, class Target>
struct CandidateScratch {
    std::vector<float> values;        // the point, projected on the candidate dimensions
    std::vector<std::uint64_t> bits;  // the candidates with the point on their left
    Shuffle shuffle;
    std::vector<typename Space::Feature> drawn;  // dimensions just drawn
    typename Target::Check check;
    Descent descent;
    BlockAnswers<typename Target::Voting> answers;  // if answers are requested
};

}  // namespace riparian
