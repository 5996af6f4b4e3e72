// The rule for streams that change, for Python, with its detector.
#include "rules/adaptive.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings/bound_forest.hpp"
#include "bindings/rules.hpp"
#include "drift/log_exp.hpp"
#include "target/classes.hpp"

namespace riparian {
namespace {

Adaptive::Settings adaptive(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                            bool sparse, bool regrows, std::uint64_t n_trees,
                            std::uint32_t leaf_points, std::vector<float> memories, double fading,
                            double drift_confidence) {
    return {{two_streams, kept_points, sparse, regrows},
            n_trees,
            leaf_points,
            std::move(memories),
            fading,
            drift_confidence};
}

// 1 if the window was cut and its mean has risen, -1 if it has fallen, 0 if there was no cut.
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
    m.attr("most_memories") = most_memories;
    m.def("ln", &ln, "x"_a);
    m.def("exp_of_negative", &exp_of_negative, "x"_a);
    nb::class_<Adwin>(m, "Adwin")
        .def(nb::init<double>(), "delta"_a)
        .def("add", &add_to, "x"_a)
        .def_prop_ro("width", &Adwin::width)
        .def_prop_ro("total", &Adwin::total)
        .def_prop_ro("variance", &Adwin::variance);
    nb::class_<Adaptive::Settings>(m, "AdaptiveSettings");
    m.def("adaptive", &adaptive, "two_streams"_a, "kept_points"_a, "sparse"_a, "regrows"_a,
          "n_trees"_a, "leaf_points"_a, "memories"_a, "fading"_a, "drift_confidence"_a);
    bind_scheduled<Columns, Adaptive, Classes>(m, "ColumnAdaptive")
        .def("replacements", &BoundForest<Columns, Adaptive, Classes>::replacements);
}

}  // namespace riparian
