// A leaf: what predicts, and, while it is active, the candidates that may split it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include "counts/counts.hpp"
#include "rules/evidence.hpp"
#include "space/columns.hpp"
#include "draws.hpp"

namespace riparian {

template <class Space>
struct TreeState;  // see state.hpp

// What a thread needs to learn one point: nothing of it outlives the point.
template <class Space>
struct Scratch {
    std::vector<float> values;                   // the point, projected on the candidate dimensions
    std::vector<std::uint64_t> bits;             // left of which candidates it goes
    std::vector<typename Space::Feature> drawn;  // dimensions just drawn
    std::vector<std::uint64_t> labels;           // a histogram in the making
    CheckScratch check;
};

// The candidates of an active leaf and what they have counted. About 1 MB at 2000 dimensions, 10
// split points and 20 classes; all of it lies in the pool of the tree.
template <class Space, class Evidence>
class Candidates {
public:
    using Feature = typename Space::Feature;
    using Point = typename Space::Point;

    void prefetch() const {
        riparian::prefetch(this, std::min<std::size_t>(bytes(shape_), 512));
        evidence_.prefetch();
    }

    // One block holds the object itself and all that there is once a split point or a dimension.
    static Candidates* make(Pool& pool, const std::vector<Feature>& features,
                            std::uint32_t split_points, std::uint32_t attempt) {
        const CandidateShape shape{static_cast<std::uint32_t>(features.size()), split_points};
        return new (pool.allocate(bytes(shape))) Candidates(pool, shape, features, attempt);
    }

    // The same candidates in another pool; the first one is about to go.
    Candidates* moved_to(Pool& pool) const {
        static_assert(std::is_trivially_copyable_v<Candidates>);
        void* block = pool.allocate(bytes(shape_));
        std::memcpy(block, static_cast<const void*>(this), bytes(shape_));
        auto* moved = std::launder(static_cast<Candidates*>(block));
        moved->evidence_.move_to(pool, shape_);
        return moved;
    }

    // The bytes to expect of a leaf at a depth with this α: most split by the time they have seen
    // eight times α points of each stream, or sixteen where that is more.
    void plan(std::uint64_t alpha, Class n_classes) {
        const std::uint64_t points = std::clamp<std::uint64_t>(alpha, 2, 1 << 17) * 8;
        planned_ = Pool::block_size(bytes(shape_)) + Evidence::bytes_for(shape_, points, n_classes);
    }
    std::uint64_t planned() const { return planned_; }

    void release(Pool& pool) {
        evidence_.release(pool, shape_);
        const std::size_t size = bytes(shape_);
        static_assert(std::is_trivially_destructible_v<Candidates>);
        pool.release(this, size);
    }

    // `tree_received`: estimation points of the tree, where the lifetime of candidates begins.
    RIPARIAN_HOT void observe_structure(Pool& pool, Point x, Class y, Weight n, Class n_classes,
                                        std::uint64_t tree_received, Scratch<Space>& scratch) {
        project(x, scratch);
        if (split_points_ < shape_.split_points) create_candidate_splits(tree_received, scratch);
        sides(scratch);
        evidence_.add_structure(pool, shape_, scratch.bits.data(), y, n, n_classes, split_points_);
    }

    RIPARIAN_HOT void observe_estimation(Pool& pool, Point x, Class y, Weight n, Class n_classes,
                                         Scratch<Space>& scratch) {
        received_ += n;
        if (split_points_ == 0) return;
        project(x, scratch);
        sides(scratch);
        evidence_.add_estimation(pool, shape_, scratch.bits.data(), y, n, n_classes);
    }

    // The one stream of Saffari's forest (R18). Thresholds are the values of the first m points; or,
    // with `range`, those values only tell the range to draw them from, once they are all there, and
    // counting begins then.
    RIPARIAN_HOT void observe(Pool& pool, Point x, Class y, Weight n, Class n_classes,
                              std::uint64_t tree_received, std::optional<Draws> range,
                              Scratch<Space>& scratch) {
        received_ += n;
        project(x, scratch);
        if (split_points_ < shape_.split_points) {
            create_candidate_splits(tree_received, scratch);
            if (range && split_points_ < shape_.split_points) return;
            if (range) spread_thresholds(*range);
        }
        sides(scratch);
        evidence_.add(pool, shape_, scratch.bits.data(), y, n, n_classes, split_points_);
    }

    bool none_above(double min_gain, Scratch<Space>& scratch) const {
        return evidence_.none_above(min_gain, shape_, split_points_, scratch.check);
    }

    // The best of the candidates that may split the leaf, if there are any: those with at least α
    // points on both sides, or, of one stream, all that count.
    std::optional<Choice> best(std::uint64_t alpha, Scratch<Space>& scratch) {
        return evidence_.best(shape_, alpha, scratch.check);
    }
    std::optional<Choice> best_of_all(Scratch<Space>& scratch) const {
        return evidence_.best(shape_, split_points_, scratch.check);
    }

    void keep_sums(Pool& pool, Class n_classes, Scratch<Space>& scratch) {
        evidence_.keep_sums(pool, shape_, n_classes, scratch.check);
    }

    // The children of a candidate start with its estimation counts (R10).
    void fill_children(Pool& pool, std::uint32_t candidate, EstimationHistogram& left,
                       EstimationHistogram& right, Scratch<Space>& scratch) const {
        std::vector<std::uint64_t>& everyone = scratch.labels;
        everyone.clear();
        evidence_.predicting_at(shape_, shape_.everyone(candidate % shape_.split_points),
                                [&](Class y, std::uint64_t n) {
                                    if (y >= everyone.size()) everyone.resize(y + 1);
                                    everyone[y] += n;
                                });
        evidence_.predicting_at(shape_, candidate, [&](Class y, std::uint64_t n) {
            left.add(pool, y, n);
            everyone[y] -= n;
        });
        for (Class y = 0; y < everyone.size(); ++y)
            if (everyone[y]) right.add(pool, y, everyone[y]);
    }

    void save(TreeState<Space>& out) const;
    void restore(Pool& pool, std::uint32_t split_points, std::uint64_t received,
                 std::uint64_t planned, bool summed, const std::uint64_t* born_then,
                 const float* thresholds_then, EvidenceReader& evidence, Pool& scratch);

    Feature feature(std::uint32_t candidate) const {
        return features()[candidate / shape_.split_points];
    }
    float threshold(std::uint32_t candidate) const { return thresholds()[candidate]; }
    std::uint64_t born(std::uint32_t candidate) const {
        return born()[candidate % shape_.split_points];
    }
    std::uint64_t received() const { return received_; }
    std::uint32_t attempt() const { return attempt_; }
    const Feature* features() const {
        return reinterpret_cast<const Feature*>(block() + features_at(shape_));
    }

private:
    Candidates(Pool& pool, const CandidateShape& shape, const std::vector<Feature>& features,
               std::uint32_t attempt)
        : shape_(shape), attempt_(attempt) {
        std::uninitialized_fill_n(born(), shape.split_points, 0);
        // Nothing is <= NaN: a split point that is not there yet counts nothing.
        std::uninitialized_fill_n(thresholds(), shape.candidates(),
                                  std::numeric_limits<float>::quiet_NaN());
        std::memset(block() + features_at(shape), 0, bytes(shape) - features_at(shape));
        std::uninitialized_copy_n(features.data(), shape.dims,
                                  reinterpret_cast<Feature*>(block() + features_at(shape)));
        evidence_.allocate(pool, shape_);
    }

    // Where things lie in the block: the object, split point's births, thresholds, features. A
    // kernel reads up to 16 floats past the last threshold; where the features do not reach so
    // far, the block does.
    static constexpr std::size_t overread = 16 * sizeof(float);
    static std::size_t thresholds_at(const CandidateShape& shape) {
        static_assert(sizeof(Candidates) % alignof(std::uint64_t) == 0);
        return sizeof(Candidates) + shape.split_points * sizeof(std::uint64_t);
    }
    static std::size_t features_at(const CandidateShape& shape) {
        const std::size_t end = thresholds_at(shape) + shape.candidates() * sizeof(float);
        return (end + alignof(Feature) - 1) / alignof(Feature) * alignof(Feature);
    }
    static std::size_t bytes(const CandidateShape& shape) {
        return features_at(shape) + std::max(shape.dims * sizeof(Feature), overread);
    }
    std::byte* block() { return reinterpret_cast<std::byte*>(this); }
    const std::byte* block() const { return reinterpret_cast<const std::byte*>(this); }

    // Per split point: estimation points of the tree before it.
    std::uint64_t* born() { return reinterpret_cast<std::uint64_t*>(block() + sizeof(Candidates)); }
    const std::uint64_t* born() const { return const_cast<Candidates*>(this)->born(); }
    // Of candidate d*m+j.
    float* thresholds() { return reinterpret_cast<float*>(block() + thresholds_at(shape_)); }
    const float* thresholds() const { return const_cast<Candidates*>(this)->thresholds(); }

    RIPARIAN_HOT void project(Point x, Scratch<Space>& scratch) const {
        if (scratch.values.size() < shape_.dims) scratch.values.resize(shape_.dims);
        Space::project(features(), shape_.dims, x, scratch.values.data());
    }

    // CreateCandidateSplit in every dimension (R3).
    void create_candidate_splits(std::uint64_t tree_received, const Scratch<Space>& scratch) {
        float* threshold = thresholds() + split_points_;
        for (std::uint32_t d = 0; d < shape_.dims; ++d)
            threshold[std::size_t{d} * shape_.split_points] = scratch.values[d];
        born()[split_points_++] = tree_received;
    }

    // R18: m thresholds in each dimension, uniform between the least and the largest of its values.
    void spread_thresholds(Draws draws) {
        for (std::uint32_t d = 0; d < shape_.dims; ++d) {
            float* row = thresholds() + std::size_t{d} * shape_.split_points;
            float low = row[0], high = row[0];
            for (std::uint32_t j = 1; j < shape_.split_points; ++j) {  // a NaN is no bound
                if (!(low <= row[j])) low = std::isnan(row[j]) ? low : row[j];
                if (!(high >= row[j])) high = std::isnan(row[j]) ? high : row[j];
            }
            const double width = static_cast<double>(high) - static_cast<double>(low);
            for (std::uint32_t j = 0; j < shape_.split_points; ++j)
                row[j] = static_cast<float>(static_cast<double>(low) + draws.next() * width);
        }
    }

    // The bits of the projected point, with everyone's.
    RIPARIAN_HOT void sides(Scratch<Space>& scratch) const {
        const std::size_t words = shape_.words();
        if (scratch.bits.size() < words) scratch.bits.resize(words);
        std::uint64_t* bits = scratch.bits.data();
        std::fill(bits + shape_.candidates() / 64, bits + words, 0);
        kernels().left_bits(scratch.values.data(), shape_.dims, shape_.split_points, thresholds(),
                            bits);
        set_bits(bits, shape_.everyone(0), split_points_);
    }

    static void set_bits(std::uint64_t* bits, std::size_t first, std::size_t count) {
        while (count) {
            const std::size_t at = first % 64, some = std::min(count, 64 - at);
            bits[first / 64] |= (~std::uint64_t{0} >> (64 - some)) << at;
            first += some;
            count -= some;
        }
    }

    CandidateShape shape_;
    std::uint32_t attempt_;           // times candidates were drawn here before (R8)
    std::uint32_t split_points_ = 0;  // how many of the m are there by now
    std::uint64_t received_ = 0;      // points that predict, since the candidates were drawn
    std::uint64_t planned_ = 0;       // bytes that the budget of the tree sets aside
    Evidence evidence_;
};

template <class Space, class Evidence>
struct Leaf {
    EstimationHistogram estimation;                     // Y^e(A) over the lifetime of the cell
    Candidates<Space, Evidence>* candidates = nullptr;  // while active
    std::uint64_t born = 0;  // E0: estimation points of the tree when it began
    std::uint32_t node = 0;  // its number, in order of creation
    std::uint32_t depth = 0;
    std::uint32_t place = 0;  // in the heap of inactive leaves

    bool active() const { return candidates != nullptr; }
};

}  // namespace riparian
