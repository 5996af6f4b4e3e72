// The arrays of a tree, each described once: its name and type, what there is one entry for, which
// forests have it, and since which snapshot format. Snapshots, pickles and Python's view of a tree
// are generated from this list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace riparian {

// A text as a template parameter.
template <std::size_t N>
struct Text {
    char letters[N];

    constexpr Text(const char (&text)[N]) { std::copy_n(text, N, letters); }
    constexpr std::string_view view() const { return {letters, N - 1}; }
};

// `Of` names the forests that have the array: "two streams", "one stream" (R18), "kept points"
// (R19), "settling" (kept points, R20), "change" (R27), "eager" (R24), "classes" and "numbers"
// (R26), or nothing for all forests. "learning" marks arrays that predictions do not need. `Since`
// is the first snapshot format with the array. If a snapshot lacks it, it is read as zeros.
template <Text Name, class T, Text Per, Text Of = "", int Since = 1>
struct Field {
    static constexpr std::string_view name = Name.view();
    static constexpr std::string_view per = Per.view();
    static constexpr std::string_view of = Of.view();
    static constexpr int since = Since;
    std::vector<T> values;
};

using Byte = std::uint8_t;
using Word = std::uint32_t;
using Long = std::uint64_t;

// Parts of varying length are stored one after the other. Candidates are those of an active leaf,
// and leaves are in the order of their nodes.
template <class Feature>
using TreeFields = std::tuple<
    Field<"totals", Long, "tree">,                // see tree_totals.hpp
    Field<"bag", Long, "tree", "one stream", 2>,  // of Saffari's (R18): see `bag_names`
    Field<"growth", Long, "tree", "kept points, learning", 2>,  // with kept points (R21): see
                                                                // `growth_names`
    // Of streams that change (R27): see `window_names`; the sums of the detector; its buckets, the
    // oldest first; the points at which trees were replaced.
    Field<"window", Long, "tree", "change", 2>, Field<"window_sums", double, "tree", "change", 2>,
    Field<"bucket_row", Byte, "tree times buckets", "change", 2>,
    Field<"bucket_total", double, "tree times buckets", "change", 2>,
    Field<"bucket_variance", double, "tree times buckets", "change", 2>,
    Field<"replaced", Long, "tree times replacements", "change", 2>,
    // Of numbers, the discounted sum of its squared errors, and of ones (R27).
    Field<"errors", double, "tree", "change, numbers", 3>,
    // Eager, then honest (R24): see `eager_names`; the scores s_j.
    Field<"eager", Long, "tree", "eager", 3>, Field<"scores", double, "tree", "eager, learning", 3>,
    // Σ G over the splits (R14); for numbers, the sum of the squared error that the splits have
    // removed (R26).
    Field<"importance", std::int64_t, "column", "classes">,
    Field<"saved_error", double, "column", "numbers", 3>,
    // Nodes, in order of creation.
    Field<"feature", Feature, "node">, Field<"threshold", float, "node">,
    Field<"child", Word, "node">,  // the left one; the right one is the next. 0 for a leaf
    // The number of points that have voted there (R25).
    Field<"votes", Long, "node", "eager", 3>,
    // Histograms of inner nodes, in the order of the nodes (R25).
    Field<"inner_classes", Word, "inner node", "eager, classes", 3>,
    Field<"inner_histogram", Long, "inner node times inner_classes", "eager, classes", 3>,
    // For numbers, their weight and sum (R26).
    Field<"inner_weight", Long, "inner node", "eager, numbers", 3>,
    Field<"inner_sum", double, "inner node", "eager, numbers", 3>,
    // Leaves.
    Field<"leaf_node", Word, "leaf">, Field<"leaf_depth", Word, "leaf">,
    Field<"leaf_born", Long, "leaf">, Field<"leaf_active", Byte, "leaf", "learning">,
    Field<"leaf_classes", Word, "leaf", "classes">,  // the length of its histogram
    Field<"histogram", Long, "leaf times leaf_classes", "classes">,
    // For numbers (R26): the weight of the votes, their sum and the sum of their squares; and the
    // target that all of them share, NaN if they differ or if that is not known.
    Field<"leaf_weight", Long, "leaf", "numbers", 3>,
    Field<"leaf_sum", double, "leaf", "numbers", 3>,
    Field<"leaf_squares", double, "leaf", "numbers", 3>,
    Field<"leaf_same", double, "leaf", "numbers", 3>,
    // F_j (R27), and the number of classes in them; for numbers, weights and sums.
    Field<"memory_classes", Word, "leaf", "change, classes", 3>,
    Field<"memory", float, "leaf times memory_classes times memories", "change, classes", 2>,
    Field<"memory_weight", double, "leaf times memories", "change, numbers", 3>,
    Field<"memory_sum", double, "leaf times memories", "change, numbers", 3>,
    // An upper bound of the weight of eager votes, and the number of levels above that do not count
    // (R24).
    Field<"eager_votes", Long, "leaf", "eager", 3>,
    Field<"spared_levels", Word, "leaf", "eager", 3>,
    // The key of a waiting leaf (R12), a ratio that is at least ŝ.
    Field<"key_over", Long, "inactive leaf", "two streams, classes">,
    Field<"key_under", Long, "inactive leaf", "two streams, classes">,
    Field<"waiting_error", double, "inactive leaf", "two streams, numbers", 3>,  // of numbers
    // Candidates.
    // For a young leaf (R20), which has no candidates, otherwise 0; and whether a young leaf has
    // lost a listed point.
    Field<"next_look", Word, "active leaf", "kept points", 2>,
    Field<"had_lost", Byte, "active leaf", "settling", 2>,
    Field<"eager_counted", Long, "active leaf", "eager", 3>,  // a of R24
    Field<"attempt", Word, "active leaf">, Field<"dims", Word, "active leaf">,
    Field<"split_points", Word, "active leaf">,  // so far
    Field<"received", Long, "active leaf">,
    Field<"planned", Long, "active leaf">,  // bytes set aside for it
    Field<"summed", Byte, "active leaf">,   // keeps its entropy sums up to date
    Field<"candidate_dims", Feature, "active leaf times dims">,
    Field<"split_point_born", Long, "active leaf times split_points">,
    Field<"split_threshold", float, "active leaf times dims times split_points">,
    // The counts of the candidates, stream by stream; with one stream, the first has all.
    // `counted`: whether rows of counts are stored instead of points; `length`: the number of
    // these.
    Field<"structure_counted", Byte, "active leaf", "classes">,
    Field<"structure_length", Word, "active leaf", "classes">,
    Field<"structure_label", Word, "active leaf times points", "classes">,
    Field<"structure_bits", Long, "active leaf times points times words", "classes">,
    Field<"structure_count", Long, "active leaf times rows times (dims + 1) times split_points",
          "classes">,
    Field<"estimation_counted", Byte, "active leaf", "two streams, classes">,
    Field<"estimation_length", Word, "active leaf", "two streams, classes">,
    Field<"estimation_label", Word, "active leaf times points", "two streams, classes">,
    Field<"estimation_bits", Long, "active leaf times points times words", "two streams, classes">,
    Field<"estimation_count", Long, "active leaf times rows times (dims + 1) times split_points",
          "two streams, classes">,
    // For numbers (R26): weights, sums and sums of squares left of each candidate, and last those
    // of all points. For structure points, only the squares of all points are stored.
    Field<"structure_weight", Long, "active leaf times (dims + 1) times split_points", "numbers",
          3>,
    Field<"structure_sum", double, "active leaf times (dims + 1) times split_points", "numbers", 3>,
    Field<"structure_squares", double, "active leaf times split_points", "numbers", 3>,
    Field<"estimation_weight", Long, "active leaf times (dims + 1) times split_points", "numbers",
          3>,
    Field<"estimation_sum", double, "active leaf times (dims + 1) times split_points", "numbers",
          3>,
    Field<"estimation_squares", double, "active leaf times (dims + 1) times split_points",
          "numbers", 3>>;

// A tree as flat arrays.
template <class Space>
class TreeState {
public:
    using Fields = TreeFields<typename Space::Feature>;

    Fields fields;
};

namespace detail {

template <Text name, class Fields>
consteval std::size_t place_of_field() {
    return []<std::size_t... i>(std::index_sequence<i...>) {
        std::size_t place = sizeof...(i);
        ((std::tuple_element_t<i, Fields>::name == name.view() ? void(place = i) : void()), ...);
        return place;
    }(std::make_index_sequence<std::tuple_size_v<Fields>>());
}

}  // namespace detail

// Returns the array of this name.
template <Text name, class Space>
auto& array(TreeState<Space>& state) {
    return std::get<detail::place_of_field<name, typename TreeState<Space>::Fields>()>(state.fields)
        .values;
}
template <Text name, class Space>
const auto& array(const TreeState<Space>& state) {
    return std::get<detail::place_of_field<name, typename TreeState<Space>::Fields>()>(state.fields)
        .values;
}

template <class T>
void append(std::vector<T>& out, const T* first, std::size_t n) {
    out.insert(out.end(), first, first + n);
}

// Reads one array piece by piece, from its start.
template <class T>
class Reader {
public:
    explicit Reader(const std::vector<T>& values) : next_(values.data()) {}
    T one() { return *next_++; }
    T peek() const { return *next_; }
    const T* many(std::size_t n) {
        const T* first = next_;
        next_ += n;
        return first;
    }

private:
    const T* next_;
};

// Calls visitor(field) for each field, in order.
template <class State, class Visitor>
void for_each_field(State&& state, Visitor&& visitor) {
    std::apply([&](auto&... field) { (visitor(field), ...); }, state.fields);
}

}  // namespace riparian
