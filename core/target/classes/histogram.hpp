// The labels of the estimation points of a leaf: only these may predict.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "counts/counters.hpp"
#include "counts/streams.hpp"
#include "state_fields.hpp"
#include "target/classes/check_scratch.hpp"
#include "target/classes/labels.hpp"

namespace riparian {

// Y^e(A) and N^e(A) of a leaf. The classes past its end have a count of zero, so a class that
// arrives late costs nothing until one of its points arrives here.
class EstimationHistogram {
public:
    void move_to(Pool& pool) { counts_.move_to(pool); }
    void prefetch() const { counts_.prefetch(); }
    void release(Pool& pool) { counts_.release(pool); }

    RIPARIAN_HOT void add(Pool& pool, Class y, Weight n) {
        if (y >= counts_.size()) [[unlikely]]
            make_room(pool, y);
        total_ += n;
        top_ = std::max(top_, counts_.add(pool, y, n));
    }

    // Sets the statistics of a new leaf: counts of n classes.
    void set(Pool& pool, const std::uint64_t* counts, std::size_t n) {
        if (n == 0) return;
        counts_.allocate(pool, n);
        for (std::size_t y = 0; y < n; ++y) {
            total_ += counts[y];
            top_ = std::max(top_, counts[y]);
        }
        counts_.set(pool, counts, top_);
    }

    // Sets the statistics of a new leaf: the labels of a list. Without weights, all are 1.
    void fill(Pool& pool, std::span<const Class> labels, std::span<const Weight> weights,
              CheckScratch& check) {
        if (labels.empty()) return;
        if (weights.empty() && labels.size() < 256) return fill_few(pool, labels);
        std::vector<std::uint64_t>& counts = check.histogram;
        counts.assign(*std::max_element(labels.begin(), labels.end()) + std::size_t{1}, 0);
        for (std::size_t i = 0; i < labels.size(); ++i)
            counts[labels[i]] += weights.empty() ? Weight{1} : weights[i];
        set(pool, counts.data(), counts.size());
    }

    // Returns the bytes that a budget charges: four per class, so that counts can widen and classes
    // can arrive late.
    static std::size_t charge(Class n_classes) {
        return Pool::block_size(4 * std::size_t{n_classes});
    }

    template <class State>
    void save(State& out) const {
        array<"leaf_classes">(out).push_back(static_cast<Word>(size()));
        for (Class y = 0; y < size(); ++y) array<"histogram">(out).push_back(counts_[y]);
    }
    struct Reader {
        riparian::Reader<Word> classes;
        riparian::Reader<Long> histogram;

        template <class State>
        explicit Reader(const State& in)
            : classes(array<"leaf_classes">(in)), histogram(array<"histogram">(in)) {}
    };
    void restore(Pool& pool, Reader& in) {
        const Word classes = in.classes.one();
        set(pool, in.histogram.many(classes), classes);
    }

    std::uint64_t total() const { return total_; }  // N^e(A)
    std::uint64_t errors() const {
        return total_ - top_;
    }  // points that are not of the most frequent class
    bool is_pure() const { return errors() == 0; }
    std::size_t size() const { return counts_.size(); }
    std::uint64_t operator[](Class y) const { return y < counts_.size() ? counts_[y] : 0; }
    std::size_t bytes() const { return Pool::block_size(counts_.bytes()); }

    // sums[k] += η^k, in units of 2^-40 (R11).
    void add_shares(std::int64_t* sums) const {
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

    // sums[k] += η^k, in units of 2^-28, times a weight (R25). Most cells of a tree that was eager
    // are pure and have met no class after theirs, so they need no division.
    void add_mixed_shares(std::int64_t* sums, std::int64_t weight) const {
        if (total_ == 0) return;
        if (holds_last_class_only()) {
            sums[size() - 1] += weight * (std::int64_t{1} << 28);
            return;
        }
        const Kernels& kernel = kernels();
        const auto total = static_cast<double>(total_), by = static_cast<double>(weight);
        counts_.visit([&](const auto* counts) {
            using Count = std::remove_cvref_t<decltype(counts[0])>;
            if constexpr (sizeof(Count) == 1)
                kernel.mixed_shares8(sums, counts, size(), total, by);
            else if constexpr (sizeof(Count) == 2)
                kernel.mixed_shares16(sums, counts, size(), total, by);
            else if constexpr (sizeof(Count) == 4)
                kernel.mixed_shares32(sums, counts, size(), total, by);
            else
                kernel.mixed_shares64(sums, counts, size(), total, by);
        });
    }

    // Calls visitor(class, its count, the total) for the classes that occur.
    template <class Visitor>
    void for_each_class(Visitor&& visitor) const {
        if (total_ == 0) return;
        if (holds_last_class_only()) return visitor(static_cast<Class>(size() - 1), total_, total_);
        counts_.visit([&](const auto* counts) {
            for (Class y = 0; y < size(); ++y)
                if (counts[y] != 0) visitor(y, std::uint64_t{counts[y]}, total_);
        });
    }

    // g(x): returns the class with the largest count; ties go to the smallest rank.
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
    bool holds_last_class_only() const { return total_ == top_ && counts_[size() - 1] == total_; }

    // One-byte counters are enough. Most lists have one label only, and to add to the same counter
    // again and again would take long.
    void fill_few(Pool& pool, std::span<const Class> labels) {
        Class largest = labels[0], differs = 0;
        for (const Class y : labels) {
            largest = std::max(largest, y);
            differs |= y ^ labels[0];
        }
        counts_.allocate(pool, largest + std::size_t{1});
        std::uint8_t* counts = counts_.in_bytes();
        total_ = top_ = labels.size();
        if (differs == 0) {
            counts[largest] = static_cast<std::uint8_t>(top_);
            return;
        }
        std::uint8_t top = 0;
        for (const Class y : labels) top = std::max(top, ++counts[y]);
        top_ = top;
    }

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

}  // namespace riparian
