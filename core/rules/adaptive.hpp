// Trees for streams that change (R27): those that are eager, then honest, but each has its own
// points, from the one that it began with. A leaf also remembers its last points, in histograms
// that fade, and a tree whose error rises is replaced by an empty one. Trees do not look at each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "counts/streams.hpp"
#include "draws.hpp"
#include "drift/adwin.hpp"
#include "kept/cells.hpp"
#include "memory/array.hpp"
#include "memory/pool.hpp"
#include "rules/eager.hpp"
#include "rules/regrowth.hpp"
#include "target/heads.hpp"
#include "target/target.hpp"

namespace riparian {

struct Adaptive : EagerOf<Adaptive, HeadsWithMemories> {
    using Base = EagerOf<Adaptive, HeadsWithMemories>;
    struct Settings : Base::Settings {
        std::uint64_t n_trees = 0;    // of the whole forest, of which some may be elsewhere
        double drift_confidence = 0;  // δ
    };

    template <FadingTarget Target>
    struct Record : Base::Record<Target> {
        using Trees = Base::Record<Target>;
        using Memories = typename Target::Memories;
        static constexpr bool follows_leaves = false;

        explicit Record(const Settings& settings)
            : Trees(settings), detector(settings.drift_confidence) {}

        Array<Memories> memories;             // side by side with the leaves of the tree
        typename Target::Errors errors;       // how large they have been
        Adwin detector;                       // of a rise of the errors
        std::vector<std::uint64_t> replaced;  // the points at which a tree in this place gave way

        std::size_t bytes(std::size_t n_leaves) const {
            return Trees::bytes(n_leaves) + Array<Memories>::bytes(n_leaves) + detector.bytes() +
                   replaced.size() * sizeof replaced[0];
        }
        static std::size_t bytes_per_leaf(typename Target::Known known) {
            return Trees::bytes_per_leaf(known) + Memories::charge(known);
        }
        void move_to(Pool& pool) {
            Trees::move_to(pool);
            for (auto& leaf : memories) leaf.move_to(pool);
        }
        void trim() {
            Trees::trim();
            memories.trim();
        }
    };

    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context& context) {
        tree.record_.memories.push_back({});
        Base::plant(tree, context);
    }

    // Before the tree learns the point, the error of the leaf goes to the detector.
    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                     std::uint64_t draw, typename Tree::Point x,
                                     typename Tree::Label y, Weight n,
                                     typename Tree::Context& context) {
        auto& record = tree.record_;
        const std::optional<double>& error = context.scratch.leaf_error;
        if (error && record.detector.add(record.errors.scaled(*error)) == Adwin::Change::risen)
            [[unlikely]] {
            replace(tree, t, context);
            leaf = 0;
            draw = fold(key(context.settings.seed, tree.number_, stream_draw), t);
            n = weight_of(tree, t, context);
            if (n == 0) return;
        }
        Base::receive(tree, leaf, t, draw, x, y, n, context);
    }

    template <class Tree>
    RIPARIAN_HOT static void voted(Tree& tree, std::uint32_t leaf, typename Tree::Label y,
                                   Weight n) {
        Base::voted(tree, leaf, y, n);
        tree.record_.memories[leaf].add(tree.statistics_, y, n);
    }

    // -- where a leaf splits -----------------------------------------------------------------

    template <class Tree>
    static void inherit(Tree& tree, std::uint32_t left, std::uint32_t right,
                        const typename Tree::Cut& cut, bool was_young,
                        typename Tree::Context& context) {
        auto& memories = tree.record_.memories;
        memories[left].release(tree.statistics_);
        memories.push_back({});
        Base::inherit(tree, left, right, cut, was_young, context);
        if (was_young) return;
        auto& scratch = context.scratch;
        remember(tree, left, scratch.estimation, scratch.left.estimation);
        remember(tree, right, scratch.estimation, scratch.right.estimation);
    }

    template <class Tree>
    static void fill_statistics(Tree& tree, std::uint32_t index, const Cell& cell,
                                typename Tree::Context& context) {
        if (tree.leaves_[index].estimation.total() > 0) return;
        Base::fill_statistics(tree, index, cell, context);
        auto& scratch = context.scratch;
        if (tree.record_.eager)
            remember(tree, index, scratch.structure, cell.structure);
        else
            remember(tree, index, scratch.estimation, cell.estimation);
    }

    template <class Tree>
    static void clear_leaves(Tree& tree) {
        auto& memories = tree.record_.memories;
        for (auto& leaf : memories) leaf.release(tree.statistics_);
        memories.restart();
        memories.push_back({});
        Base::clear_leaves(tree);
    }

    template <class Tree>
    static const auto* memories(const Tree& tree, std::uint32_t leaf) {
        return &tree.record_.memories[leaf];
    }

    // -- as arrays, and back -----------------------------------------------------------------

    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in,
                        typename Tree::Context& context);

private:
    // An empty tree takes the place. It draws as no tree has drawn before.
    template <class Tree>
    static void replace(Tree& tree, std::uint64_t t, typename Tree::Context& context) {
        auto& record = tree.record_;
        clear_leaves(tree);
        tree.fell();
        tree.set_number(tree.number_ + context.settings.n_trees, context.settings);
        tree.planted_ = t;
        tree.totals_ = {.classes = tree.totals_.classes};
        record.forget();
        record.errors = {};
        record.detector = Adwin(context.settings.drift_confidence);
        record.replaced.push_back(t);
        tree.plant_root();
        record.leaves.push_back({});
        enter(tree, 0);
    }

    // The points of a list, in order, as if they had voted in the leaf.
    template <class Tree, class Points>
    static void remember(Tree& tree, std::uint32_t index, Points& points, const Run& run) {
        const auto labels = points.labels(run);
        const auto weights = points.weights(run);
        for (std::size_t i = 0; i < labels.size(); ++i)
            tree.record_.memories[index].add(tree.statistics_, labels[i],
                                             weights.empty() ? Weight{1} : weights[i]);
    }
};

}  // namespace riparian
