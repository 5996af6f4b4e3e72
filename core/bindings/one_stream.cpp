// The bindings of Saffari's rule.
#include "rules/one_stream.hpp"

#include "bindings/bound_forest.hpp"
#include "bindings/rules.hpp"
#include "target/classes.hpp"

namespace riparian {
namespace {

OneStream::Settings one_stream(std::uint64_t seed, std::uint32_t split_points, double min_gain,
                               std::uint64_t min_samples, std::optional<std::uint64_t> max_depth,
                               bool range_thresholds, std::optional<std::uint64_t> replace_after,
                               const Rate& bagging) {
    OneStream::Settings settings{{seed, split_points, min_gain}};
    settings.min_samples = min_samples;
    settings.max_depth = max_depth.value_or(unbounded);
    settings.range_thresholds = range_thresholds;
    settings.replace_after = replace_after.value_or(unbounded);
    settings.bagging = bagging;
    return settings;
}

}  // namespace

void bind_one_stream(nb::module_& m) {
    nb::class_<OneStream::Settings>(m, "OneStreamSettings");
    m.def("one_stream", &one_stream, "seed"_a, "split_points"_a, "min_gain"_a, "min_samples"_a,
          "max_depth"_a.none(), "range_thresholds"_a, "replace_after"_a.none(), "bagging"_a);
    bind_forest<Columns, OneStream, Classes>(m, "ColumnSaffari");
    bind_forest<DepthDifferences, OneStream, Classes>(m, "DepthSaffari");
}

}  // namespace riparian
