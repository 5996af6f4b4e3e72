// The contract of a rule. A rule says which points a tree uses, when a leaf splits, and which
// leaves collect statistics; the tree does the rest. There is one file per rule: two_streams.hpp is
// the paper's, keeping.hpp the same with kept points, adaptive.hpp the rule for streams that
// change, eager.hpp the one that is eager at first, and one_stream.hpp Saffari's. A rule derives
// from `RuleDefaults` and hides what it does differently.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counts/streams.hpp"
#include "draws.hpp"
#include "kernels/hot.hpp"
#include "memory/pool.hpp"
#include "settings.hpp"
#include "split/candidate_scratch.hpp"

namespace riparian {

// What all trees of a forest read, stored once in the forest.
template <class Shared, class Forest>
concept SharedByTrees =
    std::constructible_from<Shared, const typename Forest::Settings&,
                            const typename Forest::SpaceType&> &&
    requires(Shared& shared, const Shared& kept, const typename Shared::State& state,
             const typename Forest::SpaceType& space, std::span<const std::uint64_t> words,
             std::vector<float>& values) {
        shared.widen(space);  // columns have joined
        { kept.bytes() } -> std::same_as<std::size_t>;
        { kept.save() } -> std::same_as<typename Shared::State>;
        shared.restore(state);  // nothing is stored yet
        // Values of one column among the n kept points: for each word, that of the point at place
        // word mod n. None if there are no points, or no columns.
        kept.draw_values(std::uint32_t{}, words, values);
    };

// What a rule records about a tree. It is made from the settings.
template <class Record, class Tree>
concept RecordOfTree =
    std::constructible_from<Record, const typename Tree::Settings&> &&
    requires(Record& record, const Record& kept, Pool& pool, typename Tree::Target::Known known) {
        // Its bytes, for n leaves. If `follows_leaves`, they are a function of n alone.
        { Record::follows_leaves } -> std::convertible_to<bool>;
        { kept.bytes(std::size_t{}) } -> std::same_as<std::size_t>;
        // What a leaf may hold in the pool of statistics, in addition to its own.
        { kept.bytes_per_leaf(known) } -> std::same_as<std::size_t>;
        record.move_to(pool);              // which is a new one
        kept.prefetch_for(std::size_t{});  // this many points are about to arrive,
        kept.prefetch(std::uint32_t{});    // and one of them in this leaf
        record.trim();  // a block has been learned: arrays give back their unused memory
    };

template <class Rule, class Tree>
concept SplitRule =
    std::derived_from<typename Rule::Settings, TreeSettings> &&
    RecordOfTree<typename Tree::Record, Tree> &&
    requires(Tree& tree, const Tree& const_tree, typename Tree::Context& context,
             const typename Tree::Cut& cut, const typename Rule::Settings& settings,
             typename Tree::State& state, const typename Tree::State& const_state,
             typename Tree::Point x, typename Tree::Label y, const typename Tree::Label* labels,
             typename Tree::Leaf& leaf) {
        typename Tree::Candidates;  // of Rule::Evidence<Space, Target>: what the candidates of a
                                    // leaf have seen
        // -- along the stream
        Rule::plant(tree, context);  // the tree has its first leaf
        // A block is about to be learned, beginning with its first n points. Returns how many of
        // them the rule has already learned.
        {
            Rule::grow_ahead(tree, labels, std::size_t{}, std::uint64_t{}, context)
        } -> std::same_as<std::size_t>;
        // A point with this draw and label will soon arrive in a leaf, given by its place among the
        // leaves.
        Rule::prefetch(const_tree, std::uint32_t{}, std::uint64_t{}, y, context);
        // Point t arrives (with the key of the tree's streams); its weight is not known yet.
        Rule::arrive(tree, std::uint64_t{}, std::uint64_t{}, context);
        // It has reached a leaf: t, its draw (R13), the point, its label and its weight.
        Rule::receive(tree, std::uint32_t{}, std::uint64_t{}, std::uint64_t{}, x, y, Weight{},
                      context);
        Rule::tidy(tree, settings);  // a block has been learned
        // -- where a leaf splits
        // A leaf, young or not, was split into these two: sets what they inherit, and which leaves
        // become active.
        Rule::inherit(tree, std::uint32_t{}, std::uint32_t{}, cut, bool{}, context);
        Rule::fill_fringe(tree, std::uint32_t{}, std::uint32_t{}, context);
        Rule::settled(tree, std::uint32_t{}, context);  // from now on, the leaf has candidates
        Rule::vacate(tree, leaf);                       // the leaf is about to become an inner node
        // The depth of a leaf, for α and β; and the weight of all votes, E of R12.
        { Rule::schedule_depth(const_tree, std::uint32_t{}) } -> std::same_as<std::uint32_t>;
        { Rule::votes(const_tree) } -> std::same_as<std::uint64_t>;
        // -- answers: all that predicting may see of a leaf, and of what the trees share
        context.order.add(Rule::answer(const_tree, std::uint32_t{}, context.shared),
                          typename Tree::Target::Voting{}, static_cast<std::int64_t*>(nullptr));
        // Whether rows may stop before their leaf and, if so, where: `find_stops(tree, shared,
        // stops)` and `answer_of_node(tree, node, shared)`.
        { Rule::stops_early } -> std::convertible_to<bool>;
        // Writes the answer for a point that is about to be learned into a row of `answer_width`
        // numbers. Once a block is learned, the first part of that row is a row of sums (R11).
        Rule::add_answer(const_tree, std::uint32_t{}, static_cast<std::int64_t*>(nullptr), context);
        { Rule::answer_width(context.order) } -> std::same_as<std::size_t>;
        // Writes the answer that a row of sums stands for.
        Rule::write(context.order, static_cast<const std::int64_t*>(nullptr), context.shared,
                    static_cast<double*>(nullptr));
        // Whether such rows can be sums over the trees.
        { Rule::answers_add_up(typename Tree::Target::Voting{}) } -> std::same_as<bool>;
        // Whether `judge(tree, leaf, t, y, context)` must be called for each point before it is
        // learned, whatever its weight. If so, `PathsAhead` prefetches what it climbs.
        { Rule::judges } -> std::convertible_to<bool>;
        typename Rule::PathsAhead;
        // -- as arrays, and back (see state.hpp)
        Rule::save(const_tree, state);
        Rule::restore(tree, const_state, context);
        // For a young leaf.
        { Rule::attempt_of(const_tree, std::uint32_t{}) } -> std::same_as<std::uint32_t>;
        { Rule::has_lost(const_tree, std::uint32_t{}) } -> std::same_as<bool>;
    };

// The calls of a forest.
template <class Rule, class Forest>
concept ForestRule =
    SharedByTrees<typename Forest::Shared, Forest> &&
    requires(Forest& forest, const typename Forest::Block& points) {
        Rule::learn(forest, points, std::size_t{});  // a block, with this many workers
    };

// The type of rules whose trees share nothing.
struct NothingShared {
    struct State {};

    template <class Settings, class Space>
    NothingShared(const Settings&, const Space&) {}
    template <class Space>
    void widen(const Space&) {}
    std::size_t bytes() const { return 0; }
    State save() const { return {}; }
    void restore(const State&) {}
    void draw_values(std::uint32_t, std::span<const std::uint64_t>, std::vector<float>&) const {}
};

// An empty record.
struct RecordDefaults {
    static constexpr bool follows_leaves = true;

    static std::size_t bytes(std::size_t) { return 0; }
    template <class Known>
    static std::size_t bytes_per_leaf(const Known&) {
        return 0;
    }
    static void move_to(Pool&) {}
    static void prefetch_for(std::size_t) {}
    static void prefetch(std::uint32_t) {}
    static void trim() {}
};

// The defaults: no young leaves, and leaves that answer with their statistics.
struct RuleDefaults {
    template <class Target>
    struct Record : RecordDefaults {
        explicit Record(const TreeSettings&) {}
    };
    template <class Space, class Target>
    using Shared = NothingShared;
    template <class Space, class Target>
    using Scratch = CandidateScratch<Space, Target>;

    template <class Tree>
    static std::size_t grow_ahead(Tree&, const typename Tree::Label*, std::size_t, std::uint64_t,
                                  typename Tree::Context&) {
        return 0;
    }
    template <class Tree>
    RIPARIAN_HOT static void prefetch(const Tree&, std::uint32_t, std::uint64_t,
                                      typename Tree::Label, const typename Tree::Context&) {}
    template <class Tree>
    RIPARIAN_HOT static void arrive(Tree&, std::uint64_t, std::uint64_t, typename Tree::Context&) {}
    template <class Tree>
    static void tidy(Tree&, const typename Tree::Settings&) {}
    template <class Tree>
    static void inherit(Tree&, std::uint32_t, std::uint32_t, const typename Tree::Cut&, bool,
                        typename Tree::Context&) {}
    template <class Tree>
    static void settled(Tree&, std::uint32_t, typename Tree::Context&) {}
    template <class Tree>
    static void vacate(Tree& tree, typename Tree::Leaf& leaf) {
        leaf.estimation.release(tree.statistics_);
    }
    template <class Tree>
    RIPARIAN_HOT static std::uint32_t schedule_depth(const Tree& tree, std::uint32_t leaf) {
        return tree.leaves_[leaf].depth;
    }
    template <class Tree>
    RIPARIAN_HOT static std::uint64_t votes(const Tree& tree) {
        return tree.totals_.estimation_points;
    }
    static constexpr bool judges = false;
    struct PathsAhead {};
    template <class Tree, class Shared>
    static decltype(auto) answer(const Tree& tree, std::uint32_t leaf, const Shared&) {
        return Tree::Target::answer(tree.leaves_[leaf].estimation, tree.known());
    }
    static constexpr bool stops_early = false;
    template <class Tree>
    static void add_answer(const Tree& tree, std::uint32_t leaf, std::int64_t* row,
                           const typename Tree::Context& context) {
        context.order.add(tree.answer_of(leaf, context.shared), context.scratch.answers.voting(),
                          row);
    }
    template <class Order>
    static std::size_t answer_width(const Order& order) {
        return order.row_width();
    }
    template <class Order, class Shared>
    static void write(const Order& order, const std::int64_t* row, const Shared&, double* out) {
        order.write(row, out);
    }
    template <class Voting>
    static bool answers_add_up(Voting) {
        return true;
    }
    template <class Tree>
    static std::uint32_t attempt_of(const Tree&, std::uint32_t) {
        return 0;
    }
    template <class Tree>
    static bool has_lost(const Tree&, std::uint32_t) {
        return false;
    }
    // All trees learn in parallel.
    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        forest.learn_together(points, workers);
    }
};

}  // namespace riparian
