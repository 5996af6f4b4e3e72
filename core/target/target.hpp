// The target: what is predicted. A tree is generic over it, as it is over the feature space and the
// rule. All that depends on what a label is lies behind this contract, and one file per target
// (with a folder of its parts) meets it: classes.hpp.
//
// The streams stay types in every target. `Counts<Structure>` may choose a split,
// `EstimationTotals`, which have no labels and are the same for all targets, may allow it, and
// `Counts<Estimation>` become the `Statistics` of the children: no function of a target turns one
// into another. A tally is made of structure points only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "counts/estimation_totals.hpp"
#include "counts/streams.hpp"
#include "memory/pool.hpp"
#include "space/columns.hpp"
#include "split/halves.hpp"
#include "split/thresholds.hpp"
#include "state_fields.hpp"
#include "tree_totals.hpp"

namespace riparian {

namespace detail {
// Any state of a tree: targets save and restore the same arrays in every feature space.
using SomeState = TreeState<Columns>;
}  // namespace detail

// What a node holds of the points that vote there, and predicts with. All of it may lie in the
// pool.
template <class S, class T>
concept LeafStatistics =
    std::is_trivially_copyable_v<S> &&
    requires(S& mine, const S& leaf, Pool& pool, typename T::Label y, Weight n,
             std::span<const typename T::Label> labels, std::span<const Weight> weights,
             typename T::Check& check, detail::SomeState& out, typename S::Reader& in) {
        mine.add(pool, y, n);                     // a point of weight n votes
        mine.fill(pool, labels, weights, check);  // a list votes, in its order; no weights: all 1
        {
            leaf.total()
        } -> std::same_as<std::uint64_t>;  // weight that has voted; 0: the leaf abstains
        // How wrong the answer is for the points that voted: a leaf rises among those that wait
        // when this grows (R12).
        { leaf.errors() } -> std::totally_ordered;
        leaf.prefetch();
        mine.move_to(pool);  // another pool; the first one is about to go
        mine.release(pool);
        // What a budget counts for a leaf, whatever it holds now.
        { S::charge(typename T::Known{}) } -> std::same_as<std::size_t>;
        leaf.save(out);
        typename S::Reader;
        mine.restore(pool, in);
    };

// What the candidates of a leaf have counted in one stream, at the left child of each; `bits` are
// those of a point, one per counter (see counts/candidate_shape.hpp).
template <class C, class T>
concept StreamCounts =
    std::is_trivially_copyable_v<C> &&
    requires(C& mine, const C& counts, Pool& pool, const CandidateShape& shape,
             const std::uint64_t* bits, typename T::Label y, Weight n, typename T::Known known,
             std::uint32_t split_points, std::span<const typename T::Label> labels,
             void (*set_bits)(std::uint64_t*), const typename T::List::Row& row,
             detail::SomeState& out, typename C::Reader& in) {
        mine.add(pool, shape, bits, y, n, known);
        // The first points, all at once, if there are few enough of them to be kept as they are.
        { C::may_keep(shape, std::uint64_t{}, known) } -> std::same_as<bool>;
        mine.keep_first(pool, shape, labels, set_bits);
        { counts.kept_bits() } -> std::convertible_to<const std::uint64_t*>;
        mine.add_row(pool, shape, row, known);  // a part of a long list
        mine.count(pool, shape, known);         // what was kept is counted from now on
        {
            C::bytes_for(shape, std::uint64_t{}, known)
        } -> std::same_as<std::size_t>;  // of this many points
        counts.prefetch(shape, y);
        mine.move_to(pool, shape);
        mine.release(pool, shape);
        counts.save(shape, split_points, out);
        C::save_none(out);  // of a leaf that has no candidates
        typename C::Reader;
        in.skip();
        mine.restore(pool, shape, split_points, in);
    };

// Counts that predict: the children of a candidate start with them (R10).
template <class C, class T>
concept PredictingCounts =
    StreamCounts<C, T> &&
    requires(const C& counts, Pool& pool, const CandidateShape& shape, Counters& sums,
             typename T::Statistics& child, typename T::Check& check) {
        counts.fill_children(pool, shape, std::uint32_t{}, child, child, check);
        counts.add_to(pool, shape, sums);  // without labels: what EstimationTotals hold
    };

// What makes split checks of one stream's counts cheap. It is derived from them.
template <class Gains, class T, class Counts>
concept StreamGains =
    std::is_trivially_copyable_v<Gains> &&
    requires(Gains& mine, const Gains& gains, Pool& pool, const CandidateShape& shape,
             const Counts& counts, const std::uint64_t* bits, typename T::Label y, Weight n,
             std::uint32_t split_points, typename T::Check& check) {
        { gains.kept() } -> std::same_as<bool>;  // it follows the counts from now on
        mine.keep(pool, shape, counts, split_points, check);
        mine.add(pool, shape, counts, bits, y, n, split_points, check);
        mine.restore(pool, shape, counts, split_points, check);
        gains.prefetch(shape);
        mine.move_to(pool, shape);
        mine.release(pool, shape);
    };

// Of the two streams: the best valid candidate (R6, R9), and whether a check can be left out.
template <class Gains, class T>
concept TwoStreamGains =
    StreamGains<Gains, T, typename T::template Counts<Structure>> &&
    requires(Gains& mine, const Gains& gains, const CandidateShape& shape,
             const EstimationTotals& totals,
             const typename T::template Counts<Structure>& structure, std::uint32_t split_points,
             std::uint64_t alpha, bool (*may_be_valid)(std::uint32_t), typename T::Check& check) {
        {
            mine.best(shape, split_points, totals, alpha, structure, check)
        } -> std::same_as<std::optional<Choice<typename T::G>>>;
        {
            gains.none_above(double{}, shape, split_points, may_be_valid, check)
        } -> std::same_as<bool>;
    };

// A long list of points of one stream, counted many points at a time. It keeps nothing but its
// memory.
template <class L, class T>
concept LongListOf =
    requires(L& list, std::span<const typename T::Label> labels, std::span<const Weight> weights,
             const CandidateShape& shape, std::size_t split_points, const float* thresholds,
             std::span<float> values, bool (*equals)(std::size_t), const typename L::Row& row,
             void (*visitor)(const typename L::Row&)) {
        { list.set(labels, weights) } -> std::same_as<bool>;  // whether that pays
        // A row is a part of the list: its weight left of each counter (what EstimationTotals add),
        // and what the target's counts add.
        { row.left } -> std::convertible_to<const std::uint64_t*>;
        { list.weight() } -> std::same_as<std::uint64_t>;
        {
            L::stride(std::size_t{})
        } -> std::same_as<std::size_t>;  // from the values of one dimension to the next
        list.for_each_row(shape, split_points, thresholds, values, equals, visitor);
    };

// The labels of the structure points of a look (R20), and what a candidate gains by them. The
// geometry of the look (split/look.hpp) says which points are left of which threshold.
template <class L, class T>
concept LookTally =
    std::same_as<typename L::G, typename T::G> &&
    requires(L& mine, const L& tally, std::span<const typename T::Label> labels,
             std::span<const Weight> weights, std::optional<double> above, const typename T::G& g,
             const float* values, std::span<const std::uint32_t> split_points, typename T::G* sums,
             Thresholds<typename T::G>& thresholds, float* padded_values,
             const PointsOfHalves& halves) {
        mine.set(labels, weights);  // both must outlive the tally
        { tally.points() } -> std::same_as<std::size_t>;
        {
            tally.can_succeed(double{})
        } -> std::same_as<bool>;  // some split could gain more than this
        mine.begin(above);        // a search begins: smaller gains will not do
        { tally.gain(g) } -> std::same_as<double>;
        { tally.compare(g, g) > 0 } -> std::same_as<bool>;  // which gain is larger
        { tally.is_too_small(g) } -> std::same_as<bool>;    // known without a comparison of gains
        mine.expect(g);                                     // a valid candidate has this
        // All thresholds of a feature in one pass, if the tally can: the best, and sums from which
        // G follows.
        { tally.evaluates_at_once() } -> std::same_as<bool>;
        { mine.evaluate_at_once(values, split_points, bool{}, sums) } -> std::same_as<std::size_t>;
        { tally.g_of_sum(g) } -> std::same_as<typename T::G>;
        mine.evaluate(thresholds, padded_values);  // else those that may be the best
        { mine.evaluate_half(halves, std::size_t{}) } -> std::same_as<std::optional<typename T::G>>;
    };

// What a forest knows about its labels: how the answers of trees add up to one, in numbers for the
// user.
template <class O, class T>
concept AnswerOrder =
    requires(const O& order, const typename T::Statistics& answer, typename T::Voting voting,
             std::int64_t* row, const std::int64_t* sums, std::int64_t* out, double* numbers,
             typename T::Label y) {
        { order.outputs() } -> std::same_as<std::size_t>;  // numbers in an answer
        // Sums are integers, so that neither threads nor shards matter (R11). A row of them has
        // some more numbers, up to a multiple of four.
        { order.row_width() } -> std::same_as<std::size_t>;
        order.add(answer, voting, row);                         // one tree, unless it abstains
        { order.voters(sums) } -> std::same_as<std::uint32_t>;  // trees that did not
        order.write_sums(sums, out);
        order.write(sums, numbers);
        { order.tree_answer(answer) } -> std::same_as<typename O::TreeAnswer>;
        { order.misses(answer, y) } -> std::same_as<bool>;  // for rules that count errors (R18)
    };

template <class T>
concept Target =
    std::regular<typename T::Label> && std::regular<typename T::Known> &&
    std::default_initializable<typename T::Check> &&  // what a thread works in
    LeafStatistics<typename T::Statistics, T> &&
    StreamCounts<typename T::template Counts<Structure>, T> &&
    PredictingCounts<typename T::template Counts<Estimation>, T> &&
    PredictingCounts<typename T::template Counts<Shared>, T> &&
    TwoStreamGains<typename T::Bounds, T> &&  // cheap per point,
    TwoStreamGains<typename T::Sums, T> &&    // and cheap per check
    StreamGains<typename T::Sums, T, typename T::template Counts<Shared>> &&
    LongListOf<typename T::List, T> && LookTally<typename T::Tally, T> &&
    AnswerOrder<typename T::Order, T> &&
    requires(TreeTotals& totals, typename T::Label y, const typename T::Statistics& leaf,
             typename T::Importance& sum, const typename T::G& g,
             const typename T::Priority& priority, typename T::Priority::Reader& priorities,
             detail::SomeState& state, typename T::Sums& sums, const CandidateShape& shape,
             const typename T::template Counts<Shared>& shared, typename T::Check& check) {
        // What a tree knows about all labels that it has met, weighted or not: some counts are
        // sized by it.
        T::meet(totals, y);
        { T::known(totals) } -> std::same_as<typename T::Known>;
        // ŝ (R12), given the estimation points of the tree in the lifetime of the leaf.
        { T::priority(leaf, std::uint64_t{}) } -> std::same_as<typename T::Priority>;
        { priority < priority } -> std::same_as<bool>;
        priority.save(state);
        { priorities.one() } -> std::same_as<typename T::Priority>;
        // Σ G over the splits in a column, and the array in which it is saved.
        T::add_importance(sum, g);
        { T::importances(state) } -> std::same_as<std::vector<typename T::Importance>&>;
        // All candidates are valid (R18).
        {
            sums.best_of_all(shape, std::uint32_t{}, shared, check)
        } -> std::same_as<std::optional<Choice<typename T::G>>>;
    };

// A target for streams that change (R23): a leaf has memories of its votes that fade, and a tree
// trusts each.
template <class T>
concept FadingTarget =
    Target<T> && std::constructible_from<typename T::Trust, std::size_t> &&  // this many memories
    std::default_initializable<typename T::Trust::Test> &&
    requires(typename T::Memories& mine, const typename T::Memories& memories,
             typename T::Trust& my_trust, const typename T::Trust& trust,
             const typename T::Trust::Test& test, const typename T::Order& order,
             const typename T::Statistics& leaf, Pool& pool, const std::vector<float>& factors,
             typename T::Label y, Weight n, typename T::Known known, std::size_t width,
             std::int64_t* row, detail::SomeState& out, const detail::SomeState& in,
             typename T::Memories::Reader& reader) {
        mine.add(pool, factors, y, n);  // all fade, then the point is added
        mine.move_to(pool, width);      // width: how many memories
        mine.release(pool, width);
        { T::Memories::bytes(width, known) } -> std::same_as<std::size_t>;
        memories.save(out, width);
        mine.restore(pool, width, reader, leaf);
        { trust.memories() } -> std::same_as<std::size_t>;
        // Before a point is learned: its error, from 0 to 1, for the detector; and what `judge`
        // needs.
        { trust.test(memories, y, known) } -> std::same_as<typename T::Trust::Test>;
        { test.error } -> std::convertible_to<double>;
        my_trust.judge(memories, test, y, known, double{});
        order.add(trust.answer(memories, leaf), typename T::Voting{}, row);
        trust.save(out);
        my_trust.restore(in);
    };

// A target whose trees answer from nodes of several sizes (R25): a share of the true label per
// head, and the mixture of the heads by what the forest trusts.
template <class T>
concept HeadedTarget =
    Target<T> && std::default_initializable<typename T::Heads::Trust> &&
    requires(typename T::Heads::Trust& mine, const typename T::Heads::Trust& trust,
             const T::Heads& heads, const typename T::Order& order,
             const typename T::Statistics& node, typename T::Statistics& inner, Pool& pool,
             typename T::Label y, std::int64_t* row, const std::int64_t* sums,
             detail::SomeState& out, typename T::Heads::InnerReader& in) {
        { T::Heads::share(node, y) } -> std::same_as<std::int64_t>;
        mine.judge(sums, std::int64_t{});  // a point, by the shares of all trees
        mine.weigh();                      // its weights follow
        mine.restore(trust.evidence());
        order.add(heads, typename T::Voting{}, row);
        // Statistics of inner nodes.
        T::Heads::save(node, out);
        in.restore(pool, inner);
    };

}  // namespace riparian
