// The boundary to Python: arrays and numbers cross it, and the GIL is released around work. Python
// has validated all input.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bindings/input.hpp"
#include "bindings/points.hpp"
#include "bindings/rules.hpp"
#include "explain/bindings.hpp"
#include "forest.hpp"
#include "kernels/kernels.hpp"
#include "memory/trim.hpp"
#include "rules/adaptive.hpp"
#include "rules/eager.hpp"
#include "rules/keeping.hpp"
#include "rules/one_stream.hpp"
#include "rules/two_streams.hpp"
#include "space/columns.hpp"
#include "space/depth.hpp"
#include "target/classes.hpp"
#include "target/numbers.hpp"
#include "threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace riparian {
namespace {

// The list of a tree's arrays, for Python: name, type, what there is one entry for, which forests
// have it, and since which format.
template <class T>
const char* type_name(const std::vector<T>&) {
    if constexpr (std::is_same_v<T, Byte>) return "uint8";
    if constexpr (std::is_same_v<T, Word>) return "uint32";
    if constexpr (std::is_same_v<T, Long>) return "uint64";
    if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
    if constexpr (std::is_same_v<T, float>) return "float32";
    if constexpr (std::is_same_v<T, double>) return "float64";
    return "feature";  // uint32, or four float32
}

nb::list tree_fields() {
    nb::list fields;
    for_each_field(TreeState<DepthDifferences>{}, [&](const auto& field) {
        fields.append(nb::make_tuple(nb::str(field.name.data(), field.name.size()),
                                     type_name(field.values),
                                     nb::str(field.per.data(), field.per.size()),
                                     nb::str(field.of.data(), field.of.size()), field.since));
    });
    return fields;
}

// The bytes of what a forest holds once, for the kind that needs the most. They are known before
// any memory is allocated for a snapshot.
template <class... Things>
constexpr std::size_t largest = std::max({sizeof(Things)...});

template <class... Trees>
nb::dict sizes_of() {
    nb::dict sizes;
    sizes["tree"] = largest<Trees...>;
    sizes["node"] = largest<typename Trees::Node...>;
    sizes["leaf"] = largest<typename Trees::Leaf...>;
    sizes["waiting_leaf"] =
        largest<WaitingLeaves<Classes::Priority>::Entry, WaitingLeaves<Numbers::Priority>::Entry>;
    sizes["candidates"] = largest<typename Trees::Candidates...>;
    sizes["listed_leaf"] =
        sizeof(Eager::ListedLeaf) + largest<Classes::Memories, Numbers::Memories>;
    sizes["siblings"] =
        largest<NodeVotes<Classes::Statistics>::Pair, NodeVotes<Numbers::Statistics>::Pair>;
    sizes["detector_row"] = (Adwin::max_buckets + 1) * sizeof(Adwin::Bucket) + sizeof(std::size_t);
    sizes["segment"] =
        largest<detail::RowSegment<Class>, detail::RowSegment<Number>, detail::PixelSegment<Class>>;
    sizes["kept_image"] = sizeof(detail::KeptImage);
    return sizes;
}

// Returns the counters of a leaf and the number of words that the bits of one point take (see
// counts/candidate_shape.hpp).
std::pair<std::size_t, std::size_t> candidate_shape(std::uint32_t dims,
                                                    std::uint32_t split_points) {
    const CandidateShape shape{dims, split_points};
    return {shape.counters(), shape.words()};
}

template <class Names>
nb::list names(const Names& named) {
    nb::list all;
    for (const auto& [name, member] : named) all.append(name);
    return all;
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names{baseline_kernels.name};
#ifdef RIPARIAN_X86
    if (detail::best_kernels() != &baseline_kernels) names.emplace_back(avx2_kernels.name);
    if (detail::best_kernels() == &avx512_kernels) names.emplace_back(avx512_kernels.name);
#endif
    return names;
}

void use_kernels(const std::string& name) {
    for (const Kernels* candidate : {
             &baseline_kernels,
#ifdef RIPARIAN_X86
             &avx2_kernels,
             &avx512_kernels,
#endif
         })
        if (name == candidate->name) detail::chosen_kernels = candidate;
}

}  // namespace
}  // namespace riparian

NB_MODULE(_core, m) {
    using namespace riparian;
    detail::touch_exceptions();  // while there is memory for it

#ifdef RIPARIAN_SANITIZE
    m.attr("sanitized") = true;
#else
    m.attr("sanitized") = false;
#endif
    m.attr("block") = block;
    m.attr("tree_bytes") = sizeof(Tree<Columns, TwoStreams, Classes>);
    m.attr("few_points") = few_points;
    m.attr("whole_share") = whole_share;
    m.attr("halves_of_key") = halves_of_key;
    m.attr("segment_points") = segment_points;
    m.attr("most_buckets") = Adwin::max_buckets;
    m.attr("sizes") =
        sizes_of<Tree<Columns, TwoStreams, Classes>, Tree<Columns, Keeping, Classes>,
                 Tree<Columns, Eager, Classes>, Tree<Columns, Adaptive, Classes>,
                 Tree<Columns, OneStream, Classes>, Tree<DepthDifferences, TwoStreams, Classes>,
                 Tree<DepthDifferences, Keeping, Classes>, Tree<DepthDifferences, Eager, Classes>,
                 Tree<DepthDifferences, OneStream, Classes>, Tree<Columns, TwoStreams, Numbers>,
                 Tree<Columns, Keeping, Numbers>, Tree<Columns, Eager, Numbers>,
                 Tree<Columns, Adaptive, Numbers>>();
    m.attr("tree_fields") = tree_fields();
    m.def("candidate_shape", &candidate_shape, "dims"_a, "split_points"_a);
    m.attr("tree_totals") = names(total_names);
    m.attr("tree_growth") =
        nb::cast(std::vector<std::string>(growth_names.begin(), growth_names.end()));
    m.attr("tree_eager") =
        nb::cast(std::vector<std::string>(eager_names.begin(), eager_names.end()));
    m.attr("head_sizes") =
        nb::cast(std::vector<std::uint64_t>(head_sizes.begin(), head_sizes.end()));
    m.attr("tree_bag") = nb::cast(std::vector<std::string>(bag_names.begin(), bag_names.end()));
    m.def("scale_of", &Scale::of, "z"_a);
    m.attr("most_scale") = Scale::most;
    m.def("entropy_term", &entropy_term_exact, "n"_a);
    m.def("kernel_names", &kernel_names);
    m.def("use_kernels", &use_kernels, "name"_a);
    m.def("trim", &trim, nb::call_guard<nb::gil_scoped_release>());

    nb::class_<Rate>(m, "Rate").def(nb::init<std::uint64_t, double, double>(), "whole"_a,
                                    "exp_one"_a, "exp_rest"_a);
    nb::class_<HowMany>(m, "HowMany");
    m.def("one_and_poisson", [](const Rate& rate) { return HowMany(rate); }, "rate"_a);
    m.def("exactly", [](std::uint64_t n) { return HowMany(n); }, "n"_a);
    nb::class_<Columns>(m, "Columns")
        .def(nb::init<std::uint32_t, const HowMany&, const std::vector<std::uint32_t>&>(),
             "n_dims"_a, "candidates"_a, "categorical"_a);
    nb::class_<DepthDifferences>(m, "DepthDifferences")
        .def(nb::init<double, const HowMany&>(), "offset_std"_a, "candidates"_a);
    nb::class_<PixelArrays>(m, "Pixels")
        .def(
            "__init__",
            [](PixelArrays* self, decltype(PixelArrays::images) images,
               decltype(PixelArrays::pixels) pixels,
               float far) { new (self) PixelArrays{std::move(images), std::move(pixels), far}; },
            "images"_a, "pixels"_a, "far"_a);

    bind_input(m);
    bind_two_streams(m);
    bind_keeping(m);
    bind_eager(m);
    bind_adaptive(m);
    bind_one_stream(m);
    explain::bind(m);
}
