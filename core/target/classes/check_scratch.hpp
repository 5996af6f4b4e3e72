// Room for a split check.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "memory/pool.hpp"

namespace riparian {

// What one split check needs besides the leaf: kept by a thread, so that a check allocates nothing.
struct CheckScratch {
    std::vector<Candidate> room;             // for the valid candidates,
    std::span<const Candidate> valid;        // which are these
    std::vector<std::uint64_t> g;            // for each candidate, G, if it was asked for
    std::vector<std::uint64_t> left;         // and n', its structure points on the left
    std::vector<std::uint64_t> every_g;      // for each split point, F(N) - Σ_k F(n_k)
    std::vector<std::uint64_t> every_point;  // and N, the structure points it has seen,
    std::vector<std::int64_t> largest;       // and the largest G, room for 16 at the least
    std::array<std::int64_t, 16>
        bounds_now;  // for each split point, the bound (see gain_bounds.hpp)
    std::array<std::uint8_t, 16> points_now;  // and N, once a point was added,
    bool few_now = false;                     // if the leaf has seen few
    std::vector<std::uint8_t> counters;       // made from kept points, of one byte each
    std::vector<const std::uint8_t*> rows;    // of counters of one byte
    std::vector<std::uint64_t> histogram;     // in the making
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

}  // namespace riparian
