// Kinds of rows: rows that fail the same tests of a path have the same contributions there.
#pragma once

#include <bit>
#include <vector>

#include "explain/paths.hpp"
#include "explain/tile.hpp"
#include "space/categories.hpp"

namespace riparian::explain {

using Bits = std::uint64_t;
inline constexpr std::size_t word_bits = 64;

// Calls visitor(i) for every bit that is set.
template <class Visitor>
void for_each_bit(const Bits* words, std::size_t n_words, Visitor&& visitor) {
    for (std::size_t w = 0; w < n_words; ++w)
        for (Bits left = words[w]; left; left &= left - 1)
            visitor(w * word_bits + static_cast<std::size_t>(std::countr_zero(left)));
}

class Kinds {
public:
    void read(const Path& path, const Tile& tile) {
        words_ = (path.size() + word_bits - 1) / word_bits;
        test(path, tile);
        group(tile);
    }

    std::size_t size() const { return counts_.size(); }
    std::size_t words() const { return words_; }
    const Bits* failed(std::size_t kind) const { return failed_.data() + kind * words_; }
    std::size_t n_failed(std::size_t kind) const {
        std::size_t sum = 0;
        for (std::size_t w = 0; w < words_; ++w)
            sum += static_cast<std::size_t>(std::popcount(failed(kind)[w]));
        return sum;
    }
    double count(std::size_t kind) const { return counts_[kind]; }
    const std::uint32_t* of_rows() const { return of_row_.data(); }

private:
    void test(const Path& path, const Tile& tile) {
        fails_.assign(words_ * tile.rows(), 0);
        for (std::size_t i = 0; i < path.size(); ++i) {
            const Step& step = path.steps[i];
            const float above = step.above, up_to = step.up_to;
            if (step.categorical) continue;
            if (step.turns_left)
                fail(step, i, tile,
                     [=](float x) { return static_cast<bool>((x <= above) | !(x <= up_to)); });
            else
                fail(step, i, tile, [=](float x) { return x <= above; });
        }
        for (const auto [i, threshold, right] : path.turns)
            fail(path.steps[i], i, tile,
                 [=](float x) { return category_goes_left(x, threshold) == right; });
    }

    // Marks step i as failed for the rows whose value it refuses.
    template <class Refused>
    void fail(const Step& step, std::size_t i, const Tile& tile, Refused&& refused) {
        const float* x = tile.column(step.feature);
        Bits* words = fails_.data() + i / word_bits * tile.rows();
        const std::size_t shift = i % word_bits;
        for (std::size_t row = 0; row < tile.rows(); ++row)
            words[row] |= Bits{refused(x[row])} << shift;
    }

    // Numbers the kinds, by a hash table, in the order in which they first appear.
    void group(const Tile& tile) {
        const std::size_t rows = tile.rows();
        const std::size_t places = std::bit_ceil(2 * rows + 1);
        if (table_.size() < places) table_.assign(places, 0), round_ = 0;
        round_ += rows + 1;  // older entries have smaller numbers
        failed_.clear();
        counts_.clear();
        of_row_.resize(rows);
        for (std::size_t row = 0; row < rows; ++row) {
            std::size_t place = hash(row, rows) & (table_.size() - 1);
            while (table_[place] >= round_ && !same(table_[place] - round_, row, rows))
                place = (place + 1) & (table_.size() - 1);
            if (table_[place] < round_) {
                table_[place] = round_ + counts_.size();
                for (std::size_t w = 0; w < words_; ++w) failed_.push_back(fails_[w * rows + row]);
                counts_.push_back(0.0);
            }
            const std::size_t kind = table_[place] - round_;
            counts_[kind] += tile.weight(row);
            of_row_[row] = static_cast<std::uint32_t>(kind);
        }
    }

    std::size_t hash(std::size_t row, std::size_t rows) const {
        Bits mixed = 0;
        for (std::size_t w = 0; w < words_; ++w)
            mixed = (mixed ^ fails_[w * rows + row]) * 0x9e3779b97f4a7c15u;
        return static_cast<std::size_t>(mixed >> 32);
    }

    bool same(std::size_t kind, std::size_t row, std::size_t rows) const {
        for (std::size_t w = 0; w < words_; ++w)
            if (failed(kind)[w] != fails_[w * rows + row]) return false;
        return true;
    }

    std::size_t words_ = 0;
    std::vector<Bits> fails_;     // per word and row: the steps that the row fails
    std::vector<Bits> failed_;    // the same per kind and word
    std::vector<double> counts_;  // per kind: the weight of its rows
    std::vector<std::uint32_t> of_row_;
    std::vector<std::uint64_t> table_;
    std::uint64_t round_ = 0;
};

}  // namespace riparian::explain
