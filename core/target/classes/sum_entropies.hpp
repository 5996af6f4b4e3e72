// G of candidates, computed from the counts (R14).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "target/classes/check_scratch.hpp"
#include "target/classes/counts.hpp"
#include "target/classes/entropy.hpp"
#include "target/classes/few_labels.hpp"

namespace riparian {

// Computes G of some candidates, and N of every split point. for_each(visitor) calls
// visitor(candidate, its split point) for each candidate.
template <class Stream, class ForEach>
void sum_entropies(const CandidateShape& shape, const ClassCounts<Stream>& structure,
                   ForEach&& for_each, CheckScratch& check) {
    const auto& F = EntropyTable::get();
    check.make_room(shape);
    std::uint64_t *const g = check.g.data(), *const left = check.left.data();
    std::uint64_t *const every_g = check.every_g.data(), *const points = check.every_point.data();
    for_each([=](std::size_t i, std::size_t) { g[i] = left[i] = 0; });
    for (std::size_t j = 0; j < shape.split_points; ++j) every_g[j] = points[j] = 0;
    structure.for_each_row(shape, check.pool, [=, &F](const auto* row) {
        using Count = std::remove_cvref_t<decltype(row[0])>;
        const Count* everyone = row + shape.candidates();
        for_each([=, &F](std::size_t i, std::size_t j) {
            g[i] += F(row[i]) + F(static_cast<Count>(everyone[j] - row[i]));
            left[i] += row[i];
        });
        for (std::size_t j = 0; j < shape.split_points; ++j) {
            every_g[j] -= F(everyone[j]);
            points[j] += everyone[j];
        }
    });
    for (std::size_t j = 0; j < shape.split_points; ++j) every_g[j] += F(points[j]);
    for_each([=, &F](std::size_t i, std::size_t j) {
        g[i] += every_g[j] - F(left[i]) - F(points[j] - left[i]);
    });
}

// Whether a leaf that has seen this many points counts as one with few points.
inline bool are_few(const CandidateShape& shape, std::uint64_t points) {
    return points < EntropyTable::few && shape.split_points <= 16;
}

// The same for some candidates of a leaf with few kept points, with N of the split points of these
// candidates.
template <class Stream>
void sum_entropies_of_kept(const CandidateShape& shape, const ClassCounts<Stream>& structure,
                           std::span<const Candidate> candidates, CheckScratch& check) {
    check.make_room(shape);
    const FewLabels labels(structure.kept_labels());
    kernels().sum_kept(structure.kept_bits(), shape.words(), structure.kept_labels().size(),
                       labels.points(), labels.size(), candidates.data(), candidates.size(),
                       shape.everyone(0), EntropyTable::get().terms(), check.g.data(),
                       check.every_point.data());
}

}  // namespace riparian
