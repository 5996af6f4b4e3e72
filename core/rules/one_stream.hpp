// Saffari's rule (R18), the baseline: every point that a tree takes chooses splits and predicts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "counts/streams.hpp"
#include "draws.hpp"
#include "kernels/hot.hpp"
#include "rules/one_stream_evidence.hpp"
#include "rules/rule.hpp"
#include "settings.hpp"

namespace riparian {

struct OneStream : RuleDefaults {
    struct Settings : TreeSettings {
        std::uint64_t min_samples = 0;  // weight that a leaf needs to split
        std::uint64_t max_depth = 0;    // leaves there do not split
        bool range_thresholds = false;  // thresholds are uniform in the range of the first m
                                        // points, instead of those points
        std::uint64_t replace_after = unbounded;  // a tree with more points may be replaced
        Rate bagging;  // 1: the mean number of times that a tree takes a point
    };
    template <class Space, class Target>
    using Evidence = OneStreamEvidence<Target>;
    // The record by which a tree that may be replaced is judged.
    template <class Target>
    struct Record : RecordDefaults {
        explicit Record(const Settings&) {}

        std::uint64_t left_out = 0;  // points that the tree did not take
        std::uint64_t errors = 0;    // how many of them it would have predicted wrongly

        double error() const {
            return left_out ? static_cast<double>(errors) / static_cast<double>(left_out) : 0.0;
        }
    };
    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context& context) {
        if (context.settings.max_depth > 0) tree.activate(0, 0, context);
    }

    // A tree takes a point Poisson(1) times. Points that it does not take test it, if it may be
    // replaced.
    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t index, std::uint64_t,
                                     std::uint64_t draw, typename Tree::Point x,
                                     typename Tree::Label y, Weight n,
                                     typename Tree::Context& context) {
        const Settings& settings = context.settings;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        const Weight taken = n * Draws(draw).poisson(settings.bagging);
        if (taken == 0) {
            tree.totals_.ignored_points += n;
            if (settings.replace_after == unbounded || leaf.estimation.total() == 0) return;
            tree.record_.left_out += n;
            tree.record_.errors += context.order.misses(leaf.estimation, y) ? n : 0;
            return;
        }
        tree.totals_.estimation_points += taken;
        leaf.estimation.add(tree.statistics_, y, taken);
        if (leaf.settled()) grow(tree, index, x, y, taken, context);
    }

    template <class Tree>
    static void fill_fringe(Tree& tree, std::uint32_t left, std::uint32_t right,
                            typename Tree::Context& context) {
        if (tree.leaves_[left].depth >= context.settings.max_depth) return;
        tree.activate(left, 0, context);
        tree.activate(right, 0, context);
    }

    // Learns a block of points. All trees learn in parallel, unless trees are replaced: which tree
    // is replaced depends on all of them after every point.
    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        if (forest.settings().replace_after == unbounded)
            return forest.learn_together(points, workers);
        for (std::size_t i = 0; i < points.size(); ++i) {
            forest.learn_together(points.slice(i, 1), 1);
            replace_one(forest);
        }
    }

    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in, typename Tree::Context&);

private:
    template <class Tree>
    static void grow(Tree& tree, std::uint32_t index, typename Tree::Point x,
                     typename Tree::Label y, Weight n, typename Tree::Context& context) {
        const Settings& settings = context.settings;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        typename Tree::Candidates& candidates = *leaf.candidates;
        std::optional<Draws> range;
        if (settings.range_thresholds)
            range = Draws(key(settings.seed, tree.number_, threshold_draw, leaf.node));
        candidates.observe(tree.pool_, x, y, n, tree.known(), tree.totals_.estimation_points, range,
                           context.scratch);
        if (leaf.estimation.total() < settings.min_samples) return;
        const auto best = candidates.best_of_all(context.scratch);
        if (best && best->gain > settings.min_gain) {
            ++tree.totals_.should_splits;
            tree.split(index, *best, context);
        } else if (best) {
            candidates.keep_gains(tree.pool_, tree.known(), context.scratch);
        }
    }

    // Draws one of the trees that are old enough, with the probability of its error.
    template <class Forest>
    static void replace_one(Forest& forest) {
        auto& trees = forest.trees();
        const std::uint64_t points = forest.points_learned();
        const auto old = [&](const auto& tree) {
            return points - tree->planted() > forest.settings().replace_after;
        };
        const auto n_old = std::count_if(trees.begin(), trees.end(), old);
        if (n_old == 0) return;
        Draws draws(key(forest.settings().seed, replacement_draw, points - 1));
        std::uint64_t place = draws.below(static_cast<std::uint64_t>(n_old));
        for (auto& tree : trees) {
            if (!old(tree) || place-- > 0) continue;
            // A new number, so that the draws are new.
            if (draws.next() < tree->record().error())
                tree = forest.plant(tree->number() + trees.size());
            return;
        }
    }
};

}  // namespace riparian
