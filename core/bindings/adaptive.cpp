// The bindings of the rule for streams that change, and of its detector.
#include "rules/adaptive.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/bound_forest.hpp"
#include "bindings/heads.hpp"
#include "bindings/rules.hpp"
#include "drift/log_exp.hpp"
#include "target/classes.hpp"
#include "target/numbers.hpp"

namespace riparian {
namespace {

Adaptive::Settings adaptive(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                            bool sparse, const std::vector<double>& coverages, std::uint64_t lag,
                            std::uint64_t n_trees, double drift_confidence) {
    return {{{two_streams, kept_points, sparse, true}, true, coverages, lag},
            n_trees,
            drift_confidence};
}

// Returns 1 if the window was cut and its mean has risen, -1 if it has fallen, and 0 if there was
// no cut.
int add_to(Adwin& detector, double x) {
    switch (detector.add(x)) {
        case Adwin::Change::risen:
            return 1;
        case Adwin::Change::fallen:
            return -1;
        default:
            return 0;
    }
}

}  // namespace

void bind_adaptive(nb::module_& m) {
    m.attr("tree_window") =
        nb::cast(std::vector<std::string>(window_names.begin(), window_names.end()));
    m.attr("memory_factors") =
        nb::cast(std::vector<float>(memory_factors<float>.begin(), memory_factors<float>.end()));
    m.def("ln", &ln, "x"_a);
    m.def("exp_of_negative", &exp_of_negative, "x"_a);
    nb::class_<Adwin>(m, "Adwin")
        .def(nb::init<double>(), "delta"_a)
        .def("add", &add_to, "x"_a)
        .def_prop_ro("width", &Adwin::width)
        .def_prop_ro("total", &Adwin::total)
        .def_prop_ro("variance", &Adwin::variance);
    nb::class_<Adaptive::Settings>(m, "AdaptiveSettings");
    m.def("adaptive", &adaptive, "two_streams"_a, "kept_points"_a, "sparse"_a, "coverages"_a,
          "lag"_a, "n_trees"_a, "drift_confidence"_a);
    bind_headed<Columns, Adaptive, Classes>(m, "ColumnAdaptive")
        .def("replacements", &BoundForest<Columns, Adaptive, Classes>::replacements);
    bind_headed<Columns, Adaptive, Numbers>(m, "ColumnAdaptiveNumbers")
        .def("replacements", &BoundForest<Columns, Adaptive, Numbers>::replacements);
}

}  // namespace riparian
