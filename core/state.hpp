// Converts a tree to flat arrays and back. Everything that can be derived (sums, widths, the order
// of the heap) is left out and computed again, so that a restored forest is the same in every bit
// and byte.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rules/adaptive.hpp"
#include "rules/eager.hpp"
#include "rules/keeping.hpp"
#include "rules/one_stream.hpp"
#include "rules/two_streams.hpp"
#include "state_fields.hpp"
#include "tree.hpp"

namespace riparian {

inline constexpr std::array growth_names{"structure_arrivals", "growth", "bound"};

template <class Space, class Evidence>
struct CandidatesReader {
    explicit CandidatesReader(const TreeState<Space>& s)
        : next_look(array<"next_look">(s)),
          attempt(array<"attempt">(s)),
          dims(array<"dims">(s)),
          split_points(array<"split_points">(s)),
          received(array<"received">(s)),
          planned(array<"planned">(s)),
          summed(array<"summed">(s)),
          candidate_dims(array<"candidate_dims">(s)),
          born(array<"split_point_born">(s)),
          thresholds(array<"split_threshold">(s)),
          evidence(s) {}

    Reader<Word> next_look, attempt, dims, split_points;
    Reader<Long> received, planned;
    Reader<Byte> summed;
    Reader<typename Space::Feature> candidate_dims;
    Reader<Long> born;
    Reader<float> thresholds;
    typename Evidence::Reader evidence;

    // A young leaf has none. (If there was no column yet, a settled leaf has candidates in none.)
    bool are_there() const { return next_look.peek() == 0; }
    void skip() {
        next_look.one(), attempt.one(), dims.one(), split_points.one(), received.one(),
            planned.one(), summed.one();
        evidence.skip();
    }
};

// The place of a young leaf among the active leaves; it has no candidates.
template <class Evidence, class Space>
void save_young(TreeState<Space>& out, std::uint32_t attempt) {
    array<"attempt">(out).push_back(attempt);
    array<"dims">(out).push_back(0);
    array<"split_points">(out).push_back(0);
    array<"received">(out).push_back(0);
    array<"planned">(out).push_back(0);
    array<"summed">(out).push_back(0);
    Evidence::save_none(out);
}

template <class Space, class Evidence>
void Candidates<Space, Evidence>::save(TreeState<Space>& out) const {
    array<"attempt">(out).push_back(attempt_);
    array<"dims">(out).push_back(shape_.dims);
    array<"split_points">(out).push_back(split_points_so_far_);
    array<"received">(out).push_back(received_);
    array<"planned">(out).push_back(planned_);
    array<"summed">(out).push_back(evidence_.summed());
    for (std::uint32_t d = 0; d < shape_.dims; ++d)
        array<"candidate_dims">(out).push_back(Space::saved(features()[d]));
    append(array<"split_point_born">(out), born(), split_points_so_far_);
    for (std::uint32_t d = 0; d < shape_.dims; ++d)
        append(array<"split_threshold">(out), thresholds() + std::size_t{d} * shape_.split_points,
               split_points_so_far_);
    evidence_.save(shape_, split_points_so_far_, out);
}

template <class Space, class Evidence>
Candidates<Space, Evidence>* Candidates<Space, Evidence>::restored(
    Pool& pool, const Space& space, std::uint32_t split_points,
    CandidatesReader<Space, Evidence>& in, Scratch& scratch) {
    in.next_look.one();
    const std::uint32_t dims = in.dims.one(), so_far = in.split_points.one();
    const Feature* drawn = in.candidate_dims.many(dims);
    scratch.drawn.clear();
    for (std::uint32_t d = 0; d < dims; ++d) scratch.drawn.push_back(space.restored(drawn[d]));
    Candidates* made = make(pool, scratch.drawn, split_points, in.attempt.one());
    made->split_points_so_far_ = so_far;
    made->received_ = in.received.one();
    made->planned_ = in.planned.one();
    std::copy_n(in.born.many(so_far), so_far, made->born());
    for (std::uint32_t d = 0; d < dims; ++d)
        std::copy_n(in.thresholds.many(so_far), so_far,
                    made->thresholds() + std::size_t{d} * split_points);
    made->evidence_.restore(pool, made->shape_, so_far, in.summed.one(), in.evidence,
                            scratch.check);
    return made;
}

// The arrays that the rules record, besides those of nodes and leaves.

template <class Tree>
void TwoStreams::save(const Tree& tree, typename Tree::State& out) {
    for (const auto& node : tree.nodes_) {
        if (node.inner()) continue;
        const auto& leaf = tree.leaves_[node.leaf];
        if (leaf.active()) continue;
        tree.waiting_.key(leaf.place).save(out);
    }
}

template <class Tree>
void TwoStreams::restore(Tree& tree, const typename Tree::State& in, typename Tree::Context&) {
    typename Tree::Target::Priority::Reader priority(in);
    const auto& active = array<"leaf_active">(in);
    for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i)
        if (!active[i]) tree.waiting_.push({priority.one(), tree.leaves_[i].node, i}, tree.moved());
}

// Calls visitor(t, stream, weight, leaf) for the points from `first` to `last` that the tree has
// taken.
template <class Rule>
template <class Tree, class Visitor>
void Looking<Rule>::visit_points(const Tree& tree, std::uint64_t first, std::uint64_t last,
                                 const typename Tree::Context& context, Visitor&& visitor) {
    using Stream = TwoStreams::Stream;
    const std::uint64_t stream_key = key(context.settings.seed, tree.number_, stream_draw);
    for (std::uint64_t t = first; t < last; ++t) {
        const Weight n = weight_of(tree, t, context);
        const Stream stream = TwoStreams::stream_of(fold(stream_key, t), context.settings);
        if (n == 0 || stream == Stream::ignored) continue;
        std::uint32_t node = 0;
        while (tree.nodes_[node].inner()) {
            const auto& at = tree.nodes_[node];
            node = at.child + !tree.goes_left(at, context.shared.value(at.feature, t));
        }
        visitor(t, stream, n, tree.nodes_[node].leaf);
    }
}

// Calls listed(stream, weight) for each point from `first` on.
template <class Rule>
template <class Tree, class Listed>
void Looking<Rule>::list_points(Tree& tree, std::uint64_t first, typename Tree::Context& context,
                                Listed&& listed) {
    using Stream = TwoStreams::Stream;
    const std::uint64_t received = context.shared.received();
    const auto list = [&](std::uint64_t t, Stream stream, Weight n, std::uint32_t index) {
        auto& leaf = tree.record_.leaves[index];
        tree.record_.lists.push(Rule::chooses(tree, stream) ? leaf.structure : leaf.estimation, t);
        listed(stream, n);
    };
    visit_points(tree, first, received, context, list);
    tree.received_ = received;
}

template <class Space>
void save_growth(const Growth& growth, TreeState<Space>& out) {
    array<"growth">(out) = {growth.structure_arrivals, growth.growth, growth.bound};
}

template <class Space>
void restore_growth(Growth& growth, const TreeState<Space>& in) {
    const auto& saved = array<"growth">(in);
    growth.structure_arrivals = saved[0];
    growth.growth = saved[1];
    growth.bound = saved[2];
}

template <class Rule>
template <class Tree>
void KeepingOf<Rule>::save(const Tree& tree, typename Tree::State& out) {
    TwoStreams::save(tree, out);
    save_growth(tree.record_, out);
}

template <class Rule>
template <class Tree>
void KeepingOf<Rule>::restore(Tree& tree, const typename Tree::State& in,
                              typename Tree::Context& context) {
    TwoStreams::restore(tree, in, context);
    auto& record = tree.record_;
    restore_growth(record, in);
    record.leaves.resize(tree.leaves_.size());
    Reader next(array<"next_look">(in)), attempt(array<"attempt">(in));
    Reader had_lost(array<"had_lost">(in));
    std::vector<bool> lost(tree.leaves_.size());  // whether each leaf has lost a point
    for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i) {
        if (!array<"leaf_active">(in)[i]) continue;
        tree.leaves_[i].next = next.one();
        record.leaves[i].attempt = attempt.one();
        lost[i] = had_lost.one();
    }
    // If W has decreased, more points are stored than are kept.
    const auto& kept = context.shared;
    visit_points(tree, std::max(kept.first(), tree.planted_), kept.first_kept(), context,
                 [&](std::uint64_t, Stream, Weight, std::uint32_t leaf) { lost[leaf] = true; });
    list_again(tree, context);
    for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i)
        if (lost[i] && tree.leaves_[i].young()) PointLists::set_lost(record.leaves[i].structure);
}

// The kept points go down the tree again.
template <class Rule>
template <class Tree>
void KeepingOf<Rule>::list_again(Tree& tree, typename Tree::Context& context) {
    auto& record = tree.record_;
    record.lost_estimation = tree.totals_.estimation_points;
    const auto listed = [&](Stream stream, Weight n) {
        if (stream == Stream::estimation) record.lost_estimation -= n;
    };
    list_points(tree, std::max(context.shared.first_kept(), tree.planted_), context, listed);
}

inline constexpr std::array eager_names{"structure_votes", "floor", "eager_points", "eager_nodes"};

template <class Rule, class Heads>
template <class Tree>
void EagerOf<Rule, Heads>::save(const Tree& tree, typename Tree::State& out) {
    Base::save(tree, out);
    const auto& record = tree.record_;
    array<"eager">(out) = {record.structure_votes, record.floor, record.eager_points,
                           record.eager_nodes};
    append(array<"scores">(out), record.scores.data(), n_sizes);
    for (std::uint32_t i = 0; i < tree.nodes_.size(); ++i) {
        array<"votes">(out).push_back(record.nodes.points(i));
        if (tree.nodes_[i].inner()) {
            const auto& votes = record.nodes.around(tree.nodes_[i].child).above;
            Tree::Target::template Heads<Kinds>::save(votes, out);
            continue;
        }
        const std::uint32_t index = tree.nodes_[i].leaf;
        const auto& leaf = record.leaves[index];
        array<"eager_votes">(out).push_back(leaf.eager_votes);
        array<"spared_levels">(out).push_back(leaf.spared);
        if (tree.leaves_[index].active()) array<"eager_counted">(out).push_back(leaf.eager_counted);
    }
}

template <class Rule, class Heads>
template <class Tree>
void EagerOf<Rule, Heads>::restore(Tree& tree, const typename Tree::State& in,
                                   typename Tree::Context& context) {
    auto& record = tree.record_;
    record.eager = context.shared.received() - tree.planted_ <= context.settings.kept_points;
    record.structure_votes = array<"eager">(in)[0];
    record.floor = static_cast<std::uint32_t>(array<"eager">(in)[1]);
    record.eager_points = array<"eager">(in)[2];
    record.eager_nodes = array<"eager">(in)[3];
    std::copy_n(array<"scores">(in).begin(), n_sizes, record.scores.begin());
    record.nodes.resize(tree.nodes_.size());
    typename Tree::Target::template Heads<Kinds>::InnerReader inner(in);
    for (std::uint32_t i = 0; i < tree.nodes_.size(); ++i) {
        record.nodes.points(i) = array<"votes">(in)[i];
        if (!tree.nodes_[i].inner()) continue;
        auto& pair = record.nodes.around(tree.nodes_[i].child);
        inner.restore(tree.statistics_, pair.above);
        pair.parent = i;
    }
    Base::restore(tree, in, context);
    Reader counted(array<"eager_counted">(in));
    for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i) {
        record.leaves[i].eager_votes = array<"eager_votes">(in)[i];
        record.leaves[i].spared = array<"spared_levels">(in)[i];
        if (array<"leaf_active">(in)[i]) record.leaves[i].eager_counted = counted.one();
    }
    // The tree was eager when it was saved: W has decreased, and the lists are divided already.
    if (!record.eager && record.eager_points == 0) become_honest(tree, tree.received_);
}

inline constexpr std::array window_names{"received", "buckets", "replacements"};

template <class Tree>
void Adaptive::save(const Tree& tree, typename Tree::State& out) {
    Base::save(tree, out);
    const auto& record = tree.record_;
    std::uint64_t buckets = 0;
    record.detector.for_each_bucket([&](std::size_t row, const Adwin::Bucket& bucket) {
        array<"bucket_row">(out).push_back(static_cast<Byte>(row));
        array<"bucket_total">(out).push_back(bucket.total);
        array<"bucket_variance">(out).push_back(bucket.variance);
        ++buckets;
    });
    array<"window">(out) = {record.detector.received(), buckets, record.replaced.size()};
    array<"window_sums">(out) = {record.detector.total(), record.detector.variance()};
    array<"replaced">(out) = record.replaced;
    record.errors.save(out);
    for (const auto& node : tree.nodes_)
        if (!node.inner()) record.memories[node.leaf].save(out);
}

template <class Tree>
void Adaptive::restore(Tree& tree, const typename Tree::State& in,
                       typename Tree::Context& context) {
    auto& record = tree.record_;
    record.replaced = array<"replaced">(in);
    if (!record.replaced.empty()) {
        tree.set_number(tree.number_ + record.replaced.size() * context.settings.n_trees,
                        context.settings);
        tree.planted_ = record.replaced.back();
    }
    Base::restore(tree, in, context);
    const auto& sums = array<"window_sums">(in);
    record.detector.restore(array<"window">(in)[0], sums[0], sums[1]);
    Reader row(array<"bucket_row">(in));
    Reader total(array<"bucket_total">(in)), variance(array<"bucket_variance">(in));
    for (Long i = 0; i < array<"window">(in)[1]; ++i)
        record.detector.restore_bucket(row.one(), {total.one(), variance.one()});
    record.errors.restore(in);
    typename Tree::Target::Memories::Reader memory(in);
    record.memories.resize(tree.leaves_.size());
    for (auto& leaf : record.memories) memory.restore(tree.statistics_, leaf);
}

inline constexpr std::array bag_names{"number", "planted", "left_out", "errors"};

template <class Tree>
void OneStream::save(const Tree& tree, typename Tree::State& out) {
    array<"bag">(out) = {tree.number_, tree.planted_, tree.record_.left_out, tree.record_.errors};
}

template <class Tree>
void OneStream::restore(Tree& tree, const typename Tree::State& in,
                        typename Tree::Context& context) {
    const auto& bag = array<"bag">(in);
    tree.set_number(bag[0], context.settings);
    tree.planted_ = bag[1];
    tree.record_.left_out = bag[2];
    tree.record_.errors = bag[3];
}

template <FeatureSpace Space, class Rule, Target TargetT>
TreeState<Space> Tree<Space, Rule, TargetT>::save() const {
    State out;
    array<"growth">(out).resize(growth_names.size());  // zeros, unless the rule sets them
    for (const auto& [name, total] : total_names) array<"totals">(out).push_back(totals_.*total);
    append(Target::importances(out), importance_.data(), importance_.size());
    for (const Node& node : nodes_) {
        array<"feature">(out).push_back(Space::saved(node.feature));
        array<"threshold">(out).push_back(node.threshold);
        array<"child">(out).push_back(node.inner() ? node.child : 0);
    }
    for (const Node& node : nodes_) {
        if (node.inner()) continue;
        const Leaf& leaf = leaves_[node.leaf];
        array<"leaf_node">(out).push_back(leaf.node);
        array<"leaf_depth">(out).push_back(leaf.depth);
        array<"leaf_born">(out).push_back(leaf.born);
        array<"leaf_active">(out).push_back(leaf.active());
        leaf.estimation.save(out);
        if (!leaf.active()) continue;
        array<"next_look">(out).push_back(leaf.next);
        array<"had_lost">(out).push_back(leaf.young() && Rule::has_lost(*this, node.leaf));
        if (leaf.settled())
            leaf.candidates->save(out);
        else
            save_young<typename Rule::template Evidence<Space, Target>>(
                out, Rule::attempt_of(*this, node.leaf));
    }
    Rule::save(*this, out);
    return out;
}

template <FeatureSpace Space, class Rule, Target TargetT>
Tree<Space, Rule, TargetT>::Tree(std::uint64_t number, const State& in, Context& context)
    : planted_(0), record_(context.settings) {
    set_number(number, context.settings);
    for (std::size_t i = 0; i < total_names.size(); ++i)
        totals_.*total_names[i].second = array<"totals">(in)[i];
    const auto& importance = Target::importances(in);
    importance_.resize(importance.size());
    std::copy(importance.begin(), importance.end(), importance_.begin());

    const auto& child = array<"child">(in);
    nodes_.resize(child.size());
    for (std::size_t i = 0; i < child.size(); ++i)
        nodes_[i] = {child[i] ? context.space.restored(array<"feature">(in)[i]) : Feature{},
                     array<"threshold">(in)[i], child[i], no_leaf};
    for (const Node& node : nodes_) learn_to_ask(node.feature, node.threshold);
    leaves_.resize(array<"leaf_node">(in).size());

    typename Target::Statistics::Reader statistics(in);
    CandidatesReader<Space, typename Rule::template Evidence<Space, Target>> candidates(in);
    for (std::uint32_t i = 0; i < leaves_.size(); ++i) {
        Leaf& leaf = leaves_[i];
        leaf.node = array<"leaf_node">(in)[i];
        leaf.depth = array<"leaf_depth">(in)[i];
        leaf.born = array<"leaf_born">(in)[i];
        depth_ = std::max(depth_, leaf.depth);
        nodes_[leaf.node].child = leaf.node;
        nodes_[leaf.node].leaf = i;
        leaf.estimation.restore(statistics_, statistics);
        if (!array<"leaf_active">(in)[i]) continue;
        ++active_;
        if (!candidates.are_there()) {
            candidates.skip();
            continue;
        }
        leaf.candidates = Candidates::restored(pool_, context.space, context.settings.split_points,
                                               candidates, context.scratch);
        planned_ += leaf.candidates->planned();
        ++settled_;
    }
    Rule::restore(*this, in, context);
}

}  // namespace riparian
