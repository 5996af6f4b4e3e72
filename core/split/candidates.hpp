// The candidate splits of an active leaf (R3, R5).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "counts/streams.hpp"
#include "draws.hpp"
#include "kernels/hot.hpp"
#include "kernels/kernels.hpp"
#include "memory/pool.hpp"
#include "split/candidate_block.hpp"
#include "split/candidate_scratch.hpp"

namespace riparian {

template <class Space>
class TreeState;  // see state_fields.hpp
template <class Space, class Evidence>
struct CandidatesReader;  // see state.hpp

// The candidates of an active leaf and their counts. They take about 1 MB with 2000 dimensions, 10
// split points and 20 classes, and lie in the pool of the tree.
template <class Space, class Evidence>
class Candidates {
public:
    using Feature = typename Space::Feature;
    using Point = typename Space::Point;
    using Target = typename Evidence::Target;
    using Label = typename Target::Label;
    using Known = typename Target::Known;
    using List = typename Target::List;
    using Scratch = CandidateScratch<Space, Target>;
    using Block = CandidateBlock<Candidates, Feature>;

    // Prefetches what a point reads, as far as most points get: the length is in the header, which
    // is not in the cache yet.
    void prefetch() const { riparian::prefetch(this, 384); }
    // Once the header is in the cache, prefetches what a point of this label changes.
    void prefetch_structure(Label y) const { evidence_.prefetch_structure(shape_, y); }
    void prefetch_estimation(Label y) const { evidence_.prefetch_estimation(shape_, y); }

    static Candidates* make(Pool& pool, const std::vector<Feature>& features,
                            std::uint32_t split_points, std::uint32_t attempt) {
        const CandidateShape shape{static_cast<std::uint32_t>(features.size()), split_points};
        return new (Block::allocate(pool, shape)) Candidates(pool, shape, features, attempt);
    }

    // Copies the candidates to another pool; the first one is about to be freed.
    Candidates* moved_to(Pool& pool) const {
        Candidates* moved = Block::copy(pool, this, shape_);
        moved->evidence_.move_to(pool, shape_);
        return moved;
    }

    // Returns the bytes to expect for a leaf at a depth with this α. Most leaves split by the time
    // that they have seen eight times α points of each stream, or sixteen points if that is more.
    void plan(std::uint64_t alpha, Known known) {
        const std::uint64_t points = std::clamp<std::uint64_t>(alpha, 2, 1 << 17) * 8;
        planned_ =
            Pool::block_size(Block::charged(shape_)) + Evidence::bytes_for(shape_, points, known);
    }
    std::uint64_t planned() const { return planned_; }

    void release(Pool& pool) {
        evidence_.release(pool, shape_);
        Block::release(pool, this, shape_);
    }

    // `tree_received`: estimation points of the tree when the lifetime of the candidates begins.
    RIPARIAN_HOT void observe_structure(Pool& pool, Point x, Label y, Weight n, Known known,
                                        std::uint64_t tree_received, Scratch& scratch) {
        if (split_points_so_far_ < shape_.split_points)
            become_split_point(x, tree_received, scratch);
        else
            sides(x, scratch);
        evidence_.add_structure(pool, shape_, scratch.bits.data(), y, n, known,
                                split_points_so_far_, scratch.check);
    }

    RIPARIAN_HOT void observe_estimation(Pool& pool, Point x, Label y, Weight n, Known known,
                                         Scratch& scratch) {
        received_ += n;
        if (split_points_so_far_ == 0) return;
        sides(x, scratch);
        evidence_.add_estimation(pool, shape_, scratch.bits.data(), y, n, known);
    }

    // Adds points from a list (R20) one by one, each with its values in `scratch`: first those that
    // become split points, then all of them.
    void add_split_point(std::uint64_t born_at, const Scratch& scratch) {
        create_candidate_splits([&](std::uint32_t d) { return scratch.values[d]; }, born_at);
    }
    void count_structure(Pool& pool, Known known, Label y, Weight n, Scratch& scratch) {
        sides(scratch);
        evidence_.add_structure(pool, shape_, scratch.bits.data(), y, n, known,
                                split_points_so_far_, scratch.check);
    }
    void count_estimation(Pool& pool, Known known, Label y, Weight n, Scratch& scratch) {
        received_ += n;
        if (split_points_so_far_ == 0) return;
        sides(scratch);
        evidence_.add_estimation(pool, shape_, scratch.bits.data(), y, n, known);
    }
    // The same, reading the point where it is stored.
    void add_split_point(std::uint64_t born_at, Point x, Scratch& scratch) {
        create_candidate_splits(x, born_at, scratch);
    }
    void count_structure(Pool& pool, Known known, Label y, Weight n, Point x, Scratch& scratch) {
        sides(x, scratch);
        evidence_.add_structure(pool, shape_, scratch.bits.data(), y, n, known,
                                split_points_so_far_, scratch.check);
    }
    void count_estimation(Pool& pool, Known known, Label y, Weight n, Point x, Scratch& scratch) {
        observe_estimation(pool, x, y, n, known, scratch);
    }
    // Adds all points of a short list where they are stored. Rows are readable up to a multiple of
    // 8.
    static constexpr bool keeps_points = Evidence::keeps_points;
    bool may_keep(std::size_t points, Known known) const {
        return split_points_so_far_ > 0 && Evidence::may_keep(shape_, points, known);
    }
    void count_structure(Pool& pool, Known, std::span<const Label> labels, const Point* rows) {
        evidence_.keep_structure(pool, shape_, labels,
                                 [&](std::uint64_t* bits) { sides(rows, labels.size(), bits); });
    }
    void count_estimation(Pool& pool, Known, std::span<const Label> labels, const Point* rows) {
        received_ += labels.size();
        evidence_.keep_estimation(pool, shape_, labels,
                                  [&](std::uint64_t* bits) { sides(rows, labels.size(), bits); });
    }
    // Adds all points of a long list: values[d * list.stride + i]. The counts are the same.
    bool may_count_at_once(const List& list, Known known) const {
        return split_points_so_far_ > 0 && !Evidence::may_keep(shape_, list.weight(), known);
    }
    void count_structure(Pool& pool, Known known, List& list, std::span<float> values) {
        for_each_row(list, values, [&](const typename List::Row& row) {
            evidence_.add_structure_row(pool, shape_, row, known);
        });
    }
    void count_estimation(Pool& pool, Known known, List& list, std::span<float> values) {
        received_ += list.weight();
        for_each_row(list, values, [&](const typename List::Row& row) {
            evidence_.add_estimation_row(pool, shape_, row, known);
        });
    }
    void forget_received() { received_ = 0; }

    // Adds a point of the one stream of Saffari's forest (R18). Thresholds are the values of the
    // first m points. With `range`, those values only define the range from which thresholds are
    // drawn, and counting begins when all m are known.
    RIPARIAN_HOT void observe(Pool& pool, Point x, Label y, Weight n, Known known,
                              std::uint64_t tree_received, std::optional<Draws> range,
                              Scratch& scratch) {
        received_ += n;
        if (split_points_so_far_ < shape_.split_points) {
            create_candidate_splits(x, tree_received, scratch);
            if (range && split_points_so_far_ < shape_.split_points) return;
            if (range) spread_thresholds(*range);
        }
        sides(x, scratch);
        evidence_.add(pool, shape_, scratch.bits.data(), y, n, known, split_points_so_far_,
                      scratch.check);
    }

    // Whether no valid candidate has a gain above this, as far as a cheap check can show after a
    // structure point was added.
    RIPARIAN_HOT bool none_above(double min_gain, std::uint64_t alpha,
                                 const Scratch& scratch) const {
        return evidence_.none_above(min_gain, shape_, split_points_so_far_, alpha, scratch.check);
    }

    // Returns the best of the candidates that may split the leaf, if there is one. With two
    // streams, these have at least α points on both sides; with one stream, they are all
    // candidates.
    std::optional<Choice<typename Target::G>> best(std::uint64_t alpha, Scratch& scratch) {
        return evidence_.best(shape_, split_points_so_far_, alpha, scratch.check);
    }
    std::optional<Choice<typename Target::G>> best_of_all(Scratch& scratch) const {
        return evidence_.best(shape_, split_points_so_far_, scratch.check);
    }

    void keep_gains(Pool& pool, Known known, Scratch& scratch) {
        evidence_.keep_gains(pool, shape_, split_points_so_far_, known, scratch.check);
    }

    // The children of a candidate start with its estimation counts (R10).
    void fill_children(Pool& pool, std::uint32_t candidate, typename Target::Statistics& left,
                       typename Target::Statistics& right, typename Target::Check& check) const {
        evidence_.fill_children(pool, shape_, candidate, left, right, check);
    }

    void save(TreeState<Space>& out) const;
    static Candidates* restored(Pool& pool, const Space& space, std::uint32_t split_points,
                                CandidatesReader<Space, Evidence>& in, Scratch& scratch);

    Feature feature(std::uint32_t candidate) const {
        return features()[candidate / shape_.split_points];
    }
    float threshold(std::uint32_t candidate) const { return thresholds()[candidate]; }
    std::uint64_t born(std::uint32_t candidate) const {
        return born()[candidate % shape_.split_points];
    }
    std::uint64_t received() const { return received_; }
    std::uint32_t attempt() const { return attempt_; }
    const Feature* features() const { return Block::features(this, shape_); }

private:
    static constexpr std::uint32_t mixed_bit = std::uint32_t{1} << 31;

    Candidates(Pool& pool, const CandidateShape& shape, const std::vector<Feature>& features,
               std::uint32_t attempt)
        : shape_(shape),
          attempt_(attempt & (mixed_bit - 1)),
          mixed_(std::any_of(features.begin(), features.end(), Space::equals)) {
        Block::fill(this, shape, features.data());
        evidence_.allocate(pool, shape_);
    }

    std::uint64_t* born() { return Block::born(this, shape_); }
    const std::uint64_t* born() const { return Block::born(this, shape_); }
    float* thresholds() { return Block::thresholds(this); }
    const float* thresholds() const { return Block::thresholds(this); }

    RIPARIAN_HOT void project(Point x, Scratch& scratch) const {
        if (scratch.values.size() < shape_.dims) scratch.values.resize(shape_.dims);
        Space::project(features(), shape_.dims, x, scratch.values.data());
    }

    template <class Visitor>
    void for_each_row(List& list, std::span<float> values, Visitor&& visitor) const {
        list.for_each_row(
            shape_, split_points_so_far_, thresholds(), values,
            [this](std::size_t d) { return Space::equals(features()[d]); }, visitor);
    }

    // R3: CreateCandidateSplit in every dimension.
    template <class Value>
    RIPARIAN_HOT void create_candidate_splits(Value&& value, std::uint64_t tree_received) {
        float* threshold = thresholds() + split_points_so_far_;
        for (std::uint32_t d = 0; d < shape_.dims; ++d)
            threshold[std::size_t{d} * shape_.split_points] = value(d);
        born()[split_points_so_far_++] = tree_received;
    }
    RIPARIAN_HOT void create_candidate_splits(Point x, std::uint64_t tree_received,
                                              Scratch& scratch) {
        if constexpr (Space::columns) {
            const Feature* feature = features();
            create_candidate_splits([&](std::uint32_t d) { return Space::value(feature[d], x); },
                                    tree_received);
        } else {
            project(x, scratch);
            add_split_point(tree_received, scratch);
        }
    }

    // The same, given the bits of the point.
    RIPARIAN_HOT void become_split_point(Point x, std::uint64_t tree_received, Scratch& scratch) {
        if constexpr (Space::columns)
            if (!mixed_ && shape_.split_points <= 16) [[likely]] {
                std::uint64_t* bits = make_room_for_bits(scratch);
                kernels().split_point_bits(x, features(), shape_.dims, shape_.split_points,
                                           split_points_so_far_, thresholds(), bits);
                born()[split_points_so_far_++] = tree_received;
                return add_everyone(bits);
            }
        create_candidate_splits(x, tree_received, scratch);
        sides(x, scratch);
    }

    // R18: draws m thresholds in each dimension, uniformly between the smallest and the largest of
    // its values.
    void spread_thresholds(Draws draws) {
        for (std::uint32_t d = 0; d < shape_.dims; ++d) {
            if (Space::equals(features()[d])) continue;  // R22: categories stay as they are
            float* row = thresholds() + std::size_t{d} * shape_.split_points;
            float low = row[0], high = row[0];
            for (std::uint32_t j = 1; j < shape_.split_points;
                 ++j) {  // NaN does not change the range
                if (!(low <= row[j])) low = std::isnan(row[j]) ? low : row[j];
                if (!(high >= row[j])) high = std::isnan(row[j]) ? high : row[j];
            }
            const double width = static_cast<double>(high) - static_cast<double>(low);
            for (std::uint32_t j = 0; j < shape_.split_points; ++j)
                row[j] = static_cast<float>(static_cast<double>(low) + draws.next() * width);
        }
    }

    // Computes the bits of a point, and those at the place of all points. A value of a row can be
    // compared without being copied.
    RIPARIAN_HOT void sides(Point x, Scratch& scratch) const {
        if constexpr (Space::columns) {
            std::uint64_t* bits = make_room_for_bits(scratch);
            (mixed_ ? kernels().mixed_row_bits : kernels().row_bits)(
                x, features(), shape_.dims, shape_.split_points, thresholds(), bits);
            add_everyone(bits);
        } else {
            project(x, scratch);
            sides(scratch);
        }
    }

    // For a projected point.
    void sides(Scratch& scratch) const {
        std::uint64_t* bits = make_room_for_bits(scratch);
        if (mixed_) {
            if constexpr (Space::columns)
                kernels().mixed_bits(scratch.values.data(), features(), shape_.dims,
                                     shape_.split_points, thresholds(), bits);
        } else {
            kernels().left_bits(scratch.values.data(), shape_.dims, shape_.split_points,
                                thresholds(), bits);
        }
        add_everyone(bits);
    }

    // For several points.
    void sides(const Point* rows, std::size_t n, std::uint64_t* bits) const {
        if (!mixed_ && shape_.words() == 1 && shape_.split_points <= 16) [[likely]]
            return kernels().rows_bits(rows, n, features(), shape_.dims, shape_.split_points,
                                       thresholds(), everyone_in_one_word(), bits);
        const std::size_t words = shape_.words();
        for (std::size_t i = 0; i < n; ++i, bits += words) {
            std::fill_n(bits, words, 0);
            (mixed_ ? kernels().mixed_row_bits : kernels().row_bits)(
                rows[i], features(), shape_.dims, shape_.split_points, thresholds(), bits);
            add_everyone(bits);
        }
    }

    RIPARIAN_HOT std::uint64_t* make_room_for_bits(Scratch& scratch) const {
        const std::size_t words = shape_.words();
        if (scratch.bits.size() < words) scratch.bits.resize(words);
        // The kernel writes whole words, the bits of the candidates.
        for (std::size_t w = shape_.candidates() / 64; w < words; ++w) scratch.bits[w] = 0;
        return scratch.bits.data();
    }

    RIPARIAN_HOT void add_everyone(std::uint64_t* bits) const {
        if (shape_.words() == 1) [[likely]]
            bits[0] |= everyone_in_one_word();
        else
            set_bits(bits, shape_.everyone(0), split_points_so_far_);
    }

    std::uint64_t everyone_in_one_word() const {
        return ((std::uint64_t{1} << split_points_so_far_) - 1) << shape_.candidates();
    }

    static void set_bits(std::uint64_t* bits, std::size_t first, std::size_t count) {
        while (count) {
            const std::size_t at = first % 64, in_word = std::min(count, 64 - at);
            bits[first / 64] |= (~std::uint64_t{0} >> (64 - in_word)) << at;
            first += in_word;
            count -= in_word;
        }
    }

    CandidateShape shape_;
    std::uint32_t attempt_ : 31;             // how often candidates were drawn here before (R8)
    std::uint32_t mixed_ : 1;                // whether some dimension is categorical (R22)
    std::uint32_t split_points_so_far_ = 0;  // of m
    std::uint64_t received_ = 0;             // points that predict, since the candidates were drawn
    std::uint64_t planned_ = 0;              // bytes that the budget of the tree sets aside
    Evidence evidence_;
};

}  // namespace riparian
