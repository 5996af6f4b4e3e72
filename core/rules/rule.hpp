// What a rule must offer. A rule says which points a tree hears, when a leaf splits, and who may collect
// statistics; the tree does the rest. One file a rule: two_streams.hpp is the paper's, one_stream.hpp is
// Saffari's.
#pragma once

#include <concepts>
#include <cstdint>

#include "counts/labels.hpp"
#include "settings.hpp"

namespace riparian {

template <class Rule, class Space, class Tree>
concept SplitRule = std::derived_from<typename Rule::Settings, TreeSettings> &&
                    requires(Tree& tree, const Tree& const_tree, Context<Space, Rule>& context,
                             typename Rule::Record& record, const typename Rule::Settings& settings,
                             typename Tree::State& state, const typename Tree::State& const_state,
                             typename Space::Point x) {
                        typename Rule::Evidence;  // what the candidates of a leaf have seen
                        // Whether the first leaf of a tree collects.
                        { Rule::root_is_active(settings) } -> std::same_as<bool>;
                        // The point t arrived at a leaf: its place among the leaves, its draw (R13), label and weight.
                        {
                            Rule::receive(tree, std::uint32_t{}, std::uint64_t{}, std::uint64_t{},
                                          x, Class{}, Weight{}, context)
                        };
                        // A leaf has split into these two: who becomes active?
                        { Rule::fill_fringe(tree, std::uint32_t{}, std::uint32_t{}, context) };
                        // A leaf has drawn its candidates.
                        { Rule::entered(tree, std::uint32_t{}, context) };
                        // A block has been learned.
                        { Rule::tidy(tree, settings) };
                        // What the rule records of a tree, and whether leaves wait, as arrays and back (see state.hpp).
                        { Rule::save(const_tree, state) };
                        { Rule::restore(tree, const_state) };
                    };

}  // namespace riparian
