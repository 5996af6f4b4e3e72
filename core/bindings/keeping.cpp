// The bindings of the rule with kept points.
#include "rules/keeping.hpp"

#include "bindings/bound_forest.hpp"
#include "bindings/rules.hpp"
#include "target/classes.hpp"
#include "target/numbers.hpp"

namespace riparian {
namespace {

Keeping::Settings keeping(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                          bool sparse, bool regrows) {
    return {two_streams, kept_points, sparse, regrows};
}

}  // namespace

void bind_keeping(nb::module_& m) {
    nb::class_<Keeping::Settings>(m, "KeepingSettings");
    m.def("keeping", &keeping, "two_streams"_a, "kept_points"_a, "sparse"_a, "regrows"_a);
    bind_scheduled<Columns, Keeping, Classes>(m, "ColumnKeeping");
    bind_scheduled<DepthDifferences, Keeping, Classes>(m, "DepthKeeping");
    bind_scheduled<Columns, Keeping, Numbers>(m, "ColumnKeepingNumbers");
}

}  // namespace riparian
