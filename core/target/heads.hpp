// Heads: a tree can answer from its leaf or from larger cells above it (R25) and, for streams that
// may change, from what its leaf remembers of the last points (R27). This file has what all targets
// have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "drift/log_exp.hpp"

namespace riparian {

// k_j: the number of votes that a cell must hold for head j to answer from it.
inline constexpr std::array<std::uint64_t, 5> head_sizes{1, 4, 16, 64, 256};
inline constexpr std::size_t n_sizes = head_sizes.size();
// g_j: the factors by which the memories of a leaf fade with each of its points (R27).
template <class T>
inline constexpr std::array<T, 3> memory_factors{T{1} / T{3}, static_cast<T>(0.8),
                                                 static_cast<T>(0.95)};
inline constexpr std::size_t n_memories = memory_factors<float>.size();

template <class T>
using PerSize = std::array<T, n_sizes>;
template <class T>
using PerMemory = std::array<T, n_memories>;

// The heads of a forest's trees: those of all sizes, then those of the memories, if any. `fading`
// is γ, the factor by which the scores of a head fade.
struct HeadsBySize {
    static constexpr std::size_t count = n_sizes;
    static constexpr double fading = 0.999;
};
struct HeadsWithMemories {
    static constexpr std::size_t count = n_sizes + n_memories;
    static constexpr double fading = 0.995;
};

template <class Kinds, class T>
using PerHead = std::array<T, Kinds::count>;

inline constexpr double head_share = 0x1p28;   // the units of a share
inline constexpr double score_fading = 0.999;  // of s_j

// Updates the score of a head after a point, given the share of the point's class in its answer.
inline double faded(double fading, double evidence, double share) {
    return fading * evidence - 2.0 * ((1.0 - share) * (1.0 - share));
}

// T_j of a forest and the weights that follow from it. Nothing that a tree learns depends on them.
// The target defines how a point judges the heads.
template <class Kinds>
class HeadTrust {
public:
    HeadTrust() { weigh(); }

    // softmax(T) in units of 2^-12. The head with the largest T gets the difference to 1.
    void weigh() {
        const auto best = std::max_element(evidence_.begin(), evidence_.end());
        PerHead<Kinds, double> exponentials;
        double sum = 0.0;
        for (std::size_t j = 0; j < Kinds::count; ++j)
            sum += exponentials[j] = exp_of_negative(evidence_[j] - *best);
        std::int64_t left = whole_weight;
        for (std::size_t j = 0; j < Kinds::count; ++j) {
            const double share = exponentials[j] / sum * static_cast<double>(whole_weight);
            weights_[j] = static_cast<std::int64_t>(std::rint(share));
            left -= weights_[j];
        }
        weights_[static_cast<std::size_t>(best - evidence_.begin())] += left;
    }

    const PerHead<Kinds, std::int64_t>& weights() const { return weights_; }

    static constexpr std::int64_t whole_weight = 1 << 12;

protected:
    PerHead<Kinds, double> evidence_{};  // T_j

private:
    PerHead<Kinds, std::int64_t> weights_{};
};

}  // namespace riparian
