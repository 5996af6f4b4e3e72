// The bindings of the paper's rule.
#include "rules/two_streams.hpp"

#include "bindings/bound_forest.hpp"
#include "bindings/rules.hpp"
#include "target/classes.hpp"
#include "target/numbers.hpp"

namespace riparian {
namespace {

TwoStreams::Settings two_streams(std::uint64_t seed, std::uint32_t split_points, double min_gain,
                                 std::uint64_t structure_cut, std::uint64_t ignore_cut,
                                 std::optional<std::uint64_t> fringe_size,
                                 std::optional<std::uint64_t> budget) {
    TwoStreams::Settings settings{{seed, split_points, min_gain}};
    settings.structure_cut = structure_cut;
    settings.ignore_cut = ignore_cut;
    settings.fringe_size = fringe_size.value_or(unbounded);
    settings.budget = budget.value_or(unbounded);
    return settings;
}

}  // namespace

void bind_two_streams(nb::module_& m) {
    nb::class_<TwoStreams::Settings>(m, "TwoStreamsSettings");
    m.def("two_streams", &two_streams, "seed"_a, "split_points"_a, "min_gain"_a, "structure_cut"_a,
          "ignore_cut"_a, "fringe_size"_a.none(), "budget"_a.none());
    bind_scheduled<Columns, TwoStreams, Classes>(m, "ColumnForest");
    bind_scheduled<DepthDifferences, TwoStreams, Classes>(m, "DepthForest");
    bind_scheduled<Columns, TwoStreams, Numbers>(m, "ColumnNumbers");
}

}  // namespace riparian
