// Intervals around the answers of a forest of numbers (R28): the distribution of the targets near a
// point, and levels that follow how often the intervals have held the target.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "counts/streams.hpp"
#include "target/numbers/following.hpp"
#include "target/numbers/statistics.hpp"

namespace riparian {

// A neighbour, or several with the same target.
struct NumberPart {
    Number target;
    std::int64_t size;  // their part of the vote of a tree, in units of 2^-40
};

// The neighbours of a point in one tree. Those that come one after the other with the same target
// and weight are one entry, since cells that are never split list hundreds of equal targets.
class NumberNeighbours {
public:
    void clear() {
        entries_.clear();
        count_ = total_ = 0;
    }
    void add(Number target, Weight weight, std::uint64_t copies = 1) {
        count_ += copies;
        total_ += weight * copies;
        if (!entries_.empty() && entries_.back().target == target &&
            entries_.back().weight == weight)
            entries_.back().copies += copies;
        else
            entries_.push_back({target, weight, copies});
    }
    std::uint64_t count() const { return count_; }

    // visitor(target, size) for each part, rounded half to even for each neighbour.
    template <class Visitor>
    void for_each_part(Visitor&& visitor) const {
        if (entries_.empty()) return;
        Weight last = 1;
        std::int64_t size = rounded(last);
        for (const Entry& entry : entries_) {
            if (entry.weight != last) size = rounded(last = entry.weight);
            visitor(entry.target, size * static_cast<std::int64_t>(entry.copies));
        }
    }
    void append_to(std::vector<NumberPart>& parts) const {
        for_each_part([&](Number target, std::int64_t size) { parts.push_back({target, size}); });
    }

private:
    struct Entry {
        Number target;
        Weight weight;
        std::uint64_t copies;
    };
    std::int64_t rounded(Weight weight) const {
        const double share = static_cast<double>(weight) / static_cast<double>(total_);
        return static_cast<std::int64_t>(std::rint(share * 0x1p40));
    }

    std::vector<Entry> entries_;
    std::uint64_t count_ = 0, total_ = 0;  // neighbours, and their weight
};

// Whether a part of the distribution reaches quantile q.
inline bool reaches(std::int64_t part, std::int64_t whole, double q) {
    return part > 0 && static_cast<double>(part) >= q * static_cast<double>(whole);
}

// Where a target stands among the neighbours of its point, in all trees. Sums of integers, and the
// smallest and largest target: the order of the trees does not matter.
struct NumberStanding {
    std::int64_t below = 0, up_to = 0, whole = 0;  // parts below the target, up to it, and all
    Number least = std::numeric_limits<Number>::infinity();
    Number most = -std::numeric_limits<Number>::infinity();
    std::vector<NumberPart> kept;  // that it does not know yet

    void add(const NumberNeighbours& neighbours, Number z) {
        neighbours.for_each_part([&](Number target, std::int64_t part) { add(target, part, z); });
    }
    void add(Number target, std::int64_t part, Number z) {
        below += target < z ? part : 0;
        up_to += target <= z ? part : 0;
        whole += part;
        least = std::min(least, target);
        most = std::max(most, target);
    }
    // Where targets move with an answer that is not known yet (R29), they are kept until it is.
    void keep(const NumberNeighbours& neighbours) { neighbours.append_to(kept); }
    void settle(Number z, const Moved& moved) {
        for (const NumberPart& each : kept) add(moved(each.target), each.size, z);
    }
    void add(const NumberStanding& other) {
        below += other.below;
        up_to += other.up_to;
        whole += other.whole;
        least = std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

// The level of an interval: how much of the distribution lies outside. It follows the stream, so
// that the share `coverage` of the targets lies inside (Gibbs and Candès 2021).
struct IntervalLevel {
    double coverage, level;

    explicit IntervalLevel(double its_coverage)
        : coverage(its_coverage), level(1.0 - its_coverage) {}

    double lower() const { return std::max(level, 0.0) / 2.0; }
    double upper() const { return 1.0 - lower(); }

    // Below 0 there is a margin on both sides, given the range of the neighbours and the error of
    // the forest.
    double margin(Number least, Number most, double error) const {
        if (!(level < 0.0)) return 0.0;
        const double range = most - least;
        return stretch * -level * (range > 0.0 ? range : error);
    }

    // A point is about to be learned.
    void judge(const NumberStanding& at, Number z, double error) {
        const double margin = this->margin(at.least, at.most, error);
        const bool holds = level < 0.0 ? z >= at.least - margin && z <= at.most + margin
                                       : reaches(at.up_to, at.whole, lower()) &&
                                             !reaches(at.below, at.whole, upper());
        level = std::min(1.0, level + rate * ((1.0 - coverage) - (holds ? 0.0 : 1.0)));
    }

private:
    static constexpr double rate = 0.01;
    static constexpr double stretch = 20.0;
};

// The distribution of the targets near a point: of all trees, the neighbours with their parts.
class NumberDistribution {
public:
    void clear() { parts_.clear(); }
    void add(std::span<const NumberPart> parts) {
        parts_.insert(parts_.end(), parts.begin(), parts.end());
    }
    bool empty() const { return parts_.empty(); }

    // Sets out[i] to the quantile qs[i], the smallest target up to which the distribution reaches
    // it. They ascend. Nothing is known where there is no neighbour.
    void quantiles(std::span<const double> qs, const Moved& moved, double* out) {
        if (empty()) {
            std::fill_n(out, qs.size(), std::numeric_limits<double>::quiet_NaN());
        } else if (!qs.empty()) {
            whole_ = 0;
            for (const NumberPart& part : parts_) whole_ += part.size;
            find(qs, out);
        }
        std::transform(out, out + qs.size(), out, moved);
    }

    // Any number, where there is no neighbour.
    std::array<double, 2> interval(const IntervalLevel& level, const Moved& moved, double error) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (empty()) return {-infinity, infinity};
        std::array<double, 2> ends;
        const std::array<double, 2> qs{level.lower(), level.upper()};
        quantiles(qs, moved, ends.data());
        const double margin = level.margin(ends[0], ends[1], error);
        return {ends[0] - margin, ends[1] + margin};
    }

private:
    static constexpr std::size_t few = 16, n_bins = 64;

    // The range is divided into bins of equal width: a quantile lies in the first one that reaches
    // it, among a few parts. However bins are rounded, no target is in a smaller bin than a smaller
    // target.
    void find(std::span<const double> qs, double* out) {
        const auto [least, most] = range();
        const double per_unit = static_cast<double>(n_bins) / (most - least);
        if (parts_.size() <= few || !std::isnormal(per_unit)) {
            chosen_ = parts_;
            return select(chosen_, 0, qs, out);
        }
        std::array<std::int64_t, n_bins + 1> sizes{};  // the last holds what rounding puts there
        bins_.resize(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            bins_[i] = static_cast<std::uint8_t>((parts_[i].target - least) * per_unit);
            sizes[bins_[i]] += parts_[i].size;
        }
        std::int64_t below = 0;
        for (std::size_t bin = 0; !qs.empty(); ++bin) {
            const std::int64_t up_to = below + sizes[bin];
            const std::size_t reached = n_reached(up_to, qs);
            if (reached > 0) select(in_bin(bin), below, qs.first(reached), out);
            qs = qs.subspan(reached);
            out += reached;
            below = up_to;
        }
    }

    // There is no branch, since both ways are as likely as in a coin toss.
    std::span<NumberPart> in_bin(std::size_t bin) {
        if (chosen_.size() < parts_.size()) chosen_.resize(parts_.size());
        std::size_t count = 0;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            chosen_[count] = parts_[i];
            count += bins_[i] == bin;
        }
        return std::span(chosen_).first(count);
    }

    // Four at a time, since each waits for the one before.
    std::array<Number, 2> range() const {
        constexpr std::size_t width = 4;
        std::array<Number, width> least, most;
        least.fill(parts_[0].target);
        most.fill(parts_[0].target);
        std::size_t i = 0;
        for (; i + width <= parts_.size(); i += width)
            for (std::size_t j = 0; j < width; ++j) {
                least[j] = std::min(least[j], parts_[i + j].target);
                most[j] = std::max(most[j], parts_[i + j].target);
            }
        for (; i < parts_.size(); ++i) {
            least[0] = std::min(least[0], parts_[i].target);
            most[0] = std::max(most[0], parts_[i].target);
        }
        return {*std::min_element(least.begin(), least.end()),
                *std::max_element(most.begin(), most.end())};
    }

    // How many of the quantiles, the smallest first, a part of the distribution reaches.
    std::size_t n_reached(std::int64_t part, std::span<const double> qs) const {
        std::size_t n = 0;
        while (n < qs.size() && reaches(part, whole_, qs[n])) ++n;
        return n;
    }

    // Quickselect for several quantiles at once, among parts above others of the size `below`.
    void select(std::span<NumberPart> parts, std::int64_t below, std::span<const double> qs,
                double* out) {
        while (parts.size() > few) {
            const Number pivot = middle(parts);
            const Divided sizes = divide(parts, pivot);
            const std::int64_t before = below + sizes.less, up_to = before + sizes.equal;
            const std::size_t at_less = n_reached(before, qs), at_pivot = n_reached(up_to, qs);
            std::fill(out + at_less, out + at_pivot, pivot);
            if (at_pivot == qs.size()) {
                if (at_less == 0) return;
                parts = parts.first(sizes.n_less);
                qs = qs.first(at_less);
                continue;
            }
            if (at_less > 0) select(parts.first(sizes.n_less), below, qs.first(at_less), out);
            parts = parts.subspan(sizes.n_less, sizes.n_greater);
            below = up_to;
            qs = qs.subspan(at_pivot);
            out += at_pivot;
        }
        std::sort(parts.begin(), parts.end(),
                  [](const auto& a, const auto& b) { return a.target < b.target; });
        for (const NumberPart& part : parts) {
            below += part.size;
            const std::size_t reached = n_reached(below, qs);
            std::fill_n(out, reached, part.target);
            qs = qs.subspan(reached);
            out += reached;
        }
    }

    // The parts below the pivot come first, then those above it; the others are not needed again.
    // There is no branch, since the side is as random as a coin toss.
    struct Divided {
        std::size_t n_less = 0, n_greater = 0;
        std::int64_t less = 0, equal = 0;
    };
    Divided divide(std::span<NumberPart> parts, Number pivot) {
        if (room_.size() < parts.size()) room_.resize(parts.size());
        Divided sizes;
        for (const NumberPart part : parts) {
            parts[sizes.n_less] = room_[sizes.n_greater] = part;
            const bool is_less = part.target<pivot, is_greater = part.target> pivot;
            sizes.n_less += is_less;
            sizes.n_greater += is_greater;
            sizes.less += is_less ? part.size : 0;
            sizes.equal += is_less || is_greater ? 0 : part.size;
        }
        std::copy_n(room_.begin(), sizes.n_greater,
                    parts.begin() + static_cast<std::ptrdiff_t>(sizes.n_less));
        return sizes;
    }

    static Number middle(std::span<const NumberPart> parts) {
        Number a = parts.front().target, b = parts[parts.size() / 2].target;
        const Number c = parts.back().target;
        if (a > b) std::swap(a, b);
        return std::clamp(c, a, b);
    }

    std::vector<NumberPart> parts_;
    std::int64_t whole_ = 0;
    std::vector<std::uint8_t> bins_;         // of the parts
    std::vector<NumberPart> chosen_, room_;  // those of a bin; and memory to divide them
};

// What a forest has learned of the coverages that it was made with.
class NumberIntervals {
public:
    using Neighbours = NumberNeighbours;
    using Part = NumberPart;
    using Standing = NumberStanding;
    using Distribution = NumberDistribution;
    using State = std::vector<double>;  // the levels

    explicit NumberIntervals(const std::vector<double>& coverages)
        : levels_(coverages.begin(), coverages.end()) {}

    bool empty() const { return levels_.empty(); }
    std::size_t size() const { return levels_.size(); }
    const IntervalLevel& level(std::size_t i) const { return levels_.at(i); }

    // A point is about to be learned. A point without neighbours says nothing.
    void judge(const Standing& standing, Number z, double error) {
        if (standing.whole == 0) return;
        for (IntervalLevel& level : levels_) level.judge(standing, z, error);
    }

    // Adds both ends of the interval of each coverage.
    void give(Distribution& distribution, const Moved& moved, double error,
              std::vector<double>& given) const {
        for (const IntervalLevel& level : levels_) {
            const auto ends = distribution.interval(level, moved, error);
            given.insert(given.end(), ends.begin(), ends.end());
        }
    }

    State state() const {
        State state;
        for (const IntervalLevel& level : levels_) state.push_back(level.level);
        return state;
    }
    void restore(const State& state) {
        for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i].level = state.at(i);
    }

private:
    std::vector<IntervalLevel> levels_;
};

}  // namespace riparian
