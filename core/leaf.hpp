// A leaf: what predicts, and, while it is active, the candidates that may split it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "candidates.hpp"
#include "counts.hpp"
#include "features.hpp"
#include "rng.hpp"

namespace riparian {

// What a thread needs to learn one point: nothing of it outlives the point.
template <class Space>
struct Scratch {
    std::vector<float> values;                    // the point, projected on the candidate dimensions
    std::vector<std::uint64_t> bits;              // left of which candidates it goes
    std::vector<typename Space::Feature> drawn;   // dimensions just drawn
    CheckScratch check;
};

// The candidates of an active leaf and what they have counted. About 1 MB at 2000 dimensions, 10
// split points and 20 classes; all of it lies in the pool of the tree.
template <class Space>
class Candidates {
public:
    using Feature = typename Space::Feature;
    using Point = typename Space::Point;

    Candidates(Pool& pool, const std::vector<Feature>& features, std::uint32_t split_points,
               std::uint32_t attempt)
        : shape_{static_cast<std::uint32_t>(features.size()), split_points}, attempt_(attempt) {
        features_ = pool.allocate_array<Feature>(shape_.dims);
        std::copy(features.begin(), features.end(), features_);
        thresholds_ = pool.allocate_array<float>(thresholds_room());
        // Nothing is <= NaN: a split point that is not there yet counts nothing.
        std::fill_n(thresholds_, thresholds_room(), std::numeric_limits<float>::quiet_NaN());
        born_ = pool.allocate_array<std::uint64_t>(split_points);
        totals_.allocate(pool, shape_);
    }

    void release(Pool& pool) {
        pool.release_array(features_, shape_.dims);
        pool.release_array(thresholds_, thresholds_room());
        pool.release_array(born_, shape_.split_points);
        totals_.release(pool);
        structure_.release(pool, shape_);
        estimation_.release(pool, shape_);
        sums_.release(pool, shape_);
    }

    // `tree_received`: estimation points of the tree, where the lifetime of candidates begins.
    void observe_structure(Pool& pool, Point x, Class y, Weight n, Class n_classes,
                           std::uint64_t tree_received, Scratch<Space>& scratch) {
        project(x, scratch);
        if (split_points_ < shape_.split_points) create_candidate_splits(tree_received, scratch);
        sides(scratch);
        const std::uint64_t* bits = scratch.bits.data();
        structure_.add(pool, shape_, bits, y, n, n_classes);
        if (sums_.kept()) sums_.add(pool, shape_, structure_, bits, y, n, split_points_);
    }

    void observe_estimation(Pool& pool, Point x, Class y, Weight n, Class n_classes,
                            Scratch<Space>& scratch) {
        received_ += n;
        if (split_points_ == 0) return;
        project(x, scratch);
        sides(scratch);
        totals_.add(pool, scratch.bits.data(), n, received_);
        estimation_.add(pool, shape_, scratch.bits.data(), y, n, n_classes);
        none_valid_ = false;
    }

    // The best valid candidate, if any is valid: the leaf can split.
    std::optional<Choice> best(std::uint64_t alpha, Scratch<Space>& scratch) {
        // Two children of α points need 2α; and where none was valid, only an estimation point
        // makes one valid.
        if (none_valid_ || totals_.oldest(shape_) / 2 < alpha) return std::nullopt;
        auto choice = best_split(shape_, totals_, alpha, structure_, sums_, scratch.check);
        none_valid_ = !choice;
        return choice;
    }

    // A check was made and the leaf was left whole: make the next checks cheap.
    void keep_sums(Pool& pool, Class n_classes, Scratch<Space>& scratch) {
        if (sums_.kept()) return;
        structure_.count(pool, shape_, n_classes);
        sums_.build(pool, shape_, structure_, scratch.check.pool);
    }

    // The children of a candidate start with its estimation counts (R10).
    void fill_children(Pool& pool, std::uint32_t candidate, EstimationHistogram& left,
                       EstimationHistogram& right) const {
        std::vector<std::uint64_t> everyone;
        estimation_.labels_at(shape_, shape_.everyone(candidate % shape_.split_points),
                              [&](Class y, std::uint64_t n) {
                                  if (y >= everyone.size()) everyone.resize(y + 1);
                                  everyone[y] += n;
                              });
        estimation_.labels_at(shape_, candidate, [&](Class y, std::uint64_t n) {
            left.add(pool, y, n);
            everyone[y] -= n;
        });
        for (Class y = 0; y < everyone.size(); ++y)
            if (everyone[y]) right.add(pool, y, everyone[y]);
    }

    Feature feature(std::uint32_t candidate) const {
        return features_[candidate / shape_.split_points];
    }
    float threshold(std::uint32_t candidate) const { return thresholds_[candidate]; }
    std::uint64_t born(std::uint32_t candidate) const {
        return born_[candidate % shape_.split_points];
    }
    std::uint64_t received() const { return received_; }
    std::uint32_t attempt() const { return attempt_; }
    std::uint32_t split_points() const { return split_points_; }
    const CandidateShape& shape() const { return shape_; }
    const Feature* features() const { return features_; }
    const StructureCounts& structure() const { return structure_; }
    const EstimationCounts& estimation() const { return estimation_; }

private:
    std::size_t thresholds_room() const { return shape_.candidates() + 16; }  // kernels read on

    void project(Point x, Scratch<Space>& scratch) const {
        if (scratch.values.size() < shape_.dims) scratch.values.resize(shape_.dims);
        for (std::uint32_t d = 0; d < shape_.dims; ++d)
            scratch.values[d] = Space::value(features_[d], x);
    }

    // CreateCandidateSplit in every dimension (R3).
    void create_candidate_splits(std::uint64_t tree_received, const Scratch<Space>& scratch) {
        for (std::uint32_t d = 0; d < shape_.dims; ++d)
            thresholds_[d * shape_.split_points + split_points_] = scratch.values[d];
        born_[split_points_++] = tree_received;
    }

    // The bits of the projected point, with everyone's.
    void sides(Scratch<Space>& scratch) const {
        const std::size_t words = shape_.words();
        if (scratch.bits.size() < words) scratch.bits.resize(words);
        std::uint64_t* bits = scratch.bits.data();
        std::fill(bits + shape_.candidates() / 64, bits + words, 0);
        kernels().left_bits(scratch.values.data(), shape_.dims, shape_.split_points, thresholds_,
                            bits);
        for (std::uint32_t j = 0; j < split_points_; ++j) {
            const std::size_t i = shape_.everyone(j);
            bits[i / 64] |= std::uint64_t{1} << (i % 64);
        }
    }

    CandidateShape shape_;
    std::uint32_t attempt_;            // times candidates were drawn here before (R8)
    std::uint32_t split_points_ = 0;   // how many of the m are there by now
    bool none_valid_ = false;          // since the last estimation point
    std::uint64_t received_ = 0;       // estimation points since the candidates were drawn
    Feature* features_;                // the candidate dimensions, as drawn
    float* thresholds_;                // of candidate d*m+j
    std::uint64_t* born_;              // per split point: estimation points of the tree before it
    EstimationTotals totals_;
    StructureCounts structure_;
    EstimationCounts estimation_;
    EntropySums sums_;
};

template <class Space>
struct Leaf {
    EstimationHistogram estimation;           // Y^e(A) over the lifetime of the cell
    std::uint64_t born = 0;                   // E0: estimation points of the tree when it began
    std::uint32_t node = 0;                   // its number, in order of creation
    std::uint32_t depth = 0;
    std::uint32_t place = 0;                  // in the heap of inactive leaves
    Candidates<Space>* candidates = nullptr;  // while active

    bool active() const { return candidates != nullptr; }
};

}  // namespace riparian
