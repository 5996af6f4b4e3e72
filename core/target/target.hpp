// The target: what is predicted. A tree is generic over it, as over the feature space and the rule.
// Everything that depends on the meaning of a label is behind this contract. One file per target,
// with a folder of its parts, implements it: classes.hpp and numbers.hpp.
//
// The streams are types in every target. `Counts<Structure>` may choose a split.
// `EstimationTotals`, which have no labels and are the same for all targets, may allow it.
// `Counts<Estimation>` become the `Statistics` of the children.
//
// No function of a target converts one into another. A tally is made of structure points only.
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
#include "target/heads.hpp"
#include "tree_totals.hpp"

namespace riparian {

namespace detail {
// Any state of a tree: targets save and restore the same arrays in every feature space.
using SomeState = TreeState<Columns>;
}  // namespace detail

// What a node stores of the points that vote there, and predicts with. All of it may be in the
// pool.
template <class S, class T>
concept LeafStatistics =
    std::is_trivially_copyable_v<S> &&
    requires(S& mine, const S& leaf, Pool& pool, typename T::Label y, Weight n,
             std::span<const typename T::Label> labels, std::span<const Weight> weights,
             typename T::Check& check, detail::SomeState& out, typename S::Reader& in) {
        mine.add(pool, y, n);  // a point of weight n votes
        mine.fill(pool, labels, weights,
                  check);  // a list votes, in its order; without weights, all are 1
        {
            leaf.total()
        } -> std::same_as<std::uint64_t>;  // weight that has voted; if 0, the leaf abstains
        // How wrong the answer is for the points that voted. When this grows, the leaf rises among
        // those that wait (R12).
        { leaf.errors() } -> std::totally_ordered;
        {
            leaf.is_pure()
        } -> std::same_as<bool>;  // whether all that have voted have the same label
        leaf.prefetch();
        mine.move_to(pool);  // to another pool; the first one is about to be freed
        mine.release(pool);
        // The bytes that a budget charges for a leaf, whatever it holds at present.
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
             std::uint32_t split_points, const typename T::List::Row& row, detail::SomeState& out,
             typename C::Reader& in) {
        mine.add(pool, shape, bits, y, n, known);
        // Whether the first points may be kept as they are (`PointKeepingCounts`).
        { C::keeps_points } -> std::convertible_to<bool>;
        mine.add_row(pool, shape, row, known);  // a part of a long list
        mine.count(pool, shape, known);         // kept points are counted from now on
        {
            C::bytes_for(shape, std::uint64_t{}, known)
        } -> std::same_as<std::size_t>;  // of this many points
        counts.prefetch(shape, y);
        mine.move_to(pool, shape);
        mine.release(pool, shape);
        counts.save(shape, split_points, out);
        C::save_none(out);  // for a leaf that has no candidates
        typename C::Reader;
        in.skip();
        mine.restore(pool, shape, split_points, in);
    };

// Counts that keep their first points, all at once, if there are few enough of them.
template <class C, class T>
concept PointKeepingCounts =
    !C::keeps_points || requires(C& mine, const C& counts, Pool& pool, const CandidateShape& shape,
                                 typename T::Known known, std::span<const typename T::Label> labels,
                                 void (*set_bits)(std::uint64_t*)) {
        { C::may_keep(shape, std::uint64_t{}, known) } -> std::same_as<bool>;
        mine.keep_first(pool, shape, labels, set_bits);
        { counts.kept_bits() } -> std::convertible_to<const std::uint64_t*>;
    };

// Counts that predict: the children of a candidate start with them (R10).
template <class C, class T>
concept PredictingCounts =
    StreamCounts<C, T> &&
    requires(const C& counts, Pool& pool, const CandidateShape& shape, Counters& sums,
             typename T::Statistics& child, typename T::Check& check) {
        counts.fill_children(pool, shape, std::uint32_t{}, child, child, check);
        counts.add_to(pool, shape, sums);  // without labels: what EstimationTotals contain
    };

// What makes split checks of one stream's counts cheap. It is derived from the counts.
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

// For two streams: the best valid candidate (R6, R9), and whether a check can be omitted.
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

// A long list of points of one stream, counted many points at a time. Only its memory outlives a
// list.
template <class L, class T>
concept LongListOf =
    requires(L& list, std::span<const typename T::Label> labels, std::span<const Weight> weights,
             const CandidateShape& shape, std::size_t split_points, const float* thresholds,
             std::span<float> values, bool (*equals)(std::size_t), const typename L::Row& row,
             void (*visitor)(const typename L::Row&)) {
        { list.set(labels, weights) } -> std::same_as<bool>;  // whether that pays
        // A row is a part of the list: its weight left of each counter, which EstimationTotals add,
        // and what the target's counts add.
        { row.left } -> std::convertible_to<const std::uint64_t*>;
        { list.weight() } -> std::same_as<std::uint64_t>;
        {
            L::stride(std::size_t{})
        } -> std::same_as<std::size_t>;  // the distance between the values of two dimensions
        list.for_each_row(shape, split_points, thresholds, values, equals, visitor);
    };

// The labels of the structure points of a look (R20), and the gain of a candidate. The geometry of
// the look (split/look.hpp) determines which points are left of which threshold.
template <class L, class T>
concept LookTally =
    std::same_as<typename L::G, typename T::G> &&
    requires(L& mine, const L& tally, std::span<const typename T::Label> labels,
             std::span<const Weight> weights, std::optional<double> above, const typename T::G& g,
             const float* values, std::span<const std::uint32_t> split_points, typename T::G* sums,
             const PointsOfHalves& halves) {
        mine.set(labels, weights);  // both must outlive the tally
        { tally.points() } -> std::same_as<std::size_t>;
        {
            tally.can_succeed(double{})
        } -> std::same_as<bool>;  // whether some split could gain more than this
        mine.begin(above);        // a search begins: smaller gains are not enough
        { tally.gain(g) } -> std::same_as<double>;
        { tally.compare(g, g) > 0 } -> std::same_as<bool>;  // which gain is larger
        { tally.is_too_small(g) } -> std::same_as<bool>;    // known without a comparison of gains
        mine.expect(g);                                     // a valid candidate has this
        // All thresholds of a feature in one pass, if the tally supports it: the best one, and sums
        // from which G follows.
        { L::always_at_once } -> std::convertible_to<bool>;
        { tally.evaluates_at_once() } -> std::same_as<bool>;
        { mine.evaluate_at_once(values, split_points, bool{}, sums) } -> std::same_as<std::size_t>;
        { tally.g_of_sum(g) } -> std::same_as<typename T::G>;
        { mine.evaluate_half(halves, std::size_t{}) } -> std::same_as<std::optional<typename T::G>>;
        // All features in one pass, if the tally can and those that choose are those that vote.
        { tally.chooses_at_once(std::size_t{}) } -> std::same_as<bool>;
        {
            mine.choose_at_once(values, std::size_t{}, std::size_t{}, split_points, std::size_t{})
        } -> std::same_as<std::optional<LookChoice<typename T::G>>>;
    } &&
    (L::always_at_once ||
     requires(L& mine, Thresholds<typename T::G>& thresholds, float* padded_values) {
         mine.evaluate(thresholds, padded_values);  // the thresholds that may be the best
     });

// What a forest knows about its labels: how it combines the answers of trees into numbers for the
// user.
template <class O, class T>
concept AnswerOrder =
    requires(const O& order, const typename T::Statistics& leaf, typename T::Known known,
             typename T::Voting voting, std::int64_t* row, const std::int64_t* sums,
             std::int64_t* out, double* numbers) {
        { order.outputs() } -> std::same_as<std::size_t>;  // numbers in an answer
        // Sums are integers, so that neither threads nor shards matter (R11). A row of them has
        // additional numbers, up to a multiple of four.
        { order.row_width() } -> std::same_as<std::size_t>;
        order.add(T::answer(leaf, known), voting, row);         // one tree, unless it abstains
        { order.voters(sums) } -> std::same_as<std::uint32_t>;  // trees that did not
        order.write_sums(sums, out);
        order.write(sums, numbers);
        { order.tree_answer(T::answer(leaf, known)) } -> std::same_as<typename O::TreeAnswer>;
    };

template <class T>
concept Target =
    std::regular<typename T::Label> && std::regular<typename T::Known> &&
    std::default_initializable<typename T::Check> &&  // the scratch memory of a thread
    LeafStatistics<typename T::Statistics, T> &&
    StreamCounts<typename T::template Counts<Structure>, T> &&
    PointKeepingCounts<typename T::template Counts<Structure>, T> &&
    PredictingCounts<typename T::template Counts<Estimation>, T> &&
    PointKeepingCounts<typename T::template Counts<Estimation>, T> &&
    TwoStreamGains<typename T::Bounds, T> &&  // cheap per point
    TwoStreamGains<typename T::Sums, T> &&    // cheap per check
    LongListOf<typename T::List, T> && LookTally<typename T::Tally, T> &&
    AnswerOrder<typename T::Order, T> &&
    requires(TreeTotals& totals, typename T::Label y, const typename T::Statistics& leaf,
             typename T::Importance& sum, const typename T::G& g,
             const typename T::Priority& priority, typename T::Priority::Reader& priorities,
             detail::SomeState& state, typename T::Known known) {
        // What a tree knows about all labels that it has met, weighted or not. The size of some
        // counts depends on it.
        T::meet(totals, y);
        { T::known(totals) } -> std::same_as<typename T::Known>;
        // The prediction of a leaf, from its statistics; an order adds up predictions.
        { T::answer(leaf, known).total() } -> std::same_as<std::uint64_t>;  // 0 if it abstains
        // ŝ (R12), given the estimation points of the tree in the lifetime of the leaf.
        { T::priority(leaf, std::uint64_t{}) } -> std::same_as<typename T::Priority>;
        { priority < priority } -> std::same_as<bool>;
        priority.save(state);
        { priorities.one() } -> std::same_as<typename T::Priority>;
        // Σ G over the splits in a column, and the name of the array in which it is saved.
        T::add_importance(sum, g);
        { T::importances(state) } -> std::same_as<std::vector<typename T::Importance>&>;
    };

// A target of the forest of one stream (R18), whose points both choose and predict.
template <class T>
concept OneStreamTarget =
    Target<T> && PredictingCounts<typename T::template Counts<Shared>, T> &&
    StreamGains<typename T::Sums, T, typename T::template Counts<Shared>> &&
    requires(typename T::Sums& sums, const CandidateShape& shape,
             const typename T::template Counts<Shared>& shared, typename T::Check& check,
             const typename T::Order& order, const typename T::Statistics& leaf,
             typename T::Known known, typename T::Label y) {
        // All candidates are valid.
        {
            sums.best_of_all(shape, std::uint32_t{}, shared, check)
        } -> std::same_as<std::optional<Choice<typename T::G>>>;
        { order.misses(T::answer(leaf, known), y) } -> std::same_as<bool>;  // errors are counted
    };

// A target whose answers do not follow the last label.
struct NoFollowing {
    using State = std::vector<double>;

    explicit NoFollowing(std::uint64_t) {}
    static constexpr bool on() { return false; }
    static constexpr std::size_t bytes() { return 0; }
    static void correct(double*) {}
    State state() const { return {}; }
    void restore(const State&) {}
};

// A target without intervals.
struct NoIntervals {
    struct Neighbours {};
    struct Standing {};
    struct Distribution {};
    using State = std::vector<double>;

    explicit NoIntervals(const std::vector<double>&) {}
    static constexpr bool empty() { return true; }
    State state() const { return {}; }
    void restore(const State&) {}
};

// What a target learns along the stream of the intervals around its answers (R28), made from their
// coverages. Where it is not always empty, a point is judged by where it stands among its
// neighbours.
template <class I, class T>
concept IntervalsOf = std::constructible_from<I, const std::vector<double>&> &&
                      requires(I& mine, const I& intervals) {
                          { intervals.empty() } -> std::same_as<bool>;
                          mine.restore(intervals.state());  // the levels
                      } &&
                      (std::same_as<I, NoIntervals> ||
                       requires(I& mine, typename I::Standing& standing,
                                const typename I::Neighbours& neighbours, typename T::Label y) {
                           standing.add(neighbours, y);  // of one tree,
                           standing.add(standing);       // or of several; in any order
                           mine.judge(standing, y, double{});
                           // Or these wait until all trees have answered (R29).
                           standing.keep(neighbours);
                           standing.settle(y, typename T::Following{0}.correction().around(0.0));
                       });

template <class T>
inline constexpr bool has_intervals = !std::same_as<typename T::Intervals, NoIntervals>;

// How answers follow the last label that is known (R29), given for which point after it they are;
// 0: they do not. Where it can be on, a point is judged by what the trees answer.
template <class F, class T>
concept FollowingOf =
    std::constructible_from<F, std::uint64_t> && requires(F& mine, const F& following) {
        { following.on() } -> std::same_as<bool>;
        { following.bytes() } -> std::same_as<std::size_t>;
        following.correct(static_cast<double*>(nullptr));  // an answer of the trees
        mine.restore(following.state());
    } && (std::same_as<F, NoFollowing> || requires(F& mine, typename T::Label y, double answer) {
        mine.judge(y, answer);
        { mine.correction().of(answer) } -> std::same_as<double>;
    });

// A target whose trees answer from several heads (R25, R27): from nodes of several sizes and from
// the memories of a leaf. Each head has a score for the label of a point, and the forest mixes
// heads by its trust.
template <class T, class Kinds>
concept HeadsOf =
    Target<T> && IntervalsOf<typename T::Intervals, T> && FollowingOf<typename T::Following, T> &&
    std::default_initializable<typename T::template Heads<Kinds>::Trust> &&
    requires(typename T::template Heads<Kinds>::Trust& mine,
             const typename T::template Heads<Kinds>::Trust& trust,
             const typename T::template Heads<Kinds>& heads, const typename T::Order& order,
             const typename T::Statistics& node, typename T::Statistics& inner, Pool& pool,
             typename T::Label y, typename T::Known known, std::int64_t* row,
             const std::int64_t* sums, detail::SomeState& out,
             typename T::template Heads<Kinds>::InnerReader& in) {
        // What each head answers for a point before it is learned, summed over trees, and the score
        // of a head of one tree after the point. `known` is what was known before the point.
        { heads.shares(y) } -> std::same_as<PerHead<Kinds, std::int64_t>>;
        {
            T::template Heads<Kinds>::faded_score(double{}, std::int64_t{}, y, known)
        } -> std::same_as<double>;
        // The error of a head of one tree.
        { T::template Heads<Kinds>::error(std::int64_t{}, y, known) } -> std::same_as<double>;
        mine.judge(sums, std::int64_t{}, y, known);  // a point, given the shares of all trees
        mine.weigh();                                // computes its weights
        mine.restore(trust.state());                 // an array of float64
        order.add(heads, typename T::Voting{}, row);
        // A row per head, summed over trees, before the weights are known; then the mixture.
        order.add_heads(heads, row);
        order.mix_heads(trust.weights(), row);
        // Statistics of inner nodes.
        T::template Heads<Kinds>::save(node, out);
        in.restore(pool, inner);
    };

template <class T>
concept HeadedTarget = HeadsOf<T, HeadsBySize>;

// The same with memories (R27): what a leaf remembers of its last points, which fades. And what a
// tree knows of its errors, so that its detector can be given numbers from 0 to 1.
template <class T>
concept FadingTarget =
    HeadsOf<T, HeadsWithMemories> && std::is_trivially_copyable_v<typename T::Memories> &&
    requires(typename T::Memories& mine, const typename T::Memories& memories, Pool& pool,
             typename T::Label y, Weight n, detail::SomeState& out, const detail::SomeState& saved,
             typename T::Memories::Reader& in, typename T::Errors& errors) {
        mine.add(pool, y, n);  // all fade, then the point is added
        mine.move_to(pool);
        mine.release(pool);
        { T::Memories::charge(typename T::Known{}) } -> std::same_as<std::size_t>;
        memories.save(out);
        in.restore(pool, mine);
        { errors.scaled(double{}) } -> std::same_as<double>;  // one more
        errors.save(out);
        errors.restore(saved);
    };

}  // namespace riparian
