// Scratch memory of a split check.
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

// What a split check needs besides the leaf. A thread keeps it, so that a check allocates nothing.
struct CheckScratch {
    std::vector<Candidate> room;             // room for the valid candidates
    std::span<const Candidate> valid;        // the valid candidates, which are stored there
    std::vector<std::uint64_t> g;            // G of each candidate, if it was computed
    std::vector<std::uint64_t> left;         // n' of each: its structure points on the left
    std::vector<std::uint64_t> every_g;      // F(N) - Σ_k F(n_k) of each split point
    std::vector<std::uint64_t> every_point;  // N of each: the structure points it has seen
    std::vector<std::int64_t> largest;       // the largest G of each; there is room for at least 16
    std::array<std::int64_t, 16> bounds_now;  // the bound of each split point (see gain_bounds.hpp)
    std::array<std::uint8_t, 16> points_now;  // N of each, after a point was added
    bool few_now = false;                     // whether the leaf has seen few points
    std::vector<std::uint8_t> counters;       // made from kept points, one byte each
    std::vector<const std::uint8_t*> rows;    // rows of one-byte counters
    std::vector<std::uint64_t> histogram;     // a histogram that is being made
    Pool pool;                                // memory for counters made from kept points

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
