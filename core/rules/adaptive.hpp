// Trees for streams that change (R23): those of kept points, but they forget. A leaf lists its last
// points only and never settles, it remembers what it predicts by at several rates, and a tree
// whose error rises is replaced by an empty one. Trees do not look at each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "budget.hpp"
#include "counts/streams.hpp"
#include "draws.hpp"
#include "drift/adwin.hpp"
#include "kept/lists.hpp"
#include "memory/array.hpp"
#include "rules/regrowth.hpp"
#include "rules/two_streams.hpp"
#include "target/target.hpp"

namespace riparian {

struct Adaptive : Regrowing<Adaptive> {
    struct Settings : KeptSettings {
        std::uint64_t n_trees = 0;      // of the whole forest, of which some may be elsewhere
        std::uint32_t leaf_points = 0;  // of each stream that a leaf lists
        std::vector<float> memories;    // the factors by which they fade
        double fading = 0;              // of what is known of the memories
        double drift_confidence = 0;    // δ
    };
    template <class Space, class Target>
    using Evidence = TwoStreams::Evidence<Space, Target>;
    using Stream = TwoStreams::Stream;

    // What a leaf has besides its statistics.
    template <class Target>
    struct ListedLeaf {
        PointList structure,
            estimation;             // `count`: all arrivals, those that are not listed included
        std::uint32_t attempt = 0;  // times it drew in vain
        typename Target::Memories memories;
    };

    template <FadingTarget Target>
    struct Record : Growth, RecordDefaults {
        static constexpr bool follows_leaves = false;

        explicit Record(const Settings& settings)
            : lists(settings.kept_points),
              trust(settings.memories.size()),
              detector(settings.drift_confidence) {}

        Array<ListedLeaf<Target>> leaves;  // side by side with the leaves of the tree
        PointLists lists;
        typename Target::Trust trust;
        Adwin detector;                       // of the tree's errors
        std::vector<std::uint64_t> replaced;  // the points at which a tree in this place gave way
        bool full = false;                    // a split was refused for want of memory

        std::size_t bytes(std::size_t n_leaves) const {
            return Array<ListedLeaf<Target>>::bytes(n_leaves) + detector.bytes() +
                   replaced.size() * sizeof replaced[0];
        }
        std::size_t bytes_per_leaf(typename Target::Known known) const {
            return Pool::block_size(Target::Memories::bytes(trust.memories(), known));
        }
        void prefetch_for(std::size_t points) const { lists.prefetch(points); }
        void move_to(Pool& pool) {
            for (auto& leaf : leaves) leaf.memories.move_to(pool, trust.memories());
        }
    };

    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context&) {
        tree.record_.leaves.push_back({});
        enter(tree, 0);
    }

    // Every point is tested before it is learned, so none is learned ahead.
    using RuleDefaults::grow_ahead;

    // Before the tree learns the point, it is tested.
    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                     std::uint64_t draw, typename Tree::Point,
                                     typename Tree::Label y, Weight n,
                                     typename Tree::Context& context) {
        auto& record = tree.record_;
        auto test = record.trust.test(record.leaves[leaf].memories, y, tree.known());
        if (record.detector.add(test.error) == Adwin::Change::risen) [[unlikely]] {
            replace(tree, t, context);
            leaf = 0;
            test = {};
            draw = fold(key(context.settings.seed, tree.number_, stream_draw), t);
            n = weight_of(tree, t, context);
            if (n == 0) return;
        }
        switch (TwoStreams::stream_of(draw, context.settings)) {
            case Stream::structure:
                learn_structure(tree, leaf, t, test, y, n, context);
                break;
            case Stream::estimation:
                learn_estimation(tree, leaf, t, y, n, context);
                break;
            case Stream::ignored:
                tree.totals_.ignored_points += n;
        }
        stay_within_budget(tree, t, context);
    }

    // The list of a leaf is divided between its children, in order, which start with the statistics
    // of what they list. A child's points are linked and remembered once it has looked or waits.
    template <class Tree>
    static void inherit(Tree& tree, std::uint32_t left, std::uint32_t right,
                        const typename Tree::Cut& cut, bool, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        auto& record = tree.record_;
        expect_growth(tree, context.settings);
        record.leaves.push_back({});
        divide_cell(cut, context);
        record.leaves[left].memories.release(tree.statistics_, record.trust.memories());
        record.leaves[left] = {};
        for (const auto& [leaf, cell] : {std::pair(left, scratch.left), {right, scratch.right}}) {
            set_lists(record.leaves[leaf], cell, context);
            fill_statistics(tree, leaf, cell, context);
        }
    }

    template <class Tree>
    static void tidy(Tree& tree, const Settings& settings) {
        TwoStreams::tidy(tree, settings);
    }

    // All that predicting may see of a leaf.
    template <class Tree>
    static auto answer(const Tree& tree, std::uint32_t leaf, const typename Tree::Shared&) {
        return tree.record_.trust.answer(tree.record_.leaves[leaf].memories,
                                         tree.leaves_[leaf].estimation);
    }

    // Memories, arrivals, the detector and the replacements. The lists follow from the kept points.
    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in,
                        typename Tree::Context& context);

    // -- a look -----------------------------------------------------------------------------------

    // A leaf of 2^31 arrivals does not look any more.
    template <class Tree>
    static std::uint32_t arrivals(const Tree& tree, std::uint32_t leaf) {
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(tree.record_.leaves[leaf].structure.count, 1u << 31));
    }
    static std::uint64_t most_listed(const Settings& settings) { return settings.leaf_points; }
    // A leaf that looks again and again among few points finds a large gain by chance. While a tree
    // is rebuilt, each leaf looks once.
    template <class Tree>
    static double min_gain(const Tree& tree, std::size_t n, const Settings& settings) {
        if (tree.record_.growing) return settings.min_gain;
        const auto points = static_cast<double>(n);
        return std::max(settings.min_gain, 2.0 * (ln(points + 1.0) / ln2) / points);
    }
    // Among many points, trees that look in all of these dimensions would be too much alike: a
    // quarter will do, and one more.
    template <class Tree>
    static void draw_dims(const Tree& tree, Draws& draws, typename Tree::Context& context) {
        auto& drawn = context.scratch.drawn;
        context.space.draw(draws, context.scratch.shuffle, drawn);
        if (tree.record_.growing) drawn.resize(std::min(drawn.size(), 1 + (drawn.size() + 3) / 4));
    }
    template <class Tree>
    static void rest(Tree& tree, std::uint32_t leaf, const Cell& cell,
                     typename Tree::Context& context) {
        link(tree, cell, context);
        remember_list(tree, leaf, cell, context);
    }
    template <class Tree>
    static void clear_leaves(Tree& tree) {
        auto& record = tree.record_;
        for (auto& leaf : record.leaves)
            leaf.memories.release(tree.statistics_, record.trust.memories());
        record.leaves.clear();
    }
    // When the leaf received the oldest point that it lists, if its points came evenly. That needs
    // no number per point.
    template <class Tree>
    static std::uint64_t born_of_children(const Tree& tree, std::uint32_t index,
                                          const typename Tree::Context& context) {
        const auto& scratch = context.scratch;
        const Run run = scratch.cell.estimation;
        const std::uint64_t listed =
            ListedEstimation{run.count, scratch.estimation.weights(run)}.weight();
        const typename Tree::Leaf& leaf = tree.leaves_[index];
        const std::uint64_t lifetime = tree.totals_.estimation_points - leaf.born;
        const double share =
            static_cast<double>(listed) / static_cast<double>(leaf.estimation.total());
        // A snapshot may say anything of its leaves, also that one lists more points than it has
        // received.
        const double even = static_cast<double>(lifetime) * share;
        const auto part = even < 0x1p64 ? static_cast<std::uint64_t>(even) : lifetime;
        return tree.totals_.estimation_points - std::min(lifetime, std::max(listed, part));
    }

private:
    friend Looking<Adaptive>;
    friend Regrowing<Adaptive>;

    // -- receiving a point ------------------------------------------------------------------------

    template <class Tree>
    RIPARIAN_HOT static void learn_estimation(Tree& tree, std::uint32_t index, std::uint64_t t,
                                              typename Tree::Label y, Weight n,
                                              typename Tree::Context& context) {
        tree.totals_.estimation_points += n;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        auto& listed = tree.record_.leaves[index];
        const auto errors = leaf.estimation.errors();
        leaf.estimation.add(tree.statistics_, y, n);
        listed.memories.add(tree.statistics_, context.settings.memories, y, n);
        tree.record_.lists.push(listed.estimation, t);
        if (!leaf.young() && leaf.estimation.errors() > errors)
            tree.waiting_.raise(leaf.place, tree.s_hat(index), tree.moved());
    }

    template <class Tree>
    static void learn_structure(Tree& tree, std::uint32_t index, std::uint64_t t,
                                const typename Tree::Target::Trust::Test& test,
                                typename Tree::Label y, Weight n, typename Tree::Context& context) {
        auto& record = tree.record_;
        tree.totals_.structure_points += n;
        record.trust.judge(record.leaves[index].memories, test, y, tree.known(),
                           context.settings.fading);
        if (is_rebuilt(tree, context)) return;
        record.lists.push(record.leaves[index].structure, t);
        const typename Tree::Leaf& leaf = tree.leaves_[index];
        if (!leaf.young() || arrivals(tree, index) < leaf.next) return;
        look(tree, {index, std::nullopt}, context);
        let_all_look_that_entered(tree, context);
    }

    // An empty tree takes the place. It draws as no tree has drawn before.
    template <class Tree>
    static void replace(Tree& tree, std::uint64_t t, typename Tree::Context& context) {
        auto& record = tree.record_;
        clear_leaves(tree);
        tree.fell();
        static_cast<Growth&>(record) = {};
        tree.set_number(tree.number_ + context.settings.n_trees, context.settings);
        tree.planted_ = t;
        tree.totals_ = {.classes = tree.totals_.classes};
        record.trust = typename Tree::Target::Trust(context.settings.memories.size());
        record.detector = Adwin(context.settings.drift_confidence);
        record.replaced.push_back(t);
        tree.plant_root();
        plant(tree, context);
    }

    // Estimation points in order, as if they had arrived there.
    template <class Tree>
    static void remember_list(Tree& tree, std::uint32_t index, const Cell& cell,
                              typename Tree::Context& context) {
        auto& points = context.scratch.estimation;
        const auto labels = points.labels(cell.estimation);
        const auto weights = points.weights(cell.estimation);
        for (std::size_t i = 0; i < labels.size(); ++i)
            tree.record_.leaves[index].memories.add(tree.statistics_, context.settings.memories,
                                                    labels[i],
                                                    weights.empty() ? Weight{1} : weights[i]);
    }

    // The kept points go their way once more.
    template <class Tree>
    static void list_again(Tree& tree, typename Tree::Context& context);
};

}  // namespace riparian
