// What a forest keeps and what a young leaf looks at, part by part, against the rules written out
// plainly (R19, R20). Random cases; the first that differs ends the run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "kept/cells.hpp"
#include "kept/kept_pixels.hpp"
#include "kept/kept_points.hpp"
#include "kept/listed.hpp"
#include "kept/lists.hpp"
#include "rules/two_streams_evidence.hpp"
#include "settings.hpp"
#include "shuffle.hpp"
#include "space/columns.hpp"
#include "split/candidates.hpp"
#include "split/look.hpp"
#include "target/classes.hpp"

using namespace riparian;

namespace {

[[noreturn]] void fail(int line, const char* condition) {
    std::printf("%s:%d: not so: %s\n", __FILE__, line, condition);
    std::exit(1);
}

#define CHECK(condition) \
    if (!(condition)) fail(__LINE__, #condition)

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

// -- rows -----------------------------------------------------------------------------------------

struct Kept {
    std::vector<float> x;
    Class y;
    double weight;
};

float make_value(Draws& draws) {
    switch (draws.below(8)) {
        case 0:
            return nan;
        case 1:
            return -0.0f;
        case 2:
        case 3:
        case 4:
            return 0.0f;
        default:
            return static_cast<float>(draws.below(7)) - 3.0f;
    }
}

void check_rows(const KeptPoints<Columns, Class>& kept, const std::vector<Kept>& all,
                std::uint64_t first, std::uint32_t D) {
    std::vector<std::uint64_t> ts;
    for (std::uint64_t t = first; t < all.size(); ++t) ts.push_back(t);
    std::vector<std::uint32_t> columns{D - 1, 0, D / 2};
    const std::size_t stride = ts.size() + 3;
    std::vector<float> values(columns.size() * stride);
    kept.values(columns, ts, values.data(), stride);
    std::vector<float> projected(columns.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
        const Kept& point = all[ts[i]];
        kept.prefetch(ts[i]);
        kept.project(columns, ts[i], projected.data());
        CHECK(kept.label(ts[i]) == point.y);
        CHECK(kept.weight(ts[i]) == point.weight);
        for (std::size_t d = 0; d < columns.size(); ++d) {
            const float x = columns[d] < point.x.size() ? point.x[columns[d]] : nan;
            CHECK(same(kept.value(columns[d], ts[i]), x));
            CHECK(same(values[d * stride + i], x));
            CHECK(same(projected[d], x));
        }
    }
}

void test_rows(std::uint64_t seed) {
    Draws draws(key(seed, 1));
    const std::uint64_t W = std::uint64_t{1} << draws.below(12);
    const Rows kind = draws.below(2) ? Rows::sparse : Rows::dense;
    auto D = static_cast<std::uint32_t>(1 + draws.below(40));
    auto kept = std::make_unique<KeptPoints<Columns, Class>>(W, D, kind);
    std::vector<Kept> all;
    const bool weighted = draws.below(2);
    for (int block = 0; block < 12; ++block) {
        const std::size_t n = 1 + draws.below(draws.below(4) == 0 ? 1500 : 40);
        if (draws.below(4) == 0) kept->set_columns(D += static_cast<std::uint32_t>(draws.below(9)));
        std::vector<float> rows;
        std::vector<Class> labels;
        std::vector<double> weights;
        const std::uint64_t t = all.size();
        for (std::size_t i = 0; i < n; ++i) {
            Kept point{{},
                       static_cast<Class>(draws.below(5)),
                       weighted && draws.below(50) == 0 ? draws.next() : 1.0};
            for (std::uint32_t d = 0; d < D; ++d) point.x.push_back(make_value(draws));
            rows.insert(rows.end(), point.x.begin(), point.x.end());
            labels.push_back(point.y);
            weights.push_back(point.weight);
            all.push_back(point);
        }
        kept->add(Matrix(rows.data(), n, D), labels.data(), weighted ? weights.data() : nullptr, t);
        check_rows(*kept, all, t + 1 > W ? t + 1 - W : 0, D);
        CHECK(kept->bytes() <
              (std::min<std::uint64_t>(W, t) + n + 2 * segment_points) * (12 * (D + 16) + 64) +
                  10000);

        const KeptRows saved = kept->save();
        CHECK(saved.labels.size() == std::min<std::uint64_t>(W, all.size()));
        auto again = std::make_unique<KeptPoints<Columns, Class>>(W, D, kind);
        again->restore(saved);
        check_rows(*again, all, all.size() - saved.labels.size(), D);
        CHECK(again->save().labels == saved.labels && again->save().weights == saved.weights);
        CHECK(again->save().indices == saved.indices && again->save().widths == saved.widths);
        if (draws.below(3) == 0) kept = std::move(again);
    }
}

// -- pixels ---------------------------------------------------------------------------------------

void test_pixels(std::uint64_t seed) {
    Draws draws(key(seed, 2));
    const std::uint64_t W = 1 + draws.below(300);
    auto kept = std::make_unique<KeptPoints<DepthDifferences, Class>>(W);
    struct Known {
        std::size_t image;
        std::int32_t row, column;
        Class y;
    };
    std::vector<std::vector<float>> images;  // of every batch
    std::vector<std::int32_t> widths;
    std::vector<Known> all;
    std::vector<OffsetPair> pairs;
    for (int i = 0; i < 70; ++i) {
        const auto offset = [&] { return static_cast<float>(5 * draws.gaussian()); };
        pairs.push_back({offset(), offset(), offset(), offset()});
    }
    constexpr float far = 6.0f;
    for (int block = 0; block < 10; ++block) {
        const std::int32_t height = 7, width = static_cast<std::int32_t>(5 + draws.below(3));
        const std::size_t n_images = 1 + draws.below(3), n = 1 + draws.below(150);
        std::vector<float> depths;
        for (std::size_t i = 0; i < n_images; ++i) {
            std::vector<float> image;
            for (std::int32_t p = 0; p < height * width; ++p)
                image.push_back(static_cast<float>(1 + draws.next()));
            images.push_back(image);
            widths.push_back(width);
            depths.insert(depths.end(), image.begin(), image.end());
        }
        const std::uint64_t t = all.size();
        std::vector<std::int32_t> pixels;
        std::vector<Class> labels;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t image = draws.below(n_images);
            const Known p{
                images.size() - n_images + image, static_cast<std::int32_t>(draws.below(7)),
                static_cast<std::int32_t>(draws.below(5)), static_cast<Class>(draws.below(3))};
            pixels.insert(pixels.end(), {static_cast<std::int32_t>(image), p.row, p.column});
            labels.push_back(p.y);
            all.push_back(p);
        }
        // In two blocks, so that an image is met again.
        const Pixels batch(depths.data(), height, width, pixels.data(), n, far);
        const std::size_t half = n / 2;
        std::uint64_t first = t;
        if (half) kept->add(batch.slice(0, half), labels.data(), nullptr, t);
        if (half < n)
            kept->add(batch.slice(half, n - half), labels.data() + half, nullptr, first = t + half);
        std::fill(depths.begin(), depths.end(), nan);  // the batch is not read again

        const auto check = [&](std::uint64_t from) {
            std::vector<std::uint64_t> ts;
            for (std::uint64_t at = from; at < all.size(); ++at) ts.push_back(at);
            std::vector<float> values(pairs.size() * ts.size());
            kept->values(pairs, ts, values.data(), ts.size());
            std::vector<std::size_t> in_use;
            for (std::size_t i = 0; i < ts.size(); ++i) {
                const Known& p = all[ts[i]];
                const std::array<std::int32_t, 3> place{0, p.row, p.column};
                const Pixel pixel =
                    Pixels(images[p.image].data(), height, widths[p.image], place.data(), 1, far)
                        .point(0);
                CHECK(kept->label(ts[i]) == p.y);
                for (std::size_t d = 0; d < pairs.size(); ++d) {
                    CHECK(same(kept->value(pairs[d], ts[i]), depth_difference(pairs[d], pixel)));
                    CHECK(same(values[d * ts.size() + i], depth_difference(pairs[d], pixel)));
                }
                in_use.push_back(p.image);
            }
            std::sort(in_use.begin(), in_use.end());
            const auto distinct = std::unique(in_use.begin(), in_use.end()) - in_use.begin();
            CHECK(kept->n_images() == static_cast<std::size_t>(distinct));
        };
        check(first > W ? first - W : 0);  // the first point of the block still knows what it loses
        if (draws.below(3) == 0) {
            const KeptPixels saved = kept->save();
            kept = std::make_unique<KeptPoints<DepthDifferences, Class>>(W);
            kept->restore(saved);
            CHECK(kept->save().pixels == saved.pixels && kept->save().labels == saved.labels);
            check(all.size() - saved.labels.size());
        }
    }
}

// -- lists ----------------------------------------------------------------------------------------

void test_lists(std::uint64_t seed) {
    Draws draws(key(seed, 3));
    const std::uint64_t about = seed % 2   ? 20
                                : seed % 8 ? 400
                                           : 1 << 20;  // links of two bytes, or of four
    const auto W = static_cast<std::uint32_t>(1 + draws.below(about));
    const std::size_t leaves = 1 + draws.below(6);
    PointLists lists(W);
    std::vector<PointList> list(leaves);
    std::vector<std::deque<std::uint64_t>> plain(leaves);  // what was not dropped
    std::vector<std::uint64_t> ts;
    std::uint64_t t = draws.below(2) ? 0 : std::uint64_t{1} << 33;
    for (int step = 0; step < 1000;
         ++step, t += 1 + (draws.below(30) == 0 ? draws.below(2 * W) : 0)) {
        // The first leaf is seldom visited: all of its points may be gone.
        const std::size_t leaf = draws.below(100) == 0 ? 0 : draws.below(leaves);
        const std::uint64_t received = t + 1;
        const auto gone = [&](std::uint64_t at) { return at + W < received; };
        lists.push(list[leaf], t);
        plain[leaf].push_back(t);
        CHECK(lists.has_lost(list[leaf], received) == gone(plain[leaf].front()));
        CHECK(list[leaf].count == plain[leaf].size());
        if (draws.below(3)) continue;
        const std::size_t other = draws.below(leaves);
        std::vector<std::uint64_t> kept;
        for (const std::uint64_t at : plain[other])
            if (!gone(at)) kept.push_back(at);
        ts.clear();
        lists.read(list[other], received, ts);
        CHECK(ts == kept);
        const std::size_t second = (other + 1) % leaves;
        std::vector<std::uint64_t> second_kept, of_other, of_second, visited;
        for (const std::uint64_t at : plain[second])
            if (!gone(at)) second_kept.push_back(at);
        lists.read_both(list[other], of_other, list[second], of_second, received,
                        [&](std::uint64_t at) { visited.push_back(at); });
        CHECK(of_other == kept);
        CHECK(of_second == second_kept);
        CHECK(visited.size() == kept.size() + second_kept.size());
        if (draws.below(3) == 0) {
            lists.drop_lost(list[other], received);
            plain[other].assign(kept.begin(), kept.end());
            CHECK(list[other].count == kept.size());
            CHECK(!lists.has_lost(list[other], received));
        }
        if (leaves > 1 && draws.below(20) == 0) {
            // One leaf splits; another, emptied, is its right child.
            const std::size_t child = (other + 1) % leaves;
            std::vector<float> values;
            for (std::size_t i = 0; i < ts.size(); ++i) values.push_back(make_value(draws));
            CellPoints<Class> points;
            const auto mark = [](std::uint64_t at) { return at % 7; };
            const Run run = points.add([&](std::vector<std::uint64_t>& out) { out = ts; });
            for (std::size_t i = 0; i < ts.size(); ++i)
                points.labels(run)[i] = static_cast<Class>(mark(ts[i]));
            if (draws.below(2)) points.weigh(run, mark);
            const bool equal = draws.below(2);
            const auto sides = points.divide(run, values.data(), 0.0f, equal);
            list[other] = PointLists::list_of(points.ts(sides.left));
            list[child] = PointLists::list_of(points.ts(sides.right));
            lists.link(points.ts(sides.left));
            lists.link(points.ts(sides.right));
            plain[other].clear();
            plain[child].clear();
            for (std::size_t i = 0; i < ts.size(); ++i)
                plain[(equal ? values[i] == 0.0f : values[i] <= 0.0f) ? other : child].push_back(
                    ts[i]);
            for (const Run& side : {sides.left, sides.right})
                for (std::size_t i = 0; i < side.count; ++i) {
                    const std::uint64_t at = points.ts(side)[i];
                    CHECK(points.labels(side)[i] == mark(at));
                    CHECK(points.weights(side).empty() || points.weights(side)[i] == mark(at));
                }
        }
    }
    PointList new_list;
    PointLists::set_lost(new_list);
    lists.push(new_list, t);
    CHECK(lists.has_lost(new_list, t + 1) == (t + 1 > W));
    ts.clear();
    lists.read(new_list, t + 1, ts);
    CHECK(ts == std::vector{t});
    lists.drop_lost(new_list, t + 1);
    CHECK(t + 1 <= W || new_list.count == 1);
    CHECK(lists.bytes() <= 4 * std::size_t{W} + 4 * 64 + W);
}

// -- drawing some of many -------------------------------------------------------------------------

void test_shuffle(std::uint64_t seed, Shuffle& shuffle) {
    Draws size(key(seed, 4));
    const auto n = static_cast<std::uint32_t>(1 + size.below(seed % 2 ? 30 : 500));
    const auto count = static_cast<std::uint32_t>(1 + size.below(std::min(n, 40u)));
    Draws draws(seed), plain_draws(seed);
    std::vector<std::uint32_t> drawn, plain(n);
    shuffle.draw(draws, n, count, drawn);
    std::iota(plain.begin(), plain.end(), 0u);
    for (std::uint32_t i = 0; i < count; ++i)
        std::swap(plain[i], plain[i + plain_draws.below(n - i)]);
    plain.resize(count);
    CHECK(drawn == plain);
    CHECK(draws.next() == plain_draws.next());
}

// -- looking --------------------------------------------------------------------------------------

struct Table {
    std::vector<std::vector<float>> structure, estimation;  // by feature and point

    // The same points as they would be kept: first all structure points.
    KeptPoints<Columns, Class> kept() const {
        const std::size_t dims = structure.size(), n = structure[0].size();
        const std::size_t all = n + estimation[0].size();
        std::vector<float> rows;
        for (std::size_t i = 0; i < all; ++i)
            for (std::size_t d = 0; d < dims; ++d)
                rows.push_back(i < n ? structure[d][i] : estimation[d][i - n]);
        KeptPoints<Columns, Class> points(all, static_cast<std::uint32_t>(dims));
        points.add(Matrix(rows.data(), all, dims), std::vector<Class>(all).data(), nullptr, 0);
        return points;
    }
};

// F(n) - Σ F(n_k)
std::uint64_t entropy(const std::map<Class, std::uint64_t>& counts) {
    const auto F = [](std::uint64_t n) {
        return static_cast<std::uint64_t>(entropy_term_exact(n));
    };
    std::uint64_t total = 0, sum = 0;
    for (const auto& [y, n] : counts) total += n, sum += F(n);
    return F(total) - sum;
}

std::size_t halves_chosen = 0;

void test_look(std::uint64_t seed, Look<ClassTally>& look, ClassTally& tally) {
    Draws draws(key(seed, 5));
    const std::size_t n = 1 + draws.below(seed % 4 ? 40 : 400),
                      n_e = draws.below(seed % 4 ? 40 : 400);
    const std::size_t C = 1 + draws.below(30), dims = 1 + draws.below(8);
    const bool weighted = draws.below(3) == 0, ties = draws.below(2),
               huge = weighted && draws.below(4) == 0, categorical = seed % 3 == 0;
    const auto some_value = [&] {
        if (draws.below(20) == 0) return nan;
        if (categorical) return static_cast<float>(draws.below(ties ? 34 : 90));
        return ties ? static_cast<float>(draws.below(4)) : static_cast<float>(draws.next());
    };
    const auto some_weight = [&] {
        return huge ? draws.below(std::uint64_t{1} << 30) + 1 : draws.below(3) + 1;
    };
    std::vector<Class> labels;
    std::vector<Weight> weights, weights_e;
    Table table{std::vector<std::vector<float>>(dims), std::vector<std::vector<float>>(dims)};
    for (std::size_t i = 0; i < n; ++i) labels.push_back(static_cast<Class>(draws.below(C)));
    for (std::size_t i = 0; i < n && weighted; ++i) weights.push_back(some_weight());
    for (std::size_t i = 0; i < n_e && weighted; ++i) weights_e.push_back(some_weight());
    for (std::size_t d = 0; d < dims; ++d) {
        for (std::size_t i = 0; i < n; ++i)
            table.structure[d].push_back(
                some_value() + (categorical ? 0.0f : static_cast<float>(labels[i] % 2) * 0.25f));
        for (std::size_t i = 0; i < n_e; ++i) table.estimation[d].push_back(some_value());
    }
    std::vector<std::uint32_t> features(dims), split_points;
    std::iota(features.begin(), features.end(), categorical ? 1u << 31 : 0u);
    const std::size_t m = 1 + draws.below(seed % 8 ? 12 : 70);
    Shuffle().draw(draws, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(std::min(m, n)),
                   split_points);
    const std::uint64_t alpha = 1 + draws.below(6);
    const std::optional<double> above =
        draws.below(2) ? std::optional(0.3 * draws.next()) : std::nullopt;

    bool any_valid = false;
    std::optional<LookChoice<std::uint64_t>> best;
    std::map<Class, std::uint64_t> all;
    std::uint64_t N = 0;
    for (std::size_t i = 0; i < n; ++i)
        all[labels[i]] += weighted ? weights[i] : 1, N += weighted ? weights[i] : 1;
    const std::uint64_t look_key = key(seed, 6);
    const auto is_left = [&](float value, float threshold) {
        return categorical ? category_goes_left(value, threshold) : value <= threshold;
    };
    // Thresholds of the split points, and after them halves (R22).
    const auto threshold_of = [&](std::uint32_t d, std::uint32_t j) {
        const std::vector<float>& values = table.structure[d];
        if (j < split_points.size()) return values[split_points[j]];
        const auto late = std::count_if(split_points.begin(), split_points.end(),
                                        [&](std::uint32_t i) { return values[i] >= 32; });
        const auto b = j - split_points.size();
        const bool there = categorical && b < std::min<std::size_t>(4 * std::size_t(late), 64);
        return there ? half_threshold(key_of_halves(look_key, d), b) : nan;
    };
    for (std::uint32_t j = 0; j < split_points.size() + 64; ++j)
        for (std::uint32_t d = 0; d < dims; ++d) {
            const float threshold = threshold_of(d, j);
            std::uint64_t sides[2] = {};
            for (std::size_t i = 0; i < n_e; ++i)
                sides[!is_left(table.estimation[d][i], threshold)] += weighted ? weights_e[i] : 1;
            if (sides[0] < alpha || sides[1] < alpha) continue;
            any_valid = true;
            std::map<Class, std::uint64_t> counts[2];
            for (std::size_t i = 0; i < n; ++i)
                counts[!is_left(table.structure[d][i], threshold)][labels[i]] +=
                    weighted ? weights[i] : 1;
            const std::uint64_t g = entropy(all) - entropy(counts[0]) - entropy(counts[1]);
            if (!best || gain(g, N) >= best->gain)
                best = LookChoice<std::uint64_t>{d, j, threshold, g, gain(g, N)};
        }
    if (above && best && !(best->gain > *above)) best.reset();

    tally.set(labels, weights);
    CHECK(tally.gain(1) == gain(1, N) && tally.g_of_sum(0) == entropy(all));
    CHECK(tally.can_succeed(0.5) == (gain(entropy(all), N) > 0.5));
    const KeptPoints<Columns, Class> kept = table.kept();
    std::vector<std::uint64_t> ts(n + n_e);
    std::iota(ts.begin(), ts.end(), std::uint64_t{0});
    const auto result = look.search(
        std::span<const std::uint32_t>(features), std::span<const std::uint32_t>(split_points),
        tally, ListedEstimation{n_e, weights_e},
        ListedValues<Columns, Class>(kept, std::span(ts).first(n), std::span(ts).subspan(n),
                                     look_key),
        alpha, above);
    CHECK(result.any_valid == any_valid);
    CHECK(result.best.has_value() == best.has_value());
    if (!best) return;
    halves_chosen += best->threshold < -1;
    CHECK(result.best->feature == best->feature);
    CHECK(result.best->split_point == best->split_point);
    CHECK(same(result.best->threshold, best->threshold));
    CHECK(result.best->g == best->g && result.best->gain == best->gain);
}

// -- long lists -----------------------------------------------------------------------------------

// Whether it was long enough.
bool test_long_list(std::uint64_t seed, LongList& list) {
    Draws draws(key(seed, 4));
    const std::size_t n = 100 + draws.below(300), stride = LongList::stride(n);
    const CandidateShape shape{static_cast<std::uint32_t>(1 + draws.below(4)),
                               static_cast<std::uint32_t>(1 + draws.below(20))};
    const std::size_t split_points = 1 + draws.below(shape.split_points);
    const std::uint64_t n_labels = 1 + draws.below(draws.below(2) ? 5 : 90);
    std::vector<Class> labels(n);
    for (Class& y : labels) y = static_cast<Class>(draws.below(n_labels));
    std::vector<Weight> weights;
    if (draws.below(2))
        for (std::size_t i = 0; i < n; ++i) weights.push_back(draws.below(40));
    std::vector<float> values(shape.dims * stride), thresholds(shape.candidates(), nan);
    for (float& value : values) value = make_value(draws);
    for (std::size_t i = 0; i < thresholds.size(); ++i)
        if (i % shape.split_points < split_points) thresholds[i] = make_value(draws);

    if (!list.set(labels, weights)) return false;
    const auto equals = [](std::size_t d) { return d == 1; };
    const auto weight = [&](std::size_t i) { return weights.empty() ? Weight{1} : weights[i]; };
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < n; ++i) all += weight(i);
    CHECK(list.weight() == all);
    std::vector<std::uint64_t> plain(n_labels * shape.counters());
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t* row = plain.data() + labels[i] * shape.counters();
        for (std::size_t c = 0; c < shape.candidates(); ++c) {
            const std::size_t d = c / shape.split_points;
            const float value = values[d * stride + i];
            row[c] += (equals(d) ? value == thresholds[c] : value <= thresholds[c]) * weight(i);
        }
        for (std::size_t j = 0; j < split_points; ++j) row[shape.everyone(j)] += weight(i);
    }
    std::vector<std::uint64_t> counted(plain.size());
    list.for_each_row(
        shape, split_points, thresholds.data(), values, equals, [&](const LongList::Row& row) {
            std::copy_n(row.left, shape.counters(), counted.data() + row.label * shape.counters());
        });
    CHECK(counted == plain);
    return true;
}

// -- what candidates can gain ---------------------------------------------------------------------

// G of a candidate (R14), written out. `rows`: for each label, its points left of each candidate.
std::int64_t plain_g(const std::vector<std::vector<std::uint64_t>>& rows, std::size_t i,
                     std::size_t everyone) {
    std::int64_t g = 0;
    std::uint64_t all = 0, left = 0;
    for (const auto& row : rows) {
        all += row[everyone];
        left += row[i];
        g += entropy_term_exact(row[i]) + entropy_term_exact(row[everyone] - row[i]) -
             entropy_term_exact(row[everyone]);
    }
    return g + entropy_term_exact(all) - entropy_term_exact(left) - entropy_term_exact(all - left);
}

// How often the bounds could say that no candidate gains enough.
int test_bounds(std::uint64_t seed) {
    Draws draws(key(seed, 7));
    const CandidateShape shape{static_cast<std::uint32_t>(draws.below(5)),
                               static_cast<std::uint32_t>(1 + draws.below(12))};
    const auto classes = static_cast<Class>(1 + draws.below(6));
    const Weight heaviest = draws.below(3) ? 1 : 700;
    const std::size_t m = shape.split_points, points = 5 + draws.below(300);
    const std::size_t begins = draws.below(points);
    const double signal = draws.next();  // how often a label tells the side
    std::vector<std::vector<std::uint64_t>> rows(classes,
                                                 std::vector<std::uint64_t>(shape.counters()));
    Pool pool;
    CheckScratch check;
    StructureCounts counts;
    GainBounds bounds;
    auto so_far = static_cast<std::uint32_t>(1 + draws.below(m));
    int n_excluded = 0;
    for (std::size_t point = 0; point < points; ++point) {
        if (so_far < m && draws.below(4) == 0) ++so_far;
        const auto y = static_cast<Class>(draws.below(1 + point * classes / points));
        const Weight n = 1 + draws.below(heaviest);
        std::vector<std::uint64_t> bits(shape.words());
        for (std::size_t i = 0; i < shape.candidates() + m; ++i) {
            if (i % m >= so_far) continue;
            const bool by_label = draws.next() < signal;
            const bool left =
                i >= shape.candidates() || (by_label ? y % 2 == 0 : draws.below(2) == 0);
            if (!left) continue;
            bits[i / 64] |= std::uint64_t{1} << (i % 64);
            rows[y][i] += n;
        }
        counts.add(pool, shape, bits.data(), y, n, classes);
        if (bounds.kept()) bounds.add(pool, shape, counts, bits.data(), y, n, so_far, check);
        if (point == begins) {
            counts.count(pool, shape, classes);
            bounds.work_out(shape, counts, check);
            bounds.keep(pool, shape, counts, so_far, check);
        }
        if (!bounds.kept()) continue;
        const double min_gain = 0.1 * static_cast<double>(draws.below(8));
        const std::uint64_t may_be_valid = draws.below(3) ? ~std::uint64_t{0} : draws.below(4096);
        const auto is_asked_for = [&](std::size_t j) { return may_be_valid >> j & 1; };
        if (bounds.none_above(min_gain, shape, so_far, is_asked_for, check)) {
            ++n_excluded;
            for (std::size_t i = 0; i < shape.candidates(); ++i) {
                if (i % m >= so_far || !is_asked_for(i % m)) continue;
                std::uint64_t all = 0;
                for (const auto& row : rows) all += row[shape.everyone(i % m)];
                const std::int64_t g = plain_g(rows, i, shape.everyone(i % m));
                CHECK(gain(static_cast<std::uint64_t>(g), all) <= min_gain);
            }
        }
        if (draws.below(20)) continue;
        bounds.work_out(shape, counts, check);
        for (std::size_t i = 0; i < shape.candidates(); ++i)
            CHECK(static_cast<std::int64_t>(check.g[i]) == plain_g(rows, i, shape.everyone(i % m)));
    }
    bounds.release(pool, shape);
    counts.release(pool, shape);
    CHECK(pool.live() == 0);
    return n_excluded;
}

// The best valid candidate (R9): the last created of those with the largest gain, when points have
// come one after the other and `Gains` were kept from some check on. How often there was one.
template <class Gains>
int test_best_split(std::uint64_t seed, CheckScratch& check) {
    Draws draws(key(seed, 8));
    const CandidateShape shape{static_cast<std::uint32_t>(draws.below(8)),
                               static_cast<std::uint32_t>(1 + draws.below(20))};
    const auto classes = static_cast<Class>(1 + draws.below(6));
    const std::size_t m = shape.split_points;
    auto so_far = static_cast<std::uint32_t>(1 + draws.below(m));
    const std::uint64_t points = 1 + draws.below(draws.below(4) ? 63 : 300);
    const Weight heaviest = draws.below(8) ? 1 : 300;
    const std::uint64_t alpha = 1 + draws.below(draws.below(4) ? 6 : 600);
    const double signal = draws.next();
    std::vector<std::vector<std::uint64_t>> rows(classes,
                                                 std::vector<std::uint64_t>(shape.counters()));
    std::vector<std::uint64_t> on_left(shape.counters());
    Pool pool;
    StructureCounts counts;
    EstimationTotals totals;
    Gains gains;
    totals.allocate(pool, shape);
    const auto draw_bits = [&](Class y, Weight n, std::vector<std::uint64_t>& sums) {
        std::vector<std::uint64_t> bits(shape.words());
        for (std::size_t i = 0; i < shape.candidates() + m; ++i) {
            const bool by_label = draws.next() < signal;
            const bool left =
                i >= shape.candidates() || (by_label ? y % 2 == 0 : draws.below(2) == 0);
            if (i % m >= so_far || !left) continue;
            bits[i / 64] |= std::uint64_t{1} << (i % 64);
            sums[i] += n;
        }
        return bits;
    };
    const auto points_met = [&](std::size_t j) {
        std::uint64_t all = 0;
        for (const auto& row : rows) all += row[shape.everyone(j)];
        return all;
    };
    const auto check_best = [&] {
        const auto choice = gains.best(shape, so_far, totals, alpha, counts, check);
        std::optional<Choice<std::uint64_t>> plain;
        for (std::size_t j = 0; j < so_far; ++j)
            for (std::size_t i = j; i < shape.candidates(); i += m) {
                if (on_left[i] < alpha || on_left[shape.everyone(j)] - on_left[i] < alpha) continue;
                const auto g = static_cast<std::uint64_t>(plain_g(rows, i, shape.everyone(j)));
                const double this_gain = gain(g, points_met(j));
                if (plain && !(this_gain >= plain->gain)) continue;
                plain = Choice<std::uint64_t>{static_cast<std::uint32_t>(i), g, this_gain};
            }
        CHECK(choice.has_value() == plain.has_value());
        if (plain) CHECK(choice->candidate == plain->candidate && choice->g == plain->g);
        if (plain) CHECK(choice->gain == plain->gain);
        return plain.has_value();
    };
    int chosen = 0;
    for (std::uint64_t point = 0; point < points; ++point) {
        const auto y = static_cast<Class>(draws.below(classes));
        const Weight n = 1 + draws.below(heaviest);
        if (so_far < m && draws.below(4) == 0) ++so_far;
        const auto bits = draw_bits(y, n, rows[y]);
        counts.add(pool, shape, bits.data(), y, n, classes);
        if (gains.kept()) gains.add(pool, shape, counts, bits.data(), y, n, so_far, check);
        if constexpr (std::is_same_v<Gains, EntropySums>)
            for (std::size_t j = 0; gains.kept() && shape.dims > 0 && j < so_far; ++j) {
                std::int64_t largest = std::numeric_limits<std::int64_t>::min();
                for (std::size_t i = j; i < shape.candidates(); i += m)
                    largest = std::max(largest, plain_g(rows, i, shape.everyone(j)));
                CHECK(check.largest[j] == largest);
            }
        totals.add(pool, shape, draw_bits(0, 1, on_left).data(), 1);
        if (draws.below(10)) continue;
        const bool is_one = check_best();
        chosen += is_one;
        if (!is_one || gains.kept() || draws.below(2)) continue;
        counts.count(pool, shape, classes);
        gains.keep(pool, shape, counts, so_far, check);
    }
    gains.release(pool, shape);
    counts.release(pool, shape);
    totals.release(pool);
    CHECK(pool.live() == 0);
    return chosen;
}

// All thresholds of all features in one pass: the last of the candidates with the largest gain
// among those with enough points on either side (R9, R24).
bool test_choice_at_once(std::uint64_t seed, ClassTally& tally) {
    Draws draws(key(seed, 11));
    const std::size_t n = 2 + draws.below(draws.below(3) ? 14 : 255);
    const std::size_t dims = 1 + draws.below(6), stride = padded(n), m = 1 + draws.below(20);
    const std::size_t least = 1 + draws.below(std::min<std::size_t>(n / 2, 4));
    const std::uint64_t classes = 2 + draws.below(6);
    std::vector<Class> labels(n);
    for (Class& y : labels) y = static_cast<Class>(draws.below(classes));
    labels[0] = 1 - std::min<Class>(labels[1], 1);  // two at least
    std::vector<float> values(dims * stride, 1);
    for (std::size_t d = 0; d < dims; ++d)
        for (std::size_t i = 0; i < n; ++i) values[d * stride + i] = make_value(draws);
    std::vector<std::uint32_t> split_points;
    Shuffle().draw(draws, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(std::min(n, m)),
                   split_points);
    std::optional<LookChoice<std::uint64_t>> plain;
    for (std::size_t j = 0; j < split_points.size(); ++j)
        for (std::size_t d = 0; d < dims; ++d) {
            const float threshold = values[d * stride + split_points[j]];
            std::vector<std::uint64_t> left(classes), right(classes);
            std::uint64_t n_left = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const bool is_left = values[d * stride + i] <= threshold;
                ++(is_left ? left : right)[labels[i]];
                n_left += is_left;
            }
            if (n_left < least || n - n_left < least) continue;
            std::int64_t g =
                entropy_term_exact(n) - entropy_term_exact(n_left) - entropy_term_exact(n - n_left);
            for (std::size_t k = 0; k < classes; ++k)
                g += entropy_term_exact(left[k]) + entropy_term_exact(right[k]) -
                     entropy_term_exact(left[k] + right[k]);
            if (plain && g < static_cast<std::int64_t>(plain->g)) continue;
            plain = {static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(j), threshold,
                     static_cast<std::uint64_t>(g), 0};
        }
    tally.set(labels, {});
    const auto choice = tally.choose_at_once(values.data(), stride, dims, split_points, least);
    CHECK(choice.has_value() == plain.has_value());
    if (plain) CHECK(choice->feature == plain->feature && choice->g == plain->g);
    if (plain) CHECK(choice->split_point == plain->split_point);
    if (plain) CHECK(same(choice->threshold, plain->threshold));
    return plain.has_value();
}

// The bits of a row, of one that becomes a split point, and of one that was projected (R4).
void test_sides(std::uint64_t seed) {
    Draws draws(key(seed, 9));
    const std::size_t dims = draws.below(12), m = 1 + draws.below(16), n = draws.below(m);
    const CandidateShape shape{static_cast<std::uint32_t>(dims), static_cast<std::uint32_t>(m)};
    std::vector<float> row(20), values(dims), thresholds(dims * m + 16, nan);
    std::vector<std::uint32_t> columns(dims);
    for (float& value : row) value = make_value(draws);
    for (std::size_t d = 0; d < dims; ++d) {
        columns[d] = static_cast<std::uint32_t>(draws.below(row.size()));
        values[d] = row[columns[d]];
        for (std::size_t j = 0; j < n; ++j) thresholds[d * m + j] = make_value(draws);
    }
    std::vector<std::uint64_t> bits(shape.words()), others(shape.words());
    kernels().split_point_bits(row.data(), columns.data(), dims, m, n, thresholds.data(),
                               bits.data());
    for (std::size_t d = 0; d < dims; ++d) CHECK(same(thresholds[d * m + n], values[d]));
    for (std::size_t i = 0; i < dims * m; ++i)
        CHECK((bits[i / 64] >> (i % 64) & 1) == (values[i / m] <= thresholds[i]));
    kernels().row_bits(row.data(), columns.data(), dims, m, thresholds.data(), others.data());
    CHECK(others == bits);
    kernels().left_bits(values.data(), dims, m, thresholds.data(), others.data());
    CHECK(others == bits);
}

// A leaf that settles counts a short list at once: as if its points came one after the other, and
// charged alike. How often it had a split.
int test_first_points(std::uint64_t seed, CandidateScratch<Columns, Classes>& scratch) {
    using Settled = Candidates<Columns, TwoStreamsEvidence<Classes, GainBounds>>;
    Draws draws(key(seed, 10));
    const std::size_t dims = 1 + draws.below(14), columns = 20;
    const auto m = static_cast<std::uint32_t>(1 + draws.below(20));
    const auto classes = static_cast<Class>(1 + draws.below(4));
    const std::size_t structure = 1 + draws.below(24), points = structure + draws.below(24);
    const CandidateShape shape{static_cast<std::uint32_t>(dims), m};
    std::vector<Columns::Feature> features(dims);
    const bool mixed = draws.below(4) == 0;
    for (auto& feature : features)
        feature = static_cast<std::uint32_t>(draws.below(columns)) |
                  (mixed ? static_cast<std::uint32_t>(draws.below(2)) << 31 : 0);
    std::vector<float> x(points * columns);
    for (float& value : x) value = static_cast<float>(draws.below(6));
    std::vector<const float*> rows(points + 8, x.data());
    std::vector<Class> labels(points);
    for (std::size_t i = 0; i < points; ++i) {
        rows[i] = x.data() + i * columns;
        labels[i] = static_cast<Class>(draws.below(classes));
    }
    const std::span<const Class> all(labels);
    if (!TwoStreamsEvidence<Classes, GainBounds>::may_keep(shape, structure, classes) ||
        !TwoStreamsEvidence<Classes, GainBounds>::may_keep(shape, points - structure, classes))
        return 0;

    Pool pool, plain_pool;
    Settled* at_once = Settled::make(pool, features, m, 0);
    Settled* plain = Settled::make(plain_pool, features, m, 0);
    CHECK(pool.live() == Pool::block_size(sizeof(Settled) + 8 * m + 4 * shape.candidates() +
                                          std::max<std::size_t>(4 * dims, 64)) +
                             Pool::block_size(shape.counters()));
    for (std::size_t i = 0; i < std::min<std::size_t>(m, structure); ++i) {
        at_once->add_split_point(i, rows[i], scratch);
        plain->add_split_point(i, rows[i], scratch);
    }
    at_once->count_structure(pool, classes, all.first(structure), rows.data());
    if (points > structure)
        at_once->count_estimation(pool, classes, all.subspan(structure), rows.data() + structure);
    for (std::size_t i = 0; i < points; ++i)
        if (i < structure)
            plain->count_structure(plain_pool, classes, labels[i], 1, rows[i], scratch);
        else
            plain->count_estimation(plain_pool, classes, labels[i], 1, rows[i], scratch);
    CHECK(pool.live() == plain_pool.live());
    CHECK(at_once->received() == plain->received());

    int chosen = 0;
    for (std::uint64_t alpha = 1; alpha < 4; ++alpha) {
        const auto result = at_once->best(alpha, scratch), expected = plain->best(alpha, scratch);
        CHECK(result.has_value() == expected.has_value());
        if (!result) break;
        ++chosen;
        CHECK(result->candidate == expected->candidate && result->g == expected->g);
        EstimationHistogram left, right, plain_left, plain_right;
        at_once->fill_children(pool, result->candidate, left, right, scratch.check);
        plain->fill_children(plain_pool, result->candidate, plain_left, plain_right, scratch.check);
        for (Class y = 0; y < classes; ++y)
            CHECK(left[y] == plain_left[y] && right[y] == plain_right[y]);
        left.release(pool);
        right.release(pool);
        plain_left.release(plain_pool);
        plain_right.release(plain_pool);
    }
    if (chosen) {
        // From now on structure points are counted, a row for each label, and there are bounds and
        // their points.
        const std::size_t room = std::bit_ceil(std::max<std::size_t>(structure, 8));
        const std::size_t with_gains =
            pool.live() - Pool::block_size(room * (8 * shape.words() + 4)) +
            Pool::block_size(classes * shape.counters()) + Pool::block_size(8 * shape.counters()) +
            Pool::block_size(shape.counters());
        at_once->keep_gains(pool, classes, scratch);
        CHECK(pool.live() == with_gains);
        plain->keep_gains(plain_pool, classes, scratch);
        CHECK(pool.live() == plain_pool.live());
        Pool other;
        at_once = at_once->moved_to(other);
        CHECK(other.live() == pool.live());
        at_once->release(other);
        CHECK(other.live() == 0);
    } else {
        at_once->release(pool);
        CHECK(pool.live() == 0);
    }
    plain->release(plain_pool);
    CHECK(plain_pool.live() == 0);
    return chosen;
}

}  // namespace

int main() {
    for (std::uint64_t seed = 0; seed < 24; ++seed) test_rows(seed);
    for (std::uint64_t seed = 0; seed < 10; ++seed) test_pixels(seed);
    for (std::uint64_t seed = 0; seed < 100; ++seed) test_lists(seed);
    Shuffle shuffle;
    for (std::uint64_t seed = 0; seed < 500; ++seed) test_shuffle(seed, shuffle);
    for (const Kernels* set : {
             &baseline_kernels,
#ifdef RIPARIAN_X86
             detail::Processor().avx2 ? &avx2_kernels : &baseline_kernels,
             detail::Processor().avx512 ? &avx512_kernels : &baseline_kernels,
#endif
         }) {
        detail::chosen_kernels = set;
        Look<ClassTally> look;
        ClassTally tally;
        halves_chosen = 0;
        for (std::uint64_t seed = 0; seed < 600; ++seed) test_look(seed, look, tally);
        CHECK(halves_chosen > 30);
        int chosen_at_once = 0;
        for (std::uint64_t seed = 0; seed < 2000; ++seed)
            chosen_at_once += test_choice_at_once(seed, tally);
        CHECK(chosen_at_once > 1000);
        LongList list;
        int long_lists = 0;
        for (std::uint64_t seed = 0; seed < 300; ++seed) long_lists += test_long_list(seed, list);
        CHECK(long_lists > 100);
        CheckScratch check;
        int by_sums = 0, by_bounds = 0;
        for (std::uint64_t seed = 0; seed < 400; ++seed) {
            by_sums += test_best_split<EntropySums>(seed, check);
            by_bounds += test_best_split<GainBounds>(seed, check);
        }
        CHECK(by_sums > 400 && by_bounds > 400);
        for (std::uint64_t seed = 0; seed < 400; ++seed) test_sides(seed);
        int n_excluded = 0;
        for (std::uint64_t seed = 0; seed < 300; ++seed) n_excluded += test_bounds(seed);
        CHECK(n_excluded > 5000);
        CandidateScratch<Columns, Classes> scratch;
        int first_points = 0;
        for (std::uint64_t seed = 0; seed < 600; ++seed)
            first_points += test_first_points(seed, scratch);
        CHECK(first_points > 400);
        std::printf("looks with %s kernels\n", set->name);
    }
    std::puts("all as the rules say");
    return 0;
}
