// ADWIN (Bifet and Gavaldà 2007): a window of numbers that grows while their mean stays the same,
// and drops its oldest numbers when they have another mean than the rest. The numbers are stored in
// buckets of 1, 2, 4, ... of them, five of each size, so that a long window takes little memory. It
// cuts where River's `drift.ADWIN` does.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "drift/log_exp.hpp"

namespace riparian {

class Adwin {
public:
    // The bucket of 2^row numbers.
    struct Bucket {
        double total = 0;
        double variance = 0;  // sum of squares around their mean
    };

    explicit Adwin(double delta) : delta_(delta) {}

    enum class Change : std::uint8_t { none, fallen, risen };

    // Adds a number. Returns whether the window was cut and, if so, whether its mean has risen.
    Change add(double x) {
        insert(x);
        if (++received_ % clock != 0 || width_ <= grace_period) return Change::none;
        const double before = mean();
        bool cut = false;
        while (has_cut()) {
            drop_oldest();
            cut = true;
        }
        if (!cut) return Change::none;
        return mean() > before ? Change::risen : Change::fallen;
    }

    double width() const { return width_; }
    double total() const { return total_; }
    double variance() const { return variance_; }
    double mean() const { return width_ > 0 ? total_ / width_ : 0.0; }

    // Saves and restores the buckets. Calls visitor(row, bucket), the oldest first.
    template <class Visitor>
    void for_each_bucket(Visitor&& visitor) const {
        for (std::size_t row = rows_.size(); row-- > 0;)
            for (const Bucket& bucket : rows_[row].used()) visitor(row, bucket);
    }
    std::uint64_t received() const { return received_; }
    void restore(std::uint64_t received, double total, double variance) {
        received_ = received;
        total_ = total;
        variance_ = variance;
    }
    void restore_bucket(std::size_t row, const Bucket& bucket) {
        if (row >= rows_.size()) rows_.resize(row + 1);
        rows_[row].push(bucket);
        width_ += size_of(row);
    }

    std::size_t bytes() const { return rows_.size() * sizeof(Row); }

    static constexpr std::size_t max_buckets = 5;  // of one size

private:
    static constexpr std::uint64_t clock = 32;  // numbers between two searches for a cut
    static constexpr double min_length = 5;     // of either part
    static constexpr double grace_period = 10;

    // The buckets of one size, the oldest first. There is room for one more, until two are merged.
    struct Row {
        Bucket buckets[max_buckets + 1];
        std::size_t count = 0;

        std::span<const Bucket> used() const { return {buckets, count}; }
        void push(const Bucket& bucket) { buckets[count++] = bucket; }
        void drop(std::size_t n) {
            for (std::size_t i = n; i < count; ++i) buckets[i - n] = buckets[i];
            count -= n;
        }
    };

    static double size_of(std::size_t row) { return std::ldexp(1.0, static_cast<int>(row)); }

    // Returns the part of the sum of squares that comes from the difference between the means of
    // two parts.
    static double between(double n_a, double mean_a, double n_b, double mean_b) {
        return n_a * n_b * (mean_a - mean_b) * (mean_a - mean_b) / (n_a + n_b);
    }

    void insert(double x) {
        if (rows_.empty()) rows_.resize(1);
        rows_[0].push({x, 0.0});
        if (width_ > 0) {
            const double difference = x - total_ / width_;
            variance_ += width_ * difference * difference / (width_ + 1);
        }
        width_ += 1;
        total_ += x;
        for (std::size_t row = 0; rows_[row].count > max_buckets; ++row) merge_oldest(row);
    }

    // Merges two buckets of one size into one of the next.
    void merge_oldest(std::size_t row) {
        if (row + 1 == rows_.size()) rows_.emplace_back();
        const double n = size_of(row);
        const Bucket a = rows_[row].buckets[0], b = rows_[row].buckets[1];
        rows_[row + 1].push(
            {a.total + b.total, a.variance + b.variance + between(n, a.total / n, n, b.total / n)});
        rows_[row].drop(2);
    }

    void drop_oldest() {
        const std::size_t row = rows_.size() - 1;
        const double n = size_of(row);
        const Bucket oldest = rows_[row].buckets[0];
        width_ -= n;
        total_ -= oldest.total;
        variance_ -= oldest.variance + between(n, oldest.total / n, width_, total_ / width_);
        rows_[row].drop(1);
        while (!rows_.empty() && rows_.back().count == 0) rows_.pop_back();
    }

    // Returns whether the oldest numbers and the rest have different means, for some place between
    // two buckets.
    bool has_cut() const {
        const double log_term = ln(2 * ln(width_) / delta_);
        const double spread = 2 * (variance_ / width_) * log_term;
        double n0 = 0, n1 = width_, u0 = 0, u1 = total_;
        for (std::size_t row = rows_.size(); row-- > 0;) {
            const double n = size_of(row);
            for (std::size_t i = 0; i < rows_[row].count; ++i) {
                n0 += n;
                n1 -= n;
                u0 += rows_[row].buckets[i].total;
                u1 -= rows_[row].buckets[i].total;
                if (n0 < min_length || n1 < min_length) continue;
                const double recip = 1 / (n0 - min_length + 1) + 1 / (n1 - min_length + 1);
                const double bound = std::sqrt(recip * spread) + 2.0 / 3.0 * log_term * recip;
                if (std::fabs(u0 / n0 - u1 / n1) > bound) return true;
            }
        }
        return false;
    }

    double delta_;
    std::vector<Row> rows_;       // the buckets of 2^row numbers; the last row is the oldest
    std::uint64_t received_ = 0;  // numbers since the detector was made
    double width_ = 0, total_ = 0, variance_ = 0;
};

}  // namespace riparian
