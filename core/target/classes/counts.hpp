// What is counted of classes, and which code may see it. There are three kinds with three types,
// none of which converts into another:
//
//   StructureCounts      labels of structure points per candidate: may choose a split
//   EstimationTotals     how many estimation points per candidate, no labels: may allow a split
//   EstimationCounts     labels of estimation points per candidate: become the children's
//                        histograms
//
// SharedCounts, for the one stream of Saffari's forest (R18), does all of that and proves nothing.
// EstimationHistogram has the labels of the estimation points of a leaf, and only it may predict.
// These types and their signatures ensure the independence of partition and prediction on which the
// theorem rests.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "counts/candidate_shape.hpp"
#include "counts/counters.hpp"
#include "counts/estimation_totals.hpp"
#include "counts/streams.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/classes/check_scratch.hpp"
#include "target/classes/histogram.hpp"
#include "target/classes/labels.hpp"
#include "target/classes/long_list.hpp"

namespace riparian {

inline constexpr std::uint64_t few_points =
    16;  // the number of points that a leaf may keep in any case

// The labels that each candidate's left child has counted in one stream. At first the points are
// kept, each as a label and one bit per candidate. When that would take more memory than counting,
// they are counted, in one row of counters per class. Both forms give the same answers.
template <class Stream>
class ClassCounts {
public:
    static constexpr bool keeps_points = true;

    void release(Pool& pool, const CandidateShape& shape) {
        release_points(pool, shape);
        rows_.release(pool);
        *this = {};
    }

    void move_to(Pool& pool, const CandidateShape& shape) {
        rows_.move_to(pool);
        if (!room_) return;
        const std::size_t bytes = room_ * point_bytes(shape);
        void* moved = pool.allocate(bytes);
        std::memcpy(moved, bits_, bytes);
        bits_ = static_cast<std::uint64_t*>(moved);
        labels_ = reinterpret_cast<Class*>(bits_ + room_ * shape.words());
    }

    bool counted() const { return rows_.size() != 0; }

    // Prefetches the place of the next point of label y.
    void prefetch(const CandidateShape& shape, Class y) const {
        const std::size_t stride = shape.counters();
        if (!counted())
            riparian::prefetch(bits_ + kept_ * shape.words());
        else if ((y + 1) * stride <= rows_.size())  // a label that was never met has no row
            rows_.prefetch(y * stride, stride);
    }

    // Returns the bytes of this many kept points, or those of one-byte counters for all classes if
    // these are fewer.
    static std::size_t bytes_for(const CandidateShape& shape, std::uint64_t points,
                                 Class n_classes) {
        const std::size_t kept = std::bit_ceil(std::max<std::uint64_t>(points, 8));
        return std::min(Pool::block_size(kept * point_bytes(shape)),
                        Pool::block_size(std::max<std::size_t>(n_classes, 1) * shape.counters()));
    }

    RIPARIAN_HOT void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
                          Class y, Weight n, Class n_classes) {
        // Most points are kept, as one of a few. Once points are counted, there is no room to keep
        // more.
        if (kept_ + n <= std::min<std::uint64_t>(room_, few_points)) [[likely]]
            return keep(shape, bits, y, n);
        make_room_or_count(pool, shape, n, n_classes);
        if (counted())
            add_to_row(pool, shape, bits, y, n);
        else
            keep(shape, bits, y, n);
    }

    // Adds the first points, all at once, as many as may be kept. set_bits(bits) writes their bits
    // into memory for a multiple of 8 points.
    template <class SetBits>
    void keep_first(Pool& pool, const CandidateShape& shape, std::span<const Class> labels,
                    SetBits&& set_bits) {
        make_room(pool, shape, labels.size());
        set_bits(bits_);
        std::copy(labels.begin(), labels.end(), labels_);
        kept_ = static_cast<std::uint32_t>(labels.size());
    }

    // Adds points of one label at once: more than may be kept.
    void add_row(Pool& pool, const CandidateShape& shape, const LongList::Row& row,
                 Class n_classes) {
        count(pool, shape, n_classes);
        make_row(pool, shape, row.label);
        const std::size_t first = row.label * shape.counters(), everyone = shape.everyone(0);
        rows_.fit(pool, rows_[first + everyone] + row.left[everyone]);
        rows_.add_all(first, row.left, shape.counters());
    }

    // Turns kept points into counts.
    void count(Pool& pool, const CandidateShape& shape, Class n_classes) {
        if (counted()) return;
        const std::size_t rows =
            kept_ ? std::max<std::size_t>(n_classes, classes(shape)) : n_classes;
        rows_.allocate(pool, rows * shape.counters());
        if (kept_ <= std::numeric_limits<std::uint8_t>::max())
            kernels().count_rows8(rows_.in_bytes(), shape.counters(), bits_, shape.words(), labels_,
                                  kept_);
        else
            for (std::uint32_t i = 0; i < kept_; ++i)
                add_to_row(pool, shape, bits_ + i * shape.words(), labels_[i], 1);
        release_points(pool, shape);
    }

    // Calls visitor(row) for each label that was met; row[i] is its count left of candidate i. Kept
    // points are counted into `scratch` first.
    template <class Visitor>
    void for_each_row(const CandidateShape& shape, Pool& scratch, Visitor&& visitor) const {
        if (counted()) return visit_rows(rows_, shape, visitor);
        Class top = 0;
        for (std::uint32_t i = 0; i < kept_; ++i) top = std::max(top, labels_[i]);
        Counters counts;
        counts.allocate(scratch, std::size_t{top + 1} * shape.counters());
        counts.fit(scratch, kept_);
        for (std::uint32_t i = 0; i < kept_; ++i)
            counts.add_bits(labels_[i] * shape.counters(), bits_ + i * shape.words(),
                            shape.counters(), 1);
        visit_rows(counts, shape, visitor);
        counts.release(scratch);
    }

    // Returns the rows of the labels that were met, if their counters have one byte each, otherwise
    // none. Up to 255 kept points are counted into `room` first.
    std::span<const std::uint8_t* const> rows_in_bytes(
        const CandidateShape& shape, std::vector<std::uint8_t>& room,
        std::vector<const std::uint8_t*>& rows) const {
        if (!counted()) return rows_of_kept(shape, room, rows);
        if (!rows_.in_bytes()) return {};
        return rows_met(rows_.in_bytes(), rows_.size() / shape.counters(), shape.counters(),
                        shape.everyone(0), rows);
    }

    // Kept points: their labels and their bits, shape.words() words per point, readable up to a
    // multiple of 8 points.
    std::span<const Class> kept_labels() const { return {labels_, kept_}; }
    const std::uint64_t* kept_bits() const { return bits_; }

    // Calls visitor(number of a kept point, whether it is left of candidate i, whether candidate i
    // has seen it), the last two as 0 or 1.
    template <class Visitor>
    void for_each_kept(const CandidateShape& shape, std::uint32_t split_point, std::size_t i,
                       Visitor&& visitor) const {
        const std::size_t everyone = shape.everyone(split_point), words = shape.words();
        const std::uint64_t* bits = bits_;
        for (std::uint32_t p = 0; p < kept_; ++p, bits += words)
            visitor(p, bits[i / 64] >> (i % 64) & 1, bits[everyone / 64] >> (everyone % 64) & 1);
    }

    // Calls visitor(label, points left of candidate i, points right of it). Labels come in any
    // order, and some perhaps more than once. There is no branch on the side of a kept point.
    template <class Visitor>
    void labels_at(const CandidateShape& shape, std::uint32_t split_point, std::size_t i,
                   Visitor&& visitor) const {
        if (counted()) {
            const std::size_t everyone = shape.everyone(split_point), stride = shape.counters();
            for (std::size_t first = 0; first < rows_.size(); first += stride) {
                const std::uint64_t all = rows_[first + everyone], left = rows_[first + i];
                if (all) visitor(static_cast<Class>(first / stride), left, all - left);
            }
        } else {
            for_each_kept(shape, split_point, i,
                          [&](std::size_t p, std::uint64_t left, std::uint64_t all) {
                              visitor(labels_[p], left, all - left);
                          });
        }
    }
    // Every label is smaller.
    std::size_t classes(const CandidateShape& shape) const {
        if (counted()) return rows_.size() / shape.counters();
        Class top = 0;
        for (std::uint32_t i = 0; i < kept_; ++i) top = std::max(top, labels_[i]);
        return top + std::size_t{1};
    }

    // sums[i] += the count of all labels left of candidate i.
    void add_to(Pool& pool, const CandidateShape& shape, Counters& sums) const {
        const std::size_t first = shape.everyone(0);  // no other count is larger
        if (counted()) {
            visit_rows(rows_, shape, [&](const auto* row) {
                sums.fit(pool, sums[first] + row[first]);
                sums.add_all(0, row, shape.counters());
            });
        } else {
            for (std::uint32_t p = 0; p < kept_; ++p)
                sums.add_bits(pool, 0, bits_ + p * shape.words(), shape.counters(), 1, first);
        }
    }

    // The children of a candidate start with its counts (R10).
    void fill_children(Pool& pool, const CandidateShape& shape, std::uint32_t candidate,
                       EstimationHistogram& left, EstimationHistogram& right,
                       CheckScratch& check) const {
        const std::size_t n = classes(shape);
        std::vector<std::uint64_t>& room = check.histogram;
        room.assign(2 * n, 0);
        std::uint64_t *const of_left = room.data(), *const of_right = of_left + n;
        labels_at(shape, candidate % shape.split_points, candidate,
                  [=](Class y, std::uint64_t on_left, std::uint64_t on_right) {
                      of_left[y] += on_left;
                      of_right[y] += on_right;
                  });
        left.set(pool, of_left, without_zeros(of_left, n));
        right.set(pool, of_right, without_zeros(of_right, n));
    }

    // -- as arrays: for each leaf whether it has counted, the number of points or rows, and these.
    // With one stream, the arrays of the first stream have all.

    template <class State>
    static auto arrays(State& state) {
        if constexpr (std::is_same_v<Stream, Estimation>)
            return std::tie(array<"estimation_counted">(state), array<"estimation_length">(state),
                            array<"estimation_label">(state), array<"estimation_bits">(state),
                            array<"estimation_count">(state));
        else
            return std::tie(array<"structure_counted">(state), array<"structure_length">(state),
                            array<"structure_label">(state), array<"structure_bits">(state),
                            array<"structure_count">(state));
    }

    template <class State>
    void save(const CandidateShape& shape, std::uint32_t split_points, State& out) const {
        auto [was_counted, length, label, bits, count] = arrays(out);
        was_counted.push_back(counted());
        length.push_back(counted() ? static_cast<Word>(rows_.size() / shape.counters()) : kept_);
        append(label, static_cast<const Word*>(labels_), kept_);
        append(bits, static_cast<const Long*>(bits_), kept_ * shape.words());
        for (std::size_t row = 0; row < rows_.size(); row += shape.counters())
            for_each_counter(shape, split_points,
                             [&, &all = count](std::size_t i) { all.push_back(rows_[row + i]); });
    }
    template <class State>
    static void save_none(State& out) {
        std::get<0>(arrays(out)).push_back(0);
        std::get<1>(arrays(out)).push_back(0);
    }

    struct Reader {
        riparian::Reader<Byte> counted;
        riparian::Reader<Word> length, label;
        riparian::Reader<Long> bits, count;

        template <class State>
        explicit Reader(const State& in)
            : counted(std::get<0>(arrays(in))),
              length(std::get<1>(arrays(in))),
              label(std::get<2>(arrays(in))),
              bits(std::get<3>(arrays(in))),
              count(std::get<4>(arrays(in))) {}
        void skip() { counted.one(), length.one(); }
    };
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, Reader& in) {
        const bool was_counted = in.counted.one();
        const std::uint32_t length = in.length.one();
        if (!was_counted) {
            make_room(pool, shape, length);
            for (std::uint32_t i = 0; i < length; ++i)
                keep(shape, in.bits.many(shape.words()), in.label.one(), 1);
            return;
        }
        rows_.allocate(pool, std::size_t{length} * shape.counters());
        for (std::size_t row = 0; row < rows_.size(); row += shape.counters())
            for_each_counter(shape, split_points,
                             [&](std::size_t i) { rows_.add(pool, row + i, in.count.one()); });
    }

    // The counters of one label that was met, after points have been counted.
    template <class Visitor>
    void with_row(const CandidateShape& shape, Class y, Visitor&& visitor) const {
        rows_.visit([&](const auto* counters) { visitor(counters + y * shape.counters()); });
    }

    // The same, if they have one byte each.
    const std::uint8_t* row_in_bytes(const CandidateShape& shape, Class y) const {
        return rows_.in_bytes() ? rows_.in_bytes() + y * shape.counters() : nullptr;
    }

    // Returns how many points take the memory of one-byte counters, but at least a few.
    static bool may_keep(const CandidateShape& shape, std::uint64_t points, Class n_classes) {
        if (points <= few_points) return true;
        return points <= std::numeric_limits<std::uint32_t>::max() / 2 &&
               points * point_bytes(shape) <= n_classes * shape.counters();
    }

private:
    // Calls visitor(place in the row) for the counters of the split points that exist.
    template <class Visitor>
    static void for_each_counter(const CandidateShape& shape, std::uint32_t split_points,
                                 Visitor&& visitor) {
        for (std::size_t d = 0; d <= shape.dims; ++d)
            for (std::size_t j = 0; j < split_points; ++j) visitor(d * shape.split_points + j);
    }

    // Returns the number of counts without the zeros at the end.
    static std::size_t without_zeros(const std::uint64_t* counts, std::size_t n) {
        while (n > 0 && counts[n - 1] == 0) --n;
        return n;
    }

    static std::size_t point_bytes(const CandidateShape& shape) {
        return shape.words() * sizeof(std::uint64_t) + sizeof(Class);
    }

    // For n more points.
    void make_room_or_count(Pool& pool, const CandidateShape& shape, Weight n, Class n_classes) {
        if (counted()) return;
        if (!may_keep(shape, kept_ + n, n_classes)) return count(pool, shape, n_classes);
        make_room(pool, shape, n);
    }
    void make_room(Pool& pool, const CandidateShape& shape, Weight n) {
        if (kept_ + n > room_) grow(pool, shape, kept_ + n);
    }

    RIPARIAN_HOT void keep(const CandidateShape& shape, const std::uint64_t* bits, Class y,
                           Weight n) {
        const std::size_t words = shape.words();
        for (Weight copy = 0; copy < n; ++copy, ++kept_) {
            std::uint64_t* to = bits_ + kept_ * words;
            for (std::size_t w = 0; w < words; ++w) to[w] = bits[w];
            labels_[kept_] = y;
        }
    }

    void grow(Pool& pool, const CandidateShape& shape, std::uint64_t points) {
        const auto room =
            static_cast<std::uint32_t>(std::bit_ceil(std::max<std::uint64_t>(points, 8)));
        auto* block = static_cast<std::byte*>(pool.allocate(room * point_bytes(shape)));
        auto* bits = reinterpret_cast<std::uint64_t*>(block);
        auto* labels = reinterpret_cast<Class*>(bits + room * shape.words());
        if (kept_) {
            std::copy_n(bits_, kept_ * shape.words(), bits);
            std::copy_n(labels_, kept_, labels);
        }
        if (room_) pool.release(bits_, room_ * point_bytes(shape));
        bits_ = bits;
        labels_ = labels;
        room_ = room;
    }

    void release_points(Pool& pool, const CandidateShape& shape) {
        if (!room_) return;
        pool.release(bits_, room_ * point_bytes(shape));
        bits_ = nullptr;
        labels_ = nullptr;
        kept_ = room_ = 0;
    }

    RIPARIAN_HOT void add_to_row(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
                                 Class y, Weight n) {
        make_row(pool, shape, y);
        const std::size_t first = y * shape.counters();
        rows_.add_bits(pool, first, bits, shape.counters(), n, first + shape.everyone(0));
    }

    // Adds a row for this label. No split point has seen more than the first one.
    RIPARIAN_HOT void make_row(Pool& pool, const CandidateShape& shape, Class y) {
        const std::size_t stride = shape.counters();
        if ((y + 1) * stride > rows_.size()) [[unlikely]]
            rows_.extend(pool, (y + 1) * stride);
    }

    std::span<const std::uint8_t* const> rows_of_kept(
        const CandidateShape& shape, std::vector<std::uint8_t>& room,
        std::vector<const std::uint8_t*>& rows) const {
        const std::size_t n = classes(shape), stride = 64 * shape.words();
        room.assign(n * stride, 0);
        kernels().count_rows8(room.data(), stride, bits_, shape.words(), labels_, kept_);
        return rows_met(room.data(), n, stride, shape.everyone(0), rows);
    }

    // For n rows. There is no branch, since it would be mispredicted too often.
    static std::span<const std::uint8_t* const> rows_met(const std::uint8_t* first, std::size_t n,
                                                         std::size_t stride, std::size_t everyone,
                                                         std::vector<const std::uint8_t*>& rows) {
        if (rows.size() < n) rows.resize(n);
        const std::uint8_t** end = rows.data();
        for (std::size_t y = 0; y < n; ++y, first += stride) {
            *end = first;
            end += first[everyone] != 0;
        }
        return {rows.data(), end};
    }

    template <class Visitor>
    static void visit_rows(const Counters& counts, const CandidateShape& shape, Visitor&& visitor) {
        counts.visit([&](const auto* counters) {
            const std::size_t stride = shape.counters();
            for (std::size_t y = 0; y * stride < counts.size(); ++y) {
                const auto* row = counters + y * stride;
                if (row[shape.everyone(0)]) visitor(row);
            }
        });
    }

    // Kept points: per point, whether it went left of each candidate.
    std::uint64_t* bits_ = nullptr;
    Class* labels_ = nullptr;  // the label of each kept point
    std::uint32_t kept_ = 0;
    std::uint32_t room_ = 0;
    Counters rows_;  // counted points: one row of counters per class
};

using StructureCounts = ClassCounts<Structure>;
using EstimationCounts = ClassCounts<Estimation>;
using SharedCounts = ClassCounts<Shared>;

}  // namespace riparian
