// R19: the last W points of the stream, once for all trees.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kept/segments.hpp"
#include "kernels/hot.hpp"
#include "space/columns.hpp"

namespace riparian {

// The points of a space with the labels of a target.
template <FeatureSpace Space, class Label>
class KeptPoints;

namespace detail {

inline constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// The rows of a segment as a table, stored by rows even if these are wide: a look reads a few
// features of few points, and these share cache lines. Storage by columns would be faster only for
// lists of more than an eighth of all points, and would make it slow to add a point.
class DenseRows {
public:
    // Makes room for rows and columns. The first `filled` rows stay; new columns are missing in
    // them.
    void reshape(std::size_t rows, std::uint32_t columns, std::size_t filled) {
        DenseRows fresh;
        fresh.rows_ = rows;
        fresh.columns_ = columns;
        fresh.values_ = std::make_unique_for_overwrite<float[]>(rows * columns);
        for (std::size_t row = 0; row < filled; ++row)
            for (std::uint32_t d = 0; d < columns; ++d) fresh.at(row)[d] = value(d, row);
        *this = std::move(fresh);
    }

    void store(std::size_t row, const float* x) { std::copy_n(x, columns_, at(row)); }

    float value(std::uint32_t column, std::size_t row) const {
        return column < columns_ && row < rows_ ? at(row)[column] : missing;
    }

    float* at(std::size_t row) const { return values_.get() + row * columns_; }
    std::size_t rows() const { return rows_; }
    std::uint32_t columns() const { return columns_; }
    std::size_t bytes() const { return rows_ * columns_ * sizeof(float); }

private:
    std::unique_ptr<float[]> values_;
    std::size_t rows_ = 0;
    std::uint32_t columns_ = 0;
};

// The rows of a segment, each as its entries that are not zero, sorted by column.
class SparseRows {
public:
    void store(std::size_t row, const float* x, std::uint32_t columns) {
        begin_row(row);
        for (std::uint32_t d = 0; d < columns; ++d)
            if (!is_zero(x[d])) add(d, x[d]);
        end_row(columns);
    }

    // Adds the entries of a row, one after the other. Rows are added in order; a restored stream
    // may start in the middle of a segment.
    void begin_row(std::size_t row) {
        if (ends_.size() == row) return;
        clear();
        ends_.assign(row, 0);
        widths_.assign(row, 0);
    }
    void add(std::uint32_t column, float value) {
        columns_.push_back(column);
        values_.push_back(value);
    }
    void end_row(std::uint32_t width) {
        ends_.push_back(columns_.size());
        widths_.push_back(width);
    }

    float value(std::uint32_t column, std::size_t row) const {
        const auto [first, last] = entries(row);
        const auto begin = columns_.begin();
        const auto at = std::lower_bound(begin + first, begin + last, column);
        if (at != begin + last && *at == column)
            return values_[static_cast<std::size_t>(at - begin)];
        return column < widths_[row] ? 0.0f : missing;
    }

    std::pair<std::ptrdiff_t, std::ptrdiff_t> entries(std::size_t row) const {
        return {row ? ends_[row - 1] : 0, ends_[row]};
    }
    std::span<const std::uint32_t> columns(std::size_t row) const {
        const auto [first, last] = entries(row);
        return {columns_.begin() + first, columns_.begin() + last};
    }
    std::span<const float> values(std::size_t row) const {
        const auto [first, last] = entries(row);
        return {values_.begin() + first, values_.begin() + last};
    }
    std::uint32_t width(std::size_t row) const { return widths_[row]; }

    std::size_t bytes() const {
        return columns_.capacity() * sizeof columns_[0] + values_.capacity() * sizeof values_[0] +
               ends_.capacity() * sizeof ends_[0] + widths_.capacity() * sizeof widths_[0];
    }

private:
    // The comparison is bitwise, so minus zero is an entry.
    static bool is_zero(float x) { return std::bit_cast<std::uint32_t>(x) == 0; }

    void clear() {
        columns_.clear();
        values_.clear();
        ends_.clear();
        widths_.clear();
    }

    std::vector<std::uint32_t> columns_;  // of the entries
    std::vector<float> values_;
    std::vector<std::ptrdiff_t> ends_;   // of the rows, among the entries
    std::vector<std::uint32_t> widths_;  // of the rows: D when the row was kept
};

// Either the dense or the sparse rows are in use.
template <class Label>
struct RowSegment : Labelled<Label> {
    DenseRows dense;
    SparseRows sparse;

    std::size_t bytes() const {
        return sizeof *this + this->heap_bytes() + dense.bytes() + sparse.bytes();
    }
};

}  // namespace detail

enum class Rows : std::uint8_t {
    dense,
    sparse,  // a row is stored as its entries that are not zero
};

// The kept points in order of time, as the arrays of a snapshot.
template <class Label>
struct KeptRows {
    std::uint64_t first_t = 0;  // the number of the first
    std::uint32_t columns = 0;  // D
    std::vector<float> rows;    // dense: a row of D per point
    std::vector<std::uint64_t>
        starts;  // sparse: where the entries of each point start, and the end
    std::vector<std::uint32_t> indices;  // their columns, ascending
    std::vector<float> entries;          // their values
    std::vector<std::uint32_t> widths;   // D when each point was kept: later columns are missing
    std::vector<Label> labels;
    std::vector<double> weights;  // empty: all 1
};

template <class Label>
class KeptPoints<Columns, Label> : public KeptStream<detail::RowSegment<Label>, Label> {
    using Segment = detail::RowSegment<Label>;
    using Base = KeptStream<Segment, Label>;
    using Base::end_;
    using Base::first_;
    using Base::segments_;

public:
    using State = KeptRows<Label>;
    static constexpr bool in_rows = true;  // points may be stored in the form of the feature space

    template <class Settings>
    KeptPoints(const Settings& settings, const Columns& space)
        : KeptPoints(settings.kept_points, space.n_dims(),
                     settings.sparse ? Rows::sparse : Rows::dense) {}
    KeptPoints(std::uint64_t size, std::uint32_t columns, Rows rows = Rows::dense)
        : Base(size), columns_(columns), kind_(rows) {}

    void widen(const Columns& space) { set_columns(space.n_dims()); }
    // Called when D has grown. New columns are missing in the points that are already stored.
    void set_columns(std::uint32_t columns) {
        whole_ = whole_ && columns == columns_;
        columns_ = columns;
    }
    std::uint32_t columns() const { return columns_; }

    // Adds the points first_t, first_t + 1, ..., which follow those already stored. If `weights` is
    // null, all weights are 1.
    void add(const Matrix& batch, const Label* labels, const double* weights,
             std::uint64_t first_t) {
        const std::size_t n = batch.size();
        this->add_block(
            n, labels, weights, first_t, [](std::uint64_t) {},
            [&](Segment& segment, std::size_t row, std::size_t i) {
                if (kind_ == Rows::sparse)
                    segment.sparse.store(row, batch.point(i), columns_);
                else
                    make_room(segment.dense, row, n - i).store(row, batch.point(i));
            });
        if (n > 0) see_shape();
    }

    float value(Columns::Feature feature, std::uint64_t t) const {
        const std::uint32_t column = Columns::column(feature);
        const auto& segment = segments_.of(t);
        const std::size_t row = t % segment_points;
        return kind_ == Rows::sparse ? segment.sparse.value(column, row)
                                     : segment.dense.value(column, row);
    }

    // Sets out[d * stride + i] to the value of point ts[i] in column columns[d].
    void values(std::span<const Columns::Feature> columns, std::span<const std::uint64_t> ts,
                float* out, std::size_t stride) const {
        if (!whole_)
            for (std::size_t i = 0; i < ts.size(); ++i)
                for (std::size_t d = 0; d < columns.size(); ++d)
                    out[d * stride + i] = value(columns[d], ts[i]);
        else
            gather(columns, ts, out, stride);
    }

    // The same for one point: sets out[d].
    RIPARIAN_HOT void project(std::span<const Columns::Feature> columns, std::uint64_t t,
                              float* out) const {
        if (whole_)
            Columns::project(columns.data(), columns.size(), row_of(t), out);
        else
            for (std::size_t d = 0; d < columns.size(); ++d) out[d] = value(columns[d], t);
    }

    // Returns the stored row of a point, if no point lacks a column.
    RIPARIAN_HOT const float* point(std::uint64_t t) const { return whole_ ? row_of(t) : nullptr; }

    // The same for several points, with the last one repeated up to a multiple of 8; returns
    // nothing if some point lacks a column.
    bool points(std::span<const std::uint64_t> ts, std::vector<const float*>& rows) const {
        if (!whole_ || ts.empty()) return false;
        const std::size_t room = (ts.size() + 7) / 8 * 8;
        if (rows.size() < room) rows.resize(room);
        for (std::size_t i = 0; i < ts.size(); ++i) rows[i] = row_of(ts[i]);
        std::fill(rows.data() + ts.size(), rows.data() + room, rows[0]);
        return true;
    }

    // Prefetches a point that will be read soon.
    void prefetch(std::uint64_t t) const {
        this->prefetch_label(t);
        if (whole_)
            riparian::prefetch(row_of(t), std::min<std::size_t>(columns_ * sizeof(float), 128));
    }

    std::size_t bytes() const {
        std::size_t sum = 0;
        segments_.for_each([&](const Segment& segment, std::size_t) { sum += segment.bytes(); });
        return sum;
    }

    void draw_values(std::uint32_t column, std::span<const std::uint64_t> words,
                     std::vector<float>& values) const {
        const std::uint64_t first = this->first_kept(), n = end_ - first;
        if (n == 0) return;
        values.reserve(words.size());
        for (const std::uint64_t word : words) values.push_back(value(column, first + word % n));
    }

    KeptRows<Label> save() const {
        KeptRows<Label> kept;
        kept.first_t = this->first_kept();
        kept.columns = columns_;
        kept.labels = this->kept_labels();
        kept.weights = this->kept_weights();
        if (kind_ == Rows::sparse) {
            save_entries(kept);
        } else {
            kept.rows.reserve(kept.labels.size() * columns_);
            for (std::uint64_t t = kept.first_t; t < end_; ++t)
                for (std::uint32_t d = 0; d < columns_; ++d) kept.rows.push_back(value(d, t));
        }
        return kept;
    }

    // Only for a store without points, and with the D that it was made with.
    void restore(const KeptRows<Label>& kept) {
        const std::size_t n = kept.labels.size();
        const double* weights = kept.weights.empty() ? nullptr : kept.weights.data();
        if (kind_ == Rows::dense)
            return add(Matrix(kept.rows.data(), n, columns_), kept.labels.data(), weights,
                       kept.first_t);
        this->add_block(
            n, kept.labels.data(), weights, kept.first_t, [](std::uint64_t) {},
            [&](Segment& segment, std::size_t row, std::size_t i) {
                segment.sparse.begin_row(row);
                for (std::uint64_t e = kept.starts[i]; e < kept.starts[i + 1]; ++e)
                    segment.sparse.add(kept.indices[e], kept.entries[e]);
                segment.sparse.end_row(kept.widths[i]);
            });
    }

private:
    // The first segment starts small and doubles.
    detail::DenseRows& make_room(detail::DenseRows& dense, std::size_t row, std::size_t to_come) {
        if (row < dense.rows() && dense.columns() == columns_) return dense;
        const std::size_t rows =
            first_ / segment_points == end_ / segment_points
                ? std::clamp<std::size_t>(std::bit_ceil(row + to_come), 16, segment_points)
                : segment_points;
        dense.reshape(std::max(rows, dense.rows()), columns_, row);
        return dense;
    }

    // Finds out whether any segment lacks a column, and where the rows of each segment start.
    void see_shape() {
        whole_ = kind_ == Rows::dense;
        segments_.for_each([&](const Segment& segment, std::size_t) {
            whole_ &= segment.dense.columns() == columns_;
        });
        if (!whole_) return;
        starts_.resize(segments_.places());
        segments_.for_each([&](const Segment& segment, std::size_t place) {
            starts_[place] = segment.dense.at(0);
        });
    }

    // Only if no column is missing.
    const float* row_of(std::uint64_t t) const {
        return starts_[segments_.place(t)] + t % segment_points * columns_;
    }

    // It reads four points at a time, so that their cache lines are fetched in parallel.
    void gather(std::span<const Columns::Feature> columns, std::span<const std::uint64_t> ts,
                float* out, std::size_t stride) const {
        const float* const* const starts = starts_.data();
        const std::uint64_t mask = starts_.size() - 1;
        const auto row = [=, width = columns_](std::size_t i) {
            return starts[ts[i] / segment_points & mask] + ts[i] % segment_points * width;
        };
        std::size_t i = 0;
        if (columns.size() == 1) {
            const std::size_t column = Columns::column(columns[0]);
            for (; i < ts.size(); ++i) out[i] = row(i)[column];
        }
        for (; i + 4 <= ts.size(); i += 4) {
            const float *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
            float* four = out + i;
            for (const Columns::Feature feature : columns) {
                const std::size_t column = Columns::column(feature);
                four[0] = a[column];
                four[1] = b[column];
                four[2] = c[column];
                four[3] = d[column];
                four += stride;
            }
        }
        for (; i < ts.size(); ++i) {
            const float* x = row(i);
            float* one = out + i;
            for (const Columns::Feature feature : columns) {
                *one = x[Columns::column(feature)];
                one += stride;
            }
        }
    }

    void save_entries(KeptRows<Label>& kept) const {
        kept.starts.push_back(0);
        for (std::uint64_t t = kept.first_t; t < end_; ++t) {
            const auto& rows = segments_.of(t).sparse;
            const std::size_t row = t % segment_points;
            const auto indices = rows.columns(row);
            const auto entries = rows.values(row);
            kept.indices.insert(kept.indices.end(), indices.begin(), indices.end());
            kept.entries.insert(kept.entries.end(), entries.begin(), entries.end());
            kept.starts.push_back(kept.indices.size());
            kept.widths.push_back(rows.width(row));
        }
    }

    std::uint32_t columns_;  // D as of now
    Rows kind_;
    bool whole_ = false;                // every row that is there has all columns; if so,
    std::vector<const float*> starts_;  // the first row of each segment, by its place
};

}  // namespace riparian
