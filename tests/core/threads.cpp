// Forests of every rule under threads, to be run with ThreadSanitizer: one thread learns, with
// workers of its own, while others predict, look and save. Each reader also checks that it saw all
// trees after the same point: every tree has received the same number of points.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "forests.hpp"

using namespace riparian;
using namespace riparian::testing;

namespace {

constexpr std::size_t trees = 8, rows = 512;

// Whether all trees have received the same number of points.
bool same_point(const std::vector<TreeStats>& stats) {
    const auto received = [](const TreeStats& tree) {
        return tree.totals.structure_points + tree.totals.estimation_points +
               tree.totals.ignored_points;
    };
    return std::all_of(stats.begin(), stats.end(),
                       [&](const TreeStats& tree) { return received(tree) == received(stats[0]); });
}

// Some of the points are lost on the way, if the rule keeps points.
template <class Space, class Rule, class Target = Classes>
int run(const char* name, std::size_t blocks, std::uint64_t budget, Extras extras = Extras::none) {
    // Where trees are replaced, or take a point several times, they differ.
    constexpr bool alike = !std::same_as<Rule, OneStream> && !std::same_as<Rule, Adaptive>;
    const Stream<Space> first = early<Space>(rows, extras), stream(rows), turned(rows, true);
    const auto kept = static_cast<std::uint32_t>(blocks * rows / 2);
    auto tested = forest<Space, Rule, Target>(trees, budget, kept, first.space(), extras);
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, looks{0};
    const auto reader = [&](int kind) {
        std::vector<double> out(rows * classes);
        std::vector<std::int64_t> nodes(rows * trees);
        while (!done) {
            if (kind == 0)
                tested.predict(stream.batch(), average<Target>, 2,
                               [&](std::size_t) { return out.data(); });
            else if (kind == 1) {
                tested.apply(stream.batch(), nodes.data());
                intervals(tested, stream.batch(), 2);
            } else
                tested.visit([&](std::uint64_t, const auto& all, const auto& shared) {
                    for (const auto& tree : all) tree->save();
                    shared.save();
                });
            wrong += alike && !same_point(tested.stats());
            ++looks;
        }
    };
    std::vector<std::thread> readers;
    for (int kind = 0; kind < 3; ++kind) readers.emplace_back(reader, kind);
    for (std::size_t i = 0; i < blocks; ++i) {
        const Stream<Space>& now = i == 0 ? first : 2 * i < blocks ? stream : turned;
        if (i == 1) tested.set_space(now.space());
        const bool weighted = extras == Extras::weights_and_a_late_column;
        const double* weights = weighted ? now.weights.data() : nullptr;
        tested.learn({now.batch(), now.template of<Target>(), weights}, 1 + i % 3);
    }
    done = true;
    for (auto& thread : readers) thread.join();
    const std::uint64_t points = tested.points();
    std::printf("%s: %d looks, %d torn\n", name, looks.load(), wrong.load());
    return wrong.load() || points != blocks * rows;
}

}  // namespace

int main() {
    const Extras extras = Extras::weights_and_a_late_column;
    const Extras follows = Extras::intervals_that_follow;
    return run<Columns, TwoStreams>("paper", 30, unbounded) ||
           run<Columns, TwoStreams>("paper, with a budget", 30, 40000) ||
           run<Columns, Keeping>("kept points", 20, unbounded) ||
           run<Columns, Eager>("eager", 12, unbounded) ||
           run<Columns, Adaptive>("adaptive", 12, unbounded) ||
           run<Columns, OneStream>("Saffari", 20, unbounded) ||
           run<DepthDifferences, TwoStreams>("depth, paper", 12, unbounded) ||
           run<DepthDifferences, Keeping>("depth, kept points", 12, unbounded) ||
           run<DepthDifferences, Eager>("depth, eager", 12, unbounded) ||
           run<Columns, Keeping, Numbers>("numbers, kept points", 20, unbounded) ||
           run<Columns, Eager, Numbers>("numbers, eager", 12, unbounded) ||
           run<Columns, Adaptive, Numbers>("numbers, adaptive", 12, unbounded) ||
           run<Columns, Keeping, Numbers>("numbers, kept points, weights, a late column", 20,
                                          unbounded, extras) ||
           run<Columns, Eager, Numbers>("numbers, eager, weights, a late column", 12, unbounded,
                                        extras) ||
           run<Columns, Adaptive, Numbers>("numbers, adaptive, weights, a late column", 12,
                                           unbounded, extras) ||
           run<Columns, Eager, Numbers>("numbers, eager, intervals that follow", 6, unbounded,
                                        follows) ||
           run<Columns, Adaptive, Numbers>("numbers, adaptive, intervals that follow", 6, unbounded,
                                           follows);
}
