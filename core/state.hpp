// A tree as flat arrays, and back: what snapshots, pickles and Python's own looks at a tree are made
// of. What has varying length lies end to end. All that can be derived (sums, widths, the order of
// the heap) is left out and made again, so that a forest that comes back is the same in every bit and byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tree.hpp"

namespace riparian {

// What the candidates of the active leaves have counted in one stream.
struct CountsState {
    std::vector<std::uint8_t> counted;  // per active leaf: holds counts, not points
    std::vector<std::uint32_t> length;  // points kept, or rows of counts
    std::vector<std::uint32_t> label;   // times points kept
    std::vector<std::uint64_t> bits;    // times points kept: the words of their bits
    std::vector<std::uint64_t> count;   // times rows times (dims + 1) times split points
};

// Both streams; of one stream, the first has all.
struct EvidenceState {
    CountsState structure, estimation;
};

template <class Space>
struct TreeState {
    // The tree: points by stream (structure, estimation, ignored), splits (should, must), classes,
    // activations, refreshes, evictions and the point after which it stopped to grow (0: it grows).
    std::vector<std::uint64_t> totals;
    // Of Saffari's: its number, the point before which it was planted, the points left out, and how
    // many of these it got wrong (R18).
    std::vector<std::uint64_t> bag;
    std::vector<std::int64_t> importance;  // per column: Σ G over its splits (R14)

    // Per node, in order of creation. A leaf has no child: 0.
    std::vector<typename Space::Feature> feature;
    std::vector<float> threshold;
    std::vector<std::uint32_t> child;  // the left one; the right one is the next

    // Per leaf, in the order of their nodes.
    std::vector<std::uint32_t> leaf_node, leaf_depth;
    std::vector<std::uint64_t> leaf_born;
    std::vector<std::uint8_t> leaf_active;
    std::vector<std::uint32_t> leaf_classes;  // the length of its histogram
    std::vector<std::uint64_t> histogram;     // times that length

    // Per inactive leaf, in the order of the leaves: its key in the fringe, at least its ŝ (R12).
    std::vector<std::uint64_t> key_over, key_under;

    // Per active leaf, in the order of the leaves.
    std::vector<std::uint32_t> attempt, dims, split_points;
    std::vector<std::uint64_t> received;
    std::vector<std::uint64_t> planned;                   // bytes set aside for it
    std::vector<std::uint8_t> summed;                     // keeps its entropy sums up to date
    std::vector<typename Space::Feature> candidate_dims;  // times dims
    std::vector<std::uint64_t> split_point_born;          // times split points
    std::vector<float> split_threshold;                   // times dims times split points
    EvidenceState evidence;
};

// Reads one array after the other from its beginning.
template <class T>
class Reader {
public:
    explicit Reader(const std::vector<T>& values) : next_(values.data()) {}
    T one() { return *next_++; }
    const T* some(std::size_t n) {
        const T* first = next_;
        next_ += n;
        return first;
    }

private:
    const T* next_;
};

struct CountsReader {
    explicit CountsReader(const CountsState& state)
        : counted(state.counted),
          length(state.length),
          label(state.label),
          bits(state.bits),
          count(state.count) {}
    Reader<std::uint8_t> counted;
    Reader<std::uint32_t> length, label;
    Reader<std::uint64_t> bits, count;
};

struct EvidenceReader {
    explicit EvidenceReader(const EvidenceState& state)
        : structure(state.structure), estimation(state.estimation) {}
    CountsReader structure, estimation;
};

// The counters of the split points that are there, in a row of all: visitor(place in the row).
template <class Visitor>
void for_each_counter(const CandidateShape& shape, std::uint32_t split_points, Visitor&& visitor) {
    for (std::size_t d = 0; d <= shape.dims; ++d)
        for (std::size_t j = 0; j < split_points; ++j) visitor(d * shape.split_points + j);
}

template <class Stream>
void Counts<Stream>::save(const CandidateShape& shape, std::uint32_t split_points,
                          CountsState& out) const {
    out.counted.push_back(counted());
    out.length.push_back(counted() ? static_cast<std::uint32_t>(rows_.size() / shape.counters())
                                   : kept_);
    out.label.insert(out.label.end(), labels_, labels_ + kept_);
    out.bits.insert(out.bits.end(), bits_, bits_ + kept_ * shape.words());
    for (std::size_t row = 0; row < rows_.size(); row += shape.counters())
        for_each_counter(shape, split_points,
                         [&](std::size_t i) { out.count.push_back(rows_[row + i]); });
}

template <class Stream>
void Counts<Stream>::restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                             CountsReader& in) {
    const bool was_counted = in.counted.one();
    const std::uint32_t length = in.length.one();
    if (!was_counted) {
        for (std::uint32_t i = 0; i < length; ++i)
            keep(pool, shape, in.bits.some(shape.words()), in.label.one(), 1);
        return;
    }
    rows_.allocate(pool, std::size_t{length} * shape.counters());
    for (std::size_t row = 0; row < rows_.size(); row += shape.counters())
        for_each_counter(shape, split_points, [&](std::size_t i) {
            const std::uint64_t n = in.count.one();
            rows_.fit(pool, n);
            rows_.add(row + i, n);
        });
}

inline void TwoStreams::save(const CandidateShape& shape, std::uint32_t split_points,
                             EvidenceState& out) const {
    structure_.save(shape, split_points, out.structure);
    estimation_.save(shape, split_points, out.estimation);
}

inline void TwoStreams::restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                                bool summed, EvidenceReader& in, Pool& scratch) {
    structure_.restore(pool, shape, split_points, in.structure);
    estimation_.restore(pool, shape, split_points, in.estimation);
    totals_.restore(pool, shape, estimation_);
    if (summed) sums_.build(pool, shape, structure_, scratch);
}

inline void OneStream::save(const CandidateShape& shape, std::uint32_t split_points,
                            EvidenceState& out) const {
    counts_.save(shape, split_points, out.structure);
}

inline void OneStream::restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                               bool summed, EvidenceReader& in, Pool& scratch) {
    counts_.restore(pool, shape, split_points, in.structure);
    if (summed) sums_.build(pool, shape, counts_, scratch);
}

template <class Space, class Evidence>
void Candidates<Space, Evidence>::save(TreeState<Space>& out) const {
    out.attempt.push_back(attempt_);
    out.dims.push_back(shape_.dims);
    out.split_points.push_back(split_points_);
    out.received.push_back(received_);
    out.planned.push_back(planned_);
    out.summed.push_back(evidence_.summed());
    out.candidate_dims.insert(out.candidate_dims.end(), features(), features() + shape_.dims);
    out.split_point_born.insert(out.split_point_born.end(), born(), born() + split_points_);
    for (std::uint32_t d = 0; d < shape_.dims; ++d) {
        const float* row = thresholds() + std::size_t{d} * shape_.split_points;
        out.split_threshold.insert(out.split_threshold.end(), row, row + split_points_);
    }
    evidence_.save(shape_, split_points_, out.evidence);
}

template <class Space, class Evidence>
void Candidates<Space, Evidence>::restore(Pool& pool, std::uint32_t split_points,
                                          std::uint64_t received, std::uint64_t planned,
                                          bool summed, const std::uint64_t* born_then,
                                          const float* thresholds_then, EvidenceReader& evidence,
                                          Pool& scratch) {
    split_points_ = split_points;
    received_ = received;
    planned_ = planned;
    std::copy_n(born_then, split_points, born());
    for (std::uint32_t d = 0; d < shape_.dims; ++d)
        std::copy_n(thresholds_then + std::size_t{d} * split_points, split_points,
                    thresholds() + std::size_t{d} * shape_.split_points);
    evidence_.restore(pool, shape_, split_points, summed, evidence, scratch);
}

inline void EstimationTotals::restore(Pool& pool, const CandidateShape& shape,
                                      const EstimationCounts& estimation) {
    estimation.add_to(pool, shape, left_);
}

template <FeatureSpace Space, Rule rule>
TreeState<Space> Tree<Space, rule>::save() const {
    TreeState<Space> out;
    out.totals = {counters_.structure_points, counters_.estimation_points, counters_.ignored_points,
                  counters_.should_splits,    counters_.must_splits,       n_classes_,
                  fringe_.activations(),      fringe_.refreshes(),         counters_.evictions,
                  counters_.stopped_at};
    if constexpr (rule == Rule::one_stream)
        out.bag = {number_, bag_.planted, bag_.left_out, bag_.errors};
    out.importance.assign(importance_.begin(), importance_.end());
    for (const Node& node : nodes_) {
        out.feature.push_back(node.feature);
        out.threshold.push_back(node.threshold);
        out.child.push_back(node.inner() ? node.child : 0);
    }
    for (const Node& node : nodes_) {
        if (node.inner()) continue;
        const Leaf<Space, Evidence>& leaf = leaves_[node.leaf];
        out.leaf_node.push_back(leaf.node);
        out.leaf_depth.push_back(leaf.depth);
        out.leaf_born.push_back(leaf.born);
        out.leaf_active.push_back(leaf.active());
        out.leaf_classes.push_back(static_cast<std::uint32_t>(leaf.estimation.size()));
        for (Class y = 0; y < leaf.estimation.size(); ++y)
            out.histogram.push_back(leaf.estimation[y]);
        if (leaf.active()) {
            leaf.candidates->save(out);
        } else if (rule == Rule::two_streams) {
            out.key_over.push_back(fringe_.key(leaf.place).over);
            out.key_under.push_back(fringe_.key(leaf.place).under);
        }
    }
    return out;
}

template <FeatureSpace Space, Rule rule>
Tree<Space, rule>::Tree(std::uint64_t number, const TreeState<Space>& in, const Settings& settings,
                        Scratch<Space>& scratch)
    : number_(number) {
    if constexpr (rule == Rule::one_stream) {
        number_ = in.bag[0];
        bag_ = {in.bag[1], in.bag[2], in.bag[3]};
    }
    counters_.structure_points = in.totals[0];
    counters_.estimation_points = in.totals[1];
    counters_.ignored_points = in.totals[2];
    counters_.should_splits = in.totals[3];
    counters_.must_splits = in.totals[4];
    n_classes_ = static_cast<Class>(in.totals[5]);
    fringe_.restore(in.totals[6], in.totals[7]);
    counters_.evictions = in.totals[8];
    counters_.stopped_at = in.totals[9];
    importance_.resize(in.importance.size());
    std::copy(in.importance.begin(), in.importance.end(), importance_.begin());

    nodes_.resize(in.child.size());
    for (std::size_t i = 0; i < in.child.size(); ++i)
        nodes_[i] = {in.feature[i], in.threshold[i], in.child[i], no_leaf};
    leaves_.resize(in.leaf_node.size());

    Reader histogram(in.histogram), received(in.received), born(in.split_point_born);
    Reader attempt(in.attempt), dims(in.dims), split_points(in.split_points);
    Reader planned(in.planned);
    Reader summed(in.summed);
    Reader candidate_dims(in.candidate_dims);
    Reader thresholds(in.split_threshold);
    EvidenceReader evidence(in.evidence);
    for (std::uint32_t i = 0; i < leaves_.size(); ++i) {
        Leaf<Space, Evidence>& leaf = leaves_[i];
        leaf.node = in.leaf_node[i];
        leaf.depth = in.leaf_depth[i];
        leaf.born = in.leaf_born[i];
        depth_ = std::max<std::uint64_t>(depth_, leaf.depth);
        nodes_[leaf.node].child = leaf.node;
        nodes_[leaf.node].leaf = i;
        leaf.estimation.restore(histograms_, histogram.some(in.leaf_classes[i]),
                                in.leaf_classes[i]);
        if (!in.leaf_active[i]) continue;
        const std::uint32_t n_dims = dims.one(), points = split_points.one();
        const auto* drawn = candidate_dims.some(n_dims);
        scratch.drawn.assign(drawn, drawn + n_dims);
        leaf.candidates = Candidates<Space, Evidence>::make(pool_, scratch.drawn,
                                                            settings.split_points, attempt.one());
        leaf.candidates->restore(pool_, points, received.one(), planned.one(), summed.one(),
                                 born.some(points), thresholds.some(std::size_t{n_dims} * points),
                                 evidence, scratch.check.pool);
        planned_ += leaf.candidates->planned();
        ++active_;
    }
    if (rule == Rule::one_stream) return;  // nobody waits
    Reader over(in.key_over), under(in.key_under);
    for (std::uint32_t i = 0; i < leaves_.size(); ++i)
        if (!leaves_[i].active())
            fringe_.push({{over.one(), under.one()}, leaves_[i].node, i}, moved());
}

}  // namespace riparian
