// Some of n things in a random order: a partial Fisher-Yates shuffle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "draws.hpp"

namespace riparian {

// One shuffle after the other. What a shuffle has moved goes back to its place, so that the next
// one costs as many steps as it draws, however many there are to draw from.
class Shuffle {
public:
    // `count` of the numbers below n, in the order they are drawn.
    void draw(Draws& draws, std::uint32_t n, std::uint32_t count,
              std::vector<std::uint32_t>& drawn) {
        while (at_.size() < n) at_.push_back(static_cast<std::uint32_t>(at_.size()));
        drawn.resize(count);
        if (swapped_.size() < count) swapped_.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto j = static_cast<std::uint32_t>(i + draws.below(n - i));
            drawn[i] = at_[j];
            at_[j] = at_[i];  // what comes to place i is not asked for again
            swapped_[i] = j;
        }
        for (std::uint32_t i = 0; i < count; ++i) at_[swapped_[i]] = swapped_[i];
    }

private:
    std::vector<std::uint32_t> at_;       // each number at its own place, between two shuffles
    std::vector<std::uint32_t> swapped_;  // places that the last one has changed
};

}  // namespace riparian
