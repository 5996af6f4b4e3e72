// The Python methods of a forest whose trees have heads (R25): what the forest trusts.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bound_forest.hpp"
#include "target/heads.hpp"
#include "target/numbers/following.hpp"

namespace riparian {

// T (R25), what else a target saves with it, and what follows the last target (R29) are one array
// for Python.
template <class State>
std::vector<double> joined(const State& trust, const std::vector<double>& following) {
    std::vector<double> values(trust.begin(), trust.end());
    values.insert(values.end(), following.begin(), following.end());
    return values;
}
template <class State>
std::vector<double> take_trust(const std::vector<double>& values, State& trust) {
    if (values.size() < trust.size()) throw std::invalid_argument("trust has another length");
    std::copy_n(values.begin(), trust.size(), trust.begin());
    return {values.begin() + static_cast<std::ptrdiff_t>(trust.size()), values.end()};
}

// Converts what the trees share to arrays and back: the kept points, and T (R25).
template <class Shared>
concept TrustedState = requires(Shared& shared) {
    shared.kept;
    shared.evidence;
};
template <TrustedState State>
nb::object to_python(State&& state) {
    nb::object arrays = to_python(std::move(state.kept));
    arrays["trust"] = owned(joined(state.evidence, state.following));
    if (!state.levels.empty()) arrays["levels"] = owned(std::move(state.levels));
    return arrays;
}
template <TrustedState State>
void from_python(const nb::handle& object, std::uint64_t points, State& state) {
    from_python(object, points, state.kept);
    const auto arrays = nb::cast<nb::dict>(object);
    std::vector<double> evidence;
    take(arrays, "trust", evidence);
    state.following = take_trust(evidence, state.evidence);
    if (arrays.contains("levels")) take(arrays, "levels", state.levels);
}

// Returns the weight of each head, in units of 2^-12.
template <class Bound>
std::vector<std::int64_t> trust(Bound& forest) {
    std::vector<std::int64_t> weights;
    forest.visit([&](std::uint64_t, const auto&, const auto& shared) {
        weights.assign(shared.trust.weights().begin(), shared.trust.weights().end());
    });
    return weights;
}

// φ, ψ, and the target and the answer of the last learned point (R29).
using CorrectionParts = std::tuple<double, double, double, double>;
inline CorrectionParts parts_of(const Correction& correction) {
    return {correction.error_share, correction.target_share, correction.target, correction.answer};
}

// Returns these, if answers follow the last target.
template <class Bound>
std::optional<CorrectionParts> correction(Bound& forest) {
    std::optional<CorrectionParts> parts;
    forest.visit([&](std::uint64_t, const auto&, const auto& shared) {
        if (shared.following.on()) parts = parts_of(shared.following.correction());
    });
    return parts;
}

// Marks the trees of this forest as a part of a larger forest, so that they report their sums.
template <class Bound>
void report(Bound& forest) {
    forest.change_shared([](auto& shared) { shared.reports = true; });
}

// Returns, for each point since the last call, the sums of its heads and the number of trees that
// did not abstain.
template <class Kinds, class Bound>
nb::object take_reported(Bound& forest) {
    std::vector<std::int64_t> sums;
    forest.change_shared([&](auto& shared) { std::swap(sums, shared.reported); });
    const std::size_t points = sums.size() / (Kinds::count + 1);
    return owned(std::move(sums), points, Kinds::count + 1);
}

// Lets points that are learned from now on give the intervals by which they are judged (R28).
template <class Bound>
void give_intervals(Bound& forest) {
    forest.change_shared([](auto& shared) { shared.gives = true; });
}

// Returns these: both ends for each coverage, one row per point. No more are given.
template <class Bound>
nb::object take_given(Bound& forest) {
    std::vector<double> given;
    std::size_t columns = 0;
    forest.change_shared([&](auto& shared) {
        shared.gives = false;
        std::swap(given, shared.given);
        columns = 2 * shared.intervals.size();
    });
    const std::size_t points = columns ? given.size() / columns : 0;
    return owned(std::move(given), points, columns);
}

template <class Space, class Rule, class Target>
auto bind_headed(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule, Target>;
    using Kinds = typename Rule::Kinds;
    auto bound = bind_scheduled<Space, Rule, Target>(m, name);
    if constexpr (has_intervals<Target>)
        bound.def("correction", &correction<Bound>)
            .def("predict_quantiles", &Bound::predict_quantiles, "points"_a, "quantiles"_a,
                 "workers"_a)
            .def("predict_interval", &Bound::predict_interval, "points"_a, "level"_a, "workers"_a)
            .def("give_intervals", &give_intervals<Bound>)
            .def("take_given", &take_given<Bound>);
    return bound.def("trust", &trust<Bound>)
        .def("report", &report<Bound>)
        .def("take_reported", &take_reported<Kinds, Bound>)
        .def(
            "set_evidence",
            [](Bound& forest, const std::vector<double>& evidence) {
                forest.change_shared([&](auto& shared) {
                    auto state = shared.trust.state();
                    shared.following.restore(take_trust(evidence, state));
                    shared.trust.restore(state);
                });
            },
            "evidence"_a)
        .def("set_judging", &Bound::set_judging, "judging"_a);
}

}  // namespace riparian
