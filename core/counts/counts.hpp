// What is counted, and who may see it. Three kinds, three types, none of which turns into another:
//
//   StructureCounts      labels of structure points per candidate: may choose a split
//   EstimationTotals     how many estimation points per candidate, no labels: may allow a split
//   EstimationCounts     labels of estimation points per candidate: become the children's histograms
//
// and SharedCounts, the one stream of Saffari's forest (R18), which does all of that and proves nothing;
// and EstimationHistogram, the labels of the estimation points of a leaf: all that may predict. The
// independence of partition and prediction that the theorem rests on is this file and its signatures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "memory/pool.hpp"

namespace riparian {

struct CountsState;  // see state.hpp
struct CountsReader;

using Class = std::uint32_t;   // in order of arrival (R17)
using Weight = std::uint64_t;  // copies of a point

// Counters of one, two, four or eight bytes, as wide as the largest needs: they never wrap.
class Counters {
public:
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return std::size_t{size_} * width_; }

    // visitor(counters), as a pointer to what they are now.
    template <class Visitor>
    RIPARIAN_HOT decltype(auto) visit(Visitor&& visitor) const {
        switch (width_) {
            case 1:
                return visitor(as<std::uint8_t>());
            case 2:
                return visitor(as<std::uint16_t>());
            case 4:
                return visitor(as<std::uint32_t>());
            default:
                return visitor(as<std::uint64_t>());
        }
    }

    void prefetch() const { riparian::prefetch(data_); }

    void allocate(Pool& pool, std::size_t n) {
        size_ = narrow(n);
        width_ = 1;
        data_ = pool.allocate(bytes());
        std::memset(data_, 0, bytes());
    }

    void release(Pool& pool) {
        if (data_) pool.release(data_, bytes());
        *this = {};
    }

    // Take up residence in another pool; the first one is about to go.
    void move_to(Pool& pool) {
        if (!data_) return;
        void* moved = pool.allocate(bytes());
        std::memcpy(moved, data_, bytes());
        data_ = moved;
    }

    // Make room for counters up to `bound`.
    void fit(Pool& pool, std::uint64_t bound) {
        if (bound > limit()) [[unlikely]]
            widen(pool, bound);
    }

    // Add counters at the end, at zero.
    void extend(Pool& pool, std::size_t n) {
        Counters longer;
        longer.size_ = narrow(n);
        longer.width_ = width_;
        longer.data_ = pool.allocate(longer.bytes());
        std::memcpy(longer.data_, data_, bytes());
        std::memset(static_cast<std::byte*>(longer.data_) + bytes(), 0, longer.bytes() - bytes());
        release(pool);
        *this = longer;
    }

    RIPARIAN_HOT std::uint64_t operator[](std::size_t i) const {
        return visit([i](const auto* counters) -> std::uint64_t { return counters[i]; });
    }

    // The counter must fit.
    void add(std::size_t i, std::uint64_t n) {
        visit([i, n](auto* counters) {
            counters[i] =
                static_cast<std::remove_reference_t<decltype(counters[i])>>(counters[i] + n);
        });
    }

    // Counter i grows by amounts[i], all of them; they must fit.
    template <class Amount>
    void add_all(const Amount* amounts) {
        visit([&](auto* counters) {
            using Count = std::remove_reference_t<decltype(counters[0])>;
            for (std::size_t i = 0; i < size_; ++i)
                counters[i] = static_cast<Count>(counters[i] + amounts[i]);
        });
    }

    // Where bit i is set, counter first+i grows by n, i < count; count is a multiple of 8.
    void add_bits(std::size_t first, const std::uint64_t* bits, std::size_t count,
                  std::uint64_t n) {
        const Kernels& kernel = kernels();
        switch (width_) {
            case 1:
                return kernel.add8(as<std::uint8_t>() + first, bits, count, n);
            case 2:
                return kernel.add16(as<std::uint16_t>() + first, bits, count, n);
            case 4:
                return kernel.add32(as<std::uint32_t>() + first, bits, count, n);
            default:
                return kernel.add64(as<std::uint64_t>() + first, bits, count, n);
        }
    }

private:
    static std::uint32_t narrow(std::size_t n) {
        if (n > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("a leaf of this many candidates and classes is too large");
        return static_cast<std::uint32_t>(n);
    }

    template <class Count>
    Count* as() const {
        return static_cast<Count*>(data_);
    }

    std::uint64_t limit() const {
        return width_ == 8 ? std::numeric_limits<std::uint64_t>::max()
                           : (std::uint64_t{1} << (8 * width_)) - 1;
    }

    void widen(Pool& pool, std::uint64_t bound) {
        Counters wider = *this;
        while (bound > wider.limit()) wider.width_ = static_cast<std::uint8_t>(2 * wider.width_);
        wider.data_ = pool.allocate(wider.bytes());
        visit([&](const auto* from) {
            wider.visit([&](auto* to) {
                for (std::size_t i = 0; i < size_; ++i)
                    to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(from[i]);
            });
        });
        release(pool);
        *this = wider;
    }

    void* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint8_t width_ = 1;  // bytes of a counter
};

// Y^e(A) and N^e(A) of a leaf. Classes past its end have a count of zero: a class that arrives late
// costs nothing until one of its points arrives here.
class EstimationHistogram {
public:
    void move_to(Pool& pool) { counts_.move_to(pool); }
    void prefetch() const { counts_.prefetch(); }
    void release(Pool& pool) { counts_.release(pool); }

    RIPARIAN_HOT void add(Pool& pool, Class y, Weight n) {
        if (y >= counts_.size()) [[unlikely]]
            make_room(pool, y);
        const std::uint64_t count = counts_[y] + n;
        counts_.fit(pool, count);
        counts_.add(y, n);
        total_ += n;
        top_ = std::max(top_, count);
    }

    void restore(Pool& pool, const std::uint64_t* counts, std::size_t n) {
        if (n) make_room(pool, static_cast<Class>(n - 1));
        for (Class y = 0; y < n; ++y)
            if (counts[y]) add(pool, y, counts[y]);
    }

    std::uint64_t total() const { return total_; }          // N^e(A)
    std::uint64_t errors() const { return total_ - top_; }  // those not of the commonest class
    std::size_t size() const { return counts_.size(); }
    std::uint64_t operator[](Class y) const { return y < counts_.size() ? counts_[y] : 0; }
    std::size_t bytes() const { return Pool::block_size(counts_.bytes()); }

    // sums[k] += η^k (R11).
    void add_shares(double* sums) const {
        const Kernels& kernel = kernels();
        const auto total = static_cast<double>(total_);
        counts_.visit([&](const auto* counts) {
            using Count = std::remove_cvref_t<decltype(counts[0])>;
            if constexpr (sizeof(Count) == 1)
                kernel.shares8(sums, counts, size(), total);
            else if constexpr (sizeof(Count) == 2)
                kernel.shares16(sums, counts, size(), total);
            else if constexpr (sizeof(Count) == 4)
                kernel.shares32(sums, counts, size(), total);
            else
                kernel.shares64(sums, counts, size(), total);
        });
    }

    // g(x): the class with the largest count, ties to the smallest rank.
    Class argmax(const std::vector<std::uint32_t>& rank) const {
        return counts_.visit([&](const auto* counts) {
            Class best = 0;
            for (Class y = 1; y < counts_.size(); ++y)
                if (counts[y] > counts[best] || (counts[y] == counts[best] && rank[y] < rank[best]))
                    best = y;
            return best;
        });
    }

private:
    void make_room(Pool& pool, Class y) {
        if (counts_.size() == 0)
            counts_.allocate(pool, y + 1);
        else
            counts_.extend(pool, y + 1);
    }

    Counters counts_;
    std::uint64_t total_ = 0;
    std::uint64_t top_ = 0;  // max_k Y^e_k(A)
};

// How the candidates of a leaf are numbered: candidate d*m+j is split point j in dimension d. After
// the last dimension comes one in which every point goes left, so that its m counters hold what each
// split point has seen in all, and the right child of a candidate is that less the left one.
struct CandidateShape {
    std::uint32_t dims = 0;
    std::uint32_t split_points = 0;  // m

    std::size_t candidates() const { return std::size_t{dims} * split_points; }
    std::size_t everyone(std::size_t j) const { return candidates() + j; }
    std::size_t counters() const { return (candidates() + split_points + 7) / 8 * 8; }
    std::size_t words() const { return (counters() + 63) / 64; }  // of bits, one a counter
};

// One of them, and its split point.
struct Candidate {
    std::uint32_t number;
    std::uint32_t split_point;
};

struct Structure {};
struct Estimation {};
struct Shared {};
template <class Stream>
class Counts;

// N^e of every candidate's left child: enough to say which candidates are valid (R6).
class EstimationTotals {
public:
    void move_to(Pool& pool) { left_.move_to(pool); }
    void prefetch() const { left_.prefetch(); }
    void allocate(Pool& pool, const CandidateShape& shape) {
        left_.allocate(pool, shape.counters());
    }
    void release(Pool& pool) { left_.release(pool); }

    void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits, Weight n) {
        left_.fit(pool, oldest(shape) + n);
        left_.add_bits(0, bits, left_.size(), n);
    }

    // From the counts that it follows from.
    void restore(Pool& pool, const CandidateShape& shape, const Counts<Estimation>& estimation);

    // What the first split point has seen: no candidate has seen more.
    std::uint64_t oldest(const CandidateShape& shape) const { return left_[shape.everyone(0)]; }

    std::uint64_t operator[](std::size_t i) const { return left_[i]; }

    // The valid candidates: at least α points on both sides. They lie in `room`. No branch asks
    // whether one is valid: it would be guessed wrong too often.
    std::span<const Candidate> valid(const CandidateShape& shape, std::uint64_t alpha,
                                     std::vector<Candidate>& room) const {
        if (room.size() < shape.candidates()) room.resize(shape.candidates());
        Candidate* end = room.data();
        left_.visit([&](const auto* left) {
            const auto* everyone = left + shape.candidates();
            std::uint32_t i = 0;
            for (std::uint32_t d = 0; d < shape.dims; ++d)
                for (std::uint32_t j = 0; j < shape.split_points; ++j, ++i) {
                    *end = {i, j};
                    end += static_cast<int>(left[i] >= alpha) &
                           static_cast<int>(std::uint64_t{everyone[j]} - left[i] >= alpha);
                }
        });
        return {room.data(), end};
    }

private:
    Counters left_;
};

// The labels that each candidate's left child has counted in one stream. A young leaf holds its
// points, each as a label and a bit a candidate; once that would take more than counting, it counts,
// in one row of counters a class. Both answer alike.
template <class Stream>
class Counts {
public:
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

    // The bytes of so many kept points, or of counters of one byte for so many classes if those are
    // fewer.
    static std::size_t bytes_for(const CandidateShape& shape, std::uint64_t points,
                                 Class n_classes) {
        const std::size_t kept = std::bit_ceil(std::max<std::uint64_t>(points, 8));
        return std::min(Pool::block_size(kept * point_bytes(shape)),
                        Pool::block_size(std::max<std::size_t>(n_classes, 1) * shape.counters()));
    }

    void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits, Class y, Weight n,
             Class n_classes) {
        if (!counted()) {
            if (may_keep(shape, kept_ + n, n_classes)) return keep(pool, shape, bits, y, n);
            count(pool, shape, n_classes);
        }
        add_to_row(pool, shape, bits, y, n);
    }

    // Turn kept points into counts.
    void count(Pool& pool, const CandidateShape& shape, Class n_classes) {
        if (counted()) return;
        rows_.allocate(pool, std::size_t{n_classes} * shape.counters());
        for (std::uint32_t i = 0; i < kept_; ++i)
            add_to_row(pool, shape, bits_ + i * shape.words(), labels_[i], 1);
        release_points(pool, shape);
    }

    // visitor(row) for each label that was met, row[i] being its count left of candidate i. Kept
    // points are counted into `scratch` for the while.
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

    // visitor(label, how many of its points have this bit set), for each label with any.
    template <class Visitor>
    void labels_at(const CandidateShape& shape, std::size_t i, Visitor&& visitor) const {
        if (counted()) {
            const std::size_t stride = shape.counters();
            for (std::size_t y = 0; y * stride < rows_.size(); ++y)
                if (const std::uint64_t n = rows_[y * stride + i])
                    visitor(static_cast<Class>(y), n);
        } else {
            for (std::uint32_t p = 0; p < kept_; ++p)
                if (bits_[p * shape.words() + i / 64] >> (i % 64) & 1) visitor(labels_[p], 1);
        }
    }

    // sums[i] += all labels together left of candidate i.
    void add_to(Pool& pool, const CandidateShape& shape, Counters& sums) const {
        const std::size_t first = shape.everyone(0);  // no other has more
        if (counted()) {
            visit_rows(rows_, shape, [&](const auto* row) {
                sums.fit(pool, sums[first] + row[first]);
                sums.add_all(row);
            });
        } else {
            for (std::uint32_t p = 0; p < kept_; ++p) {
                sums.fit(pool, sums[first] + 1);
                sums.add_bits(0, bits_ + p * shape.words(), shape.counters(), 1);
            }
        }
    }

    void save(const CandidateShape& shape, std::uint32_t split_points, CountsState& out) const;
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                 CountsReader& in);

    // The counters of one label, once points are counted and the label was met.
    template <class Visitor>
    void with_row(const CandidateShape& shape, Class y, Visitor&& visitor) const {
        rows_.visit([&](const auto* counters) { visitor(counters + y * shape.counters()); });
    }

private:
    // As many points as take the room of counters of one byte, and a few where that is not many.
    static bool may_keep(const CandidateShape& shape, std::uint64_t points, Class n_classes) {
        if (points <= 16) return true;
        return points <= std::numeric_limits<std::uint32_t>::max() / 2 &&
               points * point_bytes(shape) <= n_classes * shape.counters();
    }

    static std::size_t point_bytes(const CandidateShape& shape) {
        return shape.words() * sizeof(std::uint64_t) + sizeof(Class);
    }

    void keep(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits, Class y,
              Weight n) {
        const std::size_t words = shape.words();
        while (kept_ + n > room_) grow(pool, shape);
        for (Weight copy = 0; copy < n; ++copy, ++kept_) {
            for (std::size_t w = 0; w < words; ++w) bits_[kept_ * words + w] = bits[w];
            labels_[kept_] = y;
        }
    }

    void grow(Pool& pool, const CandidateShape& shape) {
        const std::uint32_t room = room_ == 0 ? 8 : 2 * room_;
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

    void add_to_row(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits, Class y,
                    Weight n) {
        const std::size_t stride = shape.counters();
        if ((y + 1) * stride > rows_.size()) [[unlikely]]
            rows_.extend(pool, (y + 1) * stride);
        // The first split point has seen the most.
        rows_.fit(pool, rows_[y * stride + shape.everyone(0)] + n);
        rows_.add_bits(y * stride, bits, stride, n);
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

    std::uint64_t* bits_ = nullptr;  // kept points: for each, whether it went left of a candidate
    Class* labels_ = nullptr;        // and its label
    std::uint32_t kept_ = 0;
    std::uint32_t room_ = 0;
    Counters rows_;  // counted points: a row of counters for each class
};

using StructureCounts = Counts<Structure>;
using EstimationCounts = Counts<Estimation>;
using SharedCounts = Counts<Shared>;

}  // namespace riparian
