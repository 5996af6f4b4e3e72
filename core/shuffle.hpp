// Selects some of n things in random order: a partial Fisher-Yates shuffle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "draws.hpp"

namespace riparian {

// Makes one shuffle after the other. Moved numbers are put back after each shuffle, so that a
// shuffle takes as many steps as it draws numbers, however many there are to draw from.
class Shuffle {
public:
    // Returns `count` of the numbers below n, in the order in which they were drawn.
    void draw(Draws& draws, std::uint32_t n, std::uint32_t count,
              std::vector<std::uint32_t>& drawn) {
        drawn.resize(count);
        if (n == 2 && count == 2) {  // as in most looks
            drawn[0] = static_cast<std::uint32_t>(draws.below(2));
            drawn[1] = 1 - drawn[0];
            return draws.skip();
        }
        while (at_.size() < n) at_.push_back(static_cast<std::uint32_t>(at_.size()));
        if (swapped_.size() < count) swapped_.resize(count);
        std::uint32_t *at = at_.data(), *swapped = swapped_.data(), *out = drawn.data();
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i + 1 == n) {  // only one is left
                draws.skip();
                out[i] = at[i];
                swapped[i] = i;
                break;
            }
            const auto j = static_cast<std::uint32_t>(i + draws.below(n - i));
            out[i] = at[j];
            at[j] = at[i];  // the number at place i is not needed again
            swapped[i] = j;
        }
        for (std::uint32_t i = 0; i < count; ++i) at[swapped[i]] = swapped[i];
    }

private:
    std::vector<std::uint32_t> at_;       // between two shuffles, each number is at its own place
    std::vector<std::uint32_t> swapped_;  // places that the last shuffle has changed
};

}  // namespace riparian
