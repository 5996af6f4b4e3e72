// What a rule must offer. A rule says which points a tree hears, when a leaf splits, and who may collect
// statistics; the tree does the rest. One file per rule: two_streams.hpp is the paper's, keeping.hpp the
// same with kept points, one_stream.hpp Saffari's.
#pragma once

#include <concepts>
#include <cstdint>

#include "counts/labels.hpp"
#include "settings.hpp"

namespace riparian {

template <class Rule, class Space, class Tree>
concept SplitRule =
    std::derived_from<typename Rule::Settings, TreeSettings> &&
    requires(Tree& tree, const Tree& const_tree, Context<Space, Rule>& context,
             const typename Tree::Cut& cut, const typename Rule::Settings& settings,
             typename Tree::State& state, const typename Tree::State& const_state,
             typename Space::Point x) {
        typename Rule::template Evidence<Space>;  // what the candidates of a leaf have seen
        typename Rule::Record;                    // what the rule keeps of a tree
        typename Rule::template Shared<Space>;    // what all trees read
        typename Rule::template Scratch<Space>;   // what a thread works with
        // The first leaf of a tree is there.
        { Rule::plant(tree, context) };
        // Point t arrives (with the key of the tree's streams), before its weight is known.
        { Rule::arrive(tree, std::uint64_t{}, std::uint64_t{}, context) };
        // It has reached a leaf, given by its place among the leaves: t, its draw (R13), the point, its
        // label and weight.
        {
            Rule::receive(tree, std::uint32_t{}, std::uint64_t{}, std::uint64_t{}, x, Class{},
                          Weight{}, context)
        };
        // A leaf, young or not, was cut into these two. What do they take over, and who becomes active?
        { Rule::inherit(tree, std::uint32_t{}, std::uint32_t{}, cut, bool{}, context) };
        { Rule::fill_fringe(tree, std::uint32_t{}, std::uint32_t{}, context) };
        // A leaf has candidates from now on.
        { Rule::settled(tree, std::uint32_t{}, context) };
        // A block has been learned.
        { Rule::tidy(tree, settings) };
        // What the rule keeps of a tree as arrays, and back (see state.hpp).
        { Rule::save(const_tree, state) };
        // Of a young leaf.
        { Rule::attempt_of(const_tree, std::uint32_t{}) } -> std::same_as<std::uint32_t>;
        { Rule::has_lost(const_tree, std::uint32_t{}) } -> std::same_as<bool>;
        { Rule::restore(tree, const_state, context) };
    };

}  // namespace riparian
