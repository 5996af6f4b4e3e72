// The paper's rule: every point goes to one of two streams (R1), structure points split leaves (R6,
// R8), and a bounded fringe of leaves collects statistics (R12).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "counts/streams.hpp"
#include "draws.hpp"
#include "kernels/hot.hpp"
#include "rules/rule.hpp"
#include "rules/two_streams_evidence.hpp"
#include "settings.hpp"

namespace riparian {

struct TwoStreams : RuleDefaults {
    struct Settings : TreeSettings {
        // R1: a uniform whose 53 bits are below this goes to the structure stream.
        std::uint64_t structure_cut = 0;
        std::uint64_t ignore_cut = 0;   // below this, the point is ignored
        std::uint64_t fringe_size = 0;  // active leaves per tree; the largest number means no bound
        std::uint64_t budget = 0;       // bytes of a tree; the largest number means no bound
        std::vector<std::uint64_t> alpha;  // α(d), for every depth that the next block can reach
        std::vector<std::uint64_t> beta;   // β(d)

        bool bounded() const { return fringe_size != unbounded || budget != unbounded; }
    };
    // Bounds take less time per point, sums less time per check. That matters with thousands of
    // candidates.
    template <class Space, class Target>
    using Evidence = TwoStreamsEvidence<
        Target, std::conditional_t<Space::columns, typename Target::Bounds, typename Target::Sums>>;

    // The root is active before the first point (R2).
    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context& context) {
        tree.activate(0, 0, context);
    }

    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                     std::uint64_t draw, typename Tree::Point x,
                                     typename Tree::Label y, Weight n,
                                     typename Tree::Context& context) {
        switch (stream_of(draw, context.settings)) {
            case Stream::structure:
                learn_structure(tree, leaf, x, y, n, context);
                break;
            case Stream::estimation:
                learn_estimation(tree, leaf, x, y, n, context);
                break;
            case Stream::ignored:
                tree.totals_.ignored_points += n;
        }
        Budget budget(tree, context.settings.budget);
        if (budget.is_exceeded()) [[unlikely]]
            budget.make_room(t);
    }

    // A point with this draw and label is about to arrive.
    template <class Tree>
    RIPARIAN_HOT static void prefetch(const Tree& tree, std::uint32_t leaf, std::uint64_t draw,
                                      typename Tree::Label y,
                                      const typename Tree::Context& context) {
        if (!tree.leaves_[leaf].settled()) return;
        const typename Tree::Candidates& candidates = *tree.leaves_[leaf].candidates;
        if (stream_of(draw, context.settings) == Stream::structure)
            candidates.prefetch_structure(y);
        else
            candidates.prefetch_estimation(y);
    }

    // R12: the two new leaves wait with the others, and while there is a free place, the leaf with
    // the largest ŝ enters. Without a bound, both enter at once and no leaf ever waits.
    template <class Tree>
    static void fill_fringe(Tree& tree, std::uint32_t left, std::uint32_t right,
                            typename Tree::Context& context) {
        if (!context.settings.bounded()) {
            tree.activate(left, 0, context);
            tree.activate(right, 0, context);
            return;
        }
        let_enter(tree, left, right, context.settings,
                  [&](std::uint32_t leaf) { tree.activate(leaf, 0, context); });
    }

    // R12: calls enter(leaf) for each leaf that enters. If no leaf waited before, the two need no
    // heap.
    template <class Tree, class Settings, class Enter>
    static void let_enter(Tree& tree, std::uint32_t left, std::uint32_t right,
                          const Settings& settings, Enter&& enter) {
        const Budget budget(tree, settings.budget);
        const auto has_room = [&] {
            return tree.active_ < settings.fringe_size && budget.has_room();
        };
        if (!tree.waiting_.empty()) {
            for (const std::uint32_t leaf : {left, right}) tree.wait(leaf);
            while (!tree.waiting_.empty() && has_room()) enter(tree.take_waiting());
            return;
        }
        if (tree.s_hat(left) < tree.s_hat(right)) std::swap(left, right);
        for (const std::uint32_t leaf : {left, right}) {
            if (!has_room()) {
                tree.wait(leaf);
                continue;
            }
            ++tree.totals_.activations;
            enter(leaf);
        }
    }

    template <class Tree>
    static void settled(Tree& tree, std::uint32_t leaf, typename Tree::Context& context) {
        Budget(tree, context.settings.budget)
            .plan(tree.leaves_[leaf], tree.schedule_depth(leaf), context.settings.alpha);
    }

    template <class Tree>
    static void tidy(Tree& tree, const Settings& settings) {
        Budget(tree, settings.budget).tidy();
    }

    // All trees learn a block of points in parallel.
    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        // A path gains a level by a split that was due, and one more for every four points.
        if (forest.settings().beta.size() < forest.deepest() + points.size() / 4 + 2)
            throw std::logic_error("the schedules must reach as deep as the block can");
        forest.learn_together(points, workers);
    }

    // Inactive leaves wait, each with its key (R12).
    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in, typename Tree::Context&);

    enum class Stream : std::uint8_t { structure, estimation, ignored };

    // R1: one uniform per point and tree.
    static Stream stream_of(std::uint64_t word, const Settings& settings) {
        const std::uint64_t u = word >> 11;
        if (u < settings.structure_cut) return Stream::structure;
        return u < settings.ignore_cut ? Stream::ignored : Stream::estimation;
    }

    // Called after a structure point was counted in a settled leaf. Decides whether the leaf can
    // split, and whether it should or must (R6, R8). `redraw(attempt)` makes it draw other
    // candidates; `may_split(feature)` says whether there is memory for the split.
    template <class Tree, class Redraw, class MaySplit>
    static void check(Tree& tree, std::uint32_t index, typename Tree::Context& context,
                      Redraw&& redraw, MaySplit&& may_split) {
        const Settings& settings = context.settings;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        typename Tree::Candidates& candidates = *leaf.candidates;
        const std::uint32_t depth = tree.schedule_depth(index);
        const std::uint64_t beta = settings.beta[depth];
        // Most points change nothing, and that is cheap to detect: the leaf should not split, it
        // must not, and it has not waited long enough to draw again (it has received no more than
        // its total).
        if (leaf.estimation.total() < beta &&
            candidates.none_above(settings.min_gain, settings.alpha[depth], context.scratch))
            return;
        if (const auto best = candidates.best(settings.alpha[depth], context.scratch)) {
            const bool should = best->gain > settings.min_gain;
            if (!should && leaf.estimation.total() < beta) {
                candidates.keep_gains(tree.pool_, tree.known(), context.scratch);
            } else if (may_split(candidates.feature(best->candidate))) {
                ++(should ? tree.totals_.should_splits : tree.totals_.must_splits);
                tree.split(index, *best, context);
            }
        } else if (candidates.received() / 2 >= beta) {  // R8: most likely because of ties
            redraw(candidates.attempt() + 1);
        }
    }

private:
    template <class Tree>
    RIPARIAN_HOT static void learn_estimation(Tree& tree, std::uint32_t index,
                                              typename Tree::Point x, typename Tree::Label y,
                                              Weight n, typename Tree::Context& context) {
        tree.totals_.estimation_points += n;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        const auto errors = leaf.estimation.errors();
        leaf.estimation.add(tree.statistics_, y, n);
        if (leaf.settled())
            leaf.candidates->observe_estimation(tree.pool_, x, y, n, tree.known(), context.scratch);
        else if (leaf.estimation.errors() > errors)
            tree.waiting_.raise(leaf.place, tree.s_hat(index), tree.moved());
    }

    template <class Tree>
    static void learn_structure(Tree& tree, std::uint32_t index, typename Tree::Point x,
                                typename Tree::Label y, Weight n, typename Tree::Context& context) {
        tree.totals_.structure_points += n;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        if (!leaf.settled()) return;  // R6
        leaf.candidates->observe_structure(tree.pool_, x, y, n, tree.known(),
                                           tree.totals_.estimation_points, context.scratch);
        const auto redraw = [&](std::uint32_t attempt) {
            tree.deactivate(leaf);
            tree.activate(index, attempt, context);
        };
        const auto may_split = [](const typename Tree::Feature&) { return true; };
        check(tree, index, context, redraw, may_split);
    }
};

}  // namespace riparian
