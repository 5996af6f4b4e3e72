// A forest under threads, to be run with ThreadSanitizer: one thread learns, with workers of its
// own, while others predict, look and save. Each reader also checks that it saw all trees after the
// same point: every tree has received the same number of points.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "forest.hpp"
#include "space/columns.hpp"
#include "target/classes.hpp"

using namespace riparian;

namespace {

constexpr std::size_t trees = 8, dims = 4, classes = 3, blocks = 30, rows = 512;

TwoStreams::Settings settings(std::uint64_t budget) {
    TwoStreams::Settings s;
    s.seed = 7;
    s.split_points = 5;
    s.min_gain = 0.01;
    s.structure_cut = s.ignore_cut = std::uint64_t{1} << 52;
    s.fringe_size = 20;
    s.budget = budget;
    return s;
}

bool same_point(const std::vector<TreeStats>& stats) {
    for (const TreeStats& tree : stats)
        if (tree.totals.structure_points + tree.totals.estimation_points !=
            stats[0].totals.structure_points + stats[0].totals.estimation_points)
            return false;
    return true;
}

int run(std::uint64_t budget) {
    Forest<Columns, TwoStreams, Classes> forest(
        trees, 0, settings(budget), Columns(dims, HowMany(Rate{2, std::exp(-1.0), 1.0})));
    forest.set_order({{0, 1, 2}, classes});
    forest.set_schedules(std::vector<std::uint64_t>(4096, 2), std::vector<std::uint64_t>(4096, 50));

    std::vector<float> points(rows * dims);
    std::vector<Class> labels(rows);
    for (std::size_t i = 0; i < points.size(); ++i)
        points[i] = static_cast<float>(uniform(key(1, i)));
    for (std::size_t i = 0; i < rows; ++i) labels[i] = points[i * dims] > 0.5f ? key(2, i) % 2 : 2;
    const Matrix batch(points.data(), rows, dims);

    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, looks{0};
    const auto reader = [&](int kind) {
        std::vector<double> out(rows * classes);
        std::vector<std::int64_t> nodes(rows * trees);
        while (!done) {
            if (kind == 0)
                forest.predict(batch, Voting::average, 2, [&](std::size_t) { return out.data(); });
            else if (kind == 1)
                forest.apply(batch, nodes.data());
            else
                forest.visit([&](std::uint64_t, const auto& all, const auto&) {
                    for (const auto& tree : all) tree->save();
                });
            wrong += !same_point(forest.stats());
            ++looks;
        }
    };
    std::vector<std::thread> readers;
    for (int kind = 0; kind < 3; ++kind) readers.emplace_back(reader, kind);
    for (std::size_t i = 0; i < blocks; ++i)
        forest.learn({batch, labels.data(), nullptr}, 1 + i % 3);
    done = true;
    for (auto& thread : readers) thread.join();
    std::printf("%d looks, %d torn\n", looks.load(), wrong.load());
    return wrong.load() || forest.points() != blocks * rows;
}

}  // namespace

int main() { return run(unbounded) || run(40000); }
