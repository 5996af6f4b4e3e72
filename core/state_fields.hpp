// The arrays of a tree, each described once: name, type, per what there is one entry, which forests
// have it, and since which format of snapshots. Snapshots, pickles and Python's view of a tree are
// made of this list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace riparian {

// Text as a parameter of a template.
template <std::size_t N>
struct Text {
    char letters[N];

    constexpr Text(const char (&text)[N]) { std::copy_n(text, N, letters); }
    constexpr std::string_view view() const { return {letters, N - 1}; }
};

// `Of`: the forests that have it. "two streams", "one stream" (R18), "kept points" (R19),
// "settling" (kept points, R20), "change" (R23), "eager" (R24), or nothing: all. A second word,
// "learning", marks what is of no use for predicting. `Since`: the first format of snapshots with
// it. A snapshot that lacks it is read as if it held zeros.
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

// What has varying length lies end to end. A leaf's candidates are those of an active leaf, and the
// leaves are in the order of their nodes.
template <class Feature>
using TreeFields = std::tuple<
    Field<"totals", Long, "tree">,                // see tree_totals.hpp
    Field<"bag", Long, "tree", "one stream", 2>,  // of Saffari's (R18): see `bag_names`
    Field<"growth", Long, "tree", "kept points, learning", 2>,  // with kept points (R21): see
                                                                // `growth_names`
    // Of streams that change (R23): see `window_names`; the detector's sums; L_j of the memories;
    // the buckets of the detector, the oldest first; the points at which trees gave way.
    Field<"window", Long, "tree", "change", 2>, Field<"window_sums", double, "tree", "change", 2>,
    Field<"evidence", double, "tree times memories", "change", 2>,
    Field<"bucket_row", Byte, "tree times buckets", "change", 2>,
    Field<"bucket_total", double, "tree times buckets", "change", 2>,
    Field<"bucket_variance", double, "tree times buckets", "change", 2>,
    Field<"replaced", Long, "tree times replacements", "change", 2>,
    // Eager, then honest (R24): see `eager_names`; the scores s_j.
    Field<"eager", Long, "tree", "eager, learning", 3>,
    Field<"scores", double, "tree", "eager, learning", 3>,
    Field<"importance", std::int64_t, "column">,  // Σ G over its splits (R14)
    // Nodes, in order of creation.
    Field<"feature", Feature, "node">, Field<"threshold", float, "node">,
    Field<"child", Word, "node">,  // the left one; the right one is the next. A leaf has none: 0
    // Points that have voted there (R25).
    Field<"votes", Long, "node", "eager", 3>,
    // Histograms of inner nodes, in the order of the nodes (R25).
    Field<"inner_classes", Word, "inner node", "eager", 3>,
    Field<"inner_histogram", Long, "inner node times inner_classes", "eager", 3>,
    // Leaves.
    Field<"leaf_node", Word, "leaf">, Field<"leaf_depth", Word, "leaf">,
    Field<"leaf_born", Long, "leaf">, Field<"leaf_active", Byte, "leaf", "learning">,
    Field<"leaf_classes", Word, "leaf">,  // the length of its histogram
    Field<"histogram", Long, "leaf times leaf_classes">,
    Field<"memory", float, "leaf times leaf_classes times memories", "change", 2>,  // F_j (R23)
    // Likewise: points that have arrived in its cell or were inherited.
    Field<"structure_arrivals", Long, "leaf", "change, learning", 2>,
    Field<"estimation_arrivals", Long, "leaf", "change, learning", 2>,
    // The weight of its eager votes, at the most, and the levels above it that do not count (R24).
    Field<"eager_votes", Long, "leaf", "eager", 3>,
    Field<"spared_levels", Word, "leaf", "eager", 3>,
    // Its key among those that wait (R12), a ratio that is at least ŝ.
    Field<"key_over", Long, "inactive leaf", "two streams">,
    Field<"key_under", Long, "inactive leaf", "two streams">,
    // Candidates.
    // Of a young leaf (R20), which has no candidates, else 0; whether a young one has lost a listed
    // point.
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
    // What they have counted, stream by stream; of one stream, the first has all. `counted`: it
    // holds rows of counts, not points; `length`: how many.
    Field<"structure_counted", Byte, "active leaf">, Field<"structure_length", Word, "active leaf">,
    Field<"structure_label", Word, "active leaf times points">,
    Field<"structure_bits", Long, "active leaf times points times words">,
    Field<"structure_count", Long, "active leaf times rows times (dims + 1) times split_points">,
    Field<"estimation_counted", Byte, "active leaf", "two streams">,
    Field<"estimation_length", Word, "active leaf", "two streams">,
    Field<"estimation_label", Word, "active leaf times points", "two streams">,
    Field<"estimation_bits", Long, "active leaf times points times words", "two streams">,
    Field<"estimation_count", Long, "active leaf times rows times (dims + 1) times split_points",
          "two streams">>;

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

// The array of this name.
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

// Reads one array piece by piece, from its beginning.
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

// visitor(field), in order.
template <class State, class Visitor>
void for_each_field(State&& state, Visitor&& visitor) {
    std::apply([&](auto&... field) { (visitor(field), ...); }, state.fields);
}

}  // namespace riparian
