// The rule that is eager, then honest, for Python, with what the forest trusts.
#include "rules/eager.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bindings/bound_forest.hpp"
#include "bindings/rules.hpp"
#include "target/classes.hpp"

namespace riparian {

// What the trees share, as arrays and back: the kept points, and T (R25).
template <class Shared>
concept TrustedState = requires(Shared& shared) {
    shared.kept;
    shared.evidence;
};
template <TrustedState State>
nb::object to_python(State&& state) {
    nb::object arrays = to_python(std::move(state.kept));
    arrays["trust"] = owned(std::vector<double>(state.evidence.begin(), state.evidence.end()));
    return arrays;
}
template <TrustedState State>
void from_python(const nb::handle& object, std::uint64_t points, State& state) {
    from_python(object, points, state.kept);
    std::vector<double> evidence;
    take(nb::cast<nb::dict>(object), "trust", evidence);
    std::copy_n(evidence.begin(), n_heads, state.evidence.begin());
}

namespace {

Eager::Settings eager(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                      bool sparse) {
    return {{two_streams, kept_points, sparse, true}};
}

// The weight of each head, in units of 2^-12.
template <class Bound>
std::vector<std::int64_t> trust(Bound& forest) {
    std::vector<std::int64_t> weights;
    forest.visit([&](std::uint64_t, const auto&, const auto& shared) {
        weights.assign(shared.trust.weights().begin(), shared.trust.weights().end());
    });
    return weights;
}

template <class Space>
void bind_eager_forest(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Eager, Classes>;
    bind_scheduled<Space, Eager, Classes>(m, name)
        .def("trust", &trust<Bound>)
        .def("set_judging", &Bound::set_judging, "judging"_a);
}

}  // namespace

void bind_eager(nb::module_& m) {
    nb::class_<Eager::Settings>(m, "EagerSettings");
    m.def("eager", &eager, "two_streams"_a, "kept_points"_a, "sparse"_a);
    bind_eager_forest<Columns>(m, "ColumnEager");
    bind_eager_forest<DepthDifferences>(m, "DepthEager");
}

}  // namespace riparian
