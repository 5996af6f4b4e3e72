// What a split check works in, and G straight from the counts (R14).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "counts/counts.hpp"
#include "split/entropy.hpp"
#include "split/few_labels.hpp"

namespace riparian {

// What one split check needs besides the leaf: kept by a thread, so that a check allocates nothing.
struct CheckScratch {
    std::vector<Candidate> room;              // for the valid candidates,
    std::span<const Candidate> valid;         // which are these
    std::vector<std::uint64_t> g;             // for each candidate, G, if it was asked for
    std::vector<std::uint64_t> left;          // and n', its structure points on the left
    std::vector<std::uint64_t> every_g;       // for each split point, F(N) - Σ_k F(n_k)
    std::vector<std::uint64_t> every_point;   // and N, the structure points it has seen,
    std::vector<std::int64_t> largest;        // and the largest G, room for 16 at the least
    std::array<std::int64_t, 16> bounds_now;  // for each split point, the bound (see gain_bounds.hpp)
    std::array<std::uint8_t, 16> points_now;  // and N, once a point was added,
    bool few_now = false;                     // if the leaf has seen few
    std::vector<std::uint8_t> counters;       // made from kept points, of one byte each
    std::vector<const std::uint8_t*> rows;    // of counters of one byte
    Pool pool;                                // counters made from kept points

    void make_room(const CandidateShape& shape) {
        if (g.size() < shape.candidates()) {
            g.resize(shape.candidates());
            left.resize(shape.candidates());
        }
        if (every_g.size() < shape.split_points) {
            every_g.resize(shape.split_points);
            every_point.resize(shape.split_points);
            largest.resize(std::max<std::size_t>(shape.split_points, 16));
        }
    }
};

// G of some candidates, and N of every split point. for_each(visitor) calls visitor(candidate, its split
// point) for each that is asked for.
template <class Stream, class ForEach>
void sum_entropies(const CandidateShape& shape, const Counts<Stream>& structure,
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

// Whether a leaf that has seen so many points has seen few.
inline bool are_few(const CandidateShape& shape, std::uint64_t points) {
    return points < EntropyTable::few && shape.split_points <= 16;
}

// The same for some candidates from few kept points, with N of the split points of these candidates.
template <class Stream>
void sum_entropies_of_kept(const CandidateShape& shape, const Counts<Stream>& structure,
                           std::span<const Candidate> candidates, CheckScratch& check) {
    check.make_room(shape);
    const FewLabels labels(structure.kept_labels());
    kernels().sum_kept(structure.kept_bits(), shape.words(), structure.kept_labels().size(),
                       labels.points(), labels.size(), candidates.data(), candidates.size(),
                       shape.everyone(0), EntropyTable::get().terms(), check.g.data(),
                       check.every_point.data());
}

}  // namespace riparian
