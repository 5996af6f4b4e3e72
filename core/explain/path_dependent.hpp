// TreeSHAP by the trees' own weights: an unknown feature follows both branches, in the proportions
// of the points.
//
// The game of one leaf with value V and k features on its path: v(S) = V Π_{i in S} o_i Π_{i not in
// S} z_i, where o_i says whether x passes the tests of feature i, and z_i is the share of points
// that do. Written with the integral for the weights of Shapley's formula, s!(k-s-1)!/k! = ∫ t^s
// (1-t)^(k-s-1) dt, the contribution of feature i is
//
//     φ_i = V (o_i - z_i) ∫ Π_{j != i} (t o_j + (1-t) z_j) dt,
//
// a polynomial of degree k - 1, which ⌈k/2⌉ places integrate exactly. All terms are positive, so
// nothing cancels, however long the path. Features that x fails (o = 0) all have the same φ: their
// factor is (1-t) z, and z cancels.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "explain/kinds.hpp"
#include "explain/paths.hpp"
#include "explain/quadrature.hpp"

namespace riparian::explain {

class PathDependent {
public:
    // times[i][kind] is φ of step i for a leaf of value 1.
    void solve(const Path& path, const Kinds& kinds, double* times) {
        const Step* steps = path.steps.data();
        const std::size_t length = path.size();
        const Rule& rule = rule_of(length);
        switch (rule.places) {
            case 2:
                return solve_with<2>(steps, length, rule, kinds, times);
            case 4:
                return solve_with<4>(steps, length, rule, kinds, times);
            case 6:
                return solve_with<6>(steps, length, rule, kinds, times);
            case 8:
                return solve_with<8>(steps, length, rule, kinds, times);
            default:
                return solve_with<0>(steps, length, rule, kinds, times);
        }
    }

private:
    // The quadrature for paths of one length, with an even number of places.
    struct Rule {
        std::size_t places = 0;
        std::vector<double> t, rest;  // t and 1 - t
        std::vector<double> power;    // [b][place]: weight · (1-t)^b, for b up to the length
    };

    // `Fixed` is the number of places if it is known at compile time, else 0.
    template <std::size_t Fixed>
    void solve_with(const Step* steps, std::size_t length, const Rule& rule, const Kinds& kinds,
                    double* times) {
        const std::size_t places = Fixed ? Fixed : rule.places;
        factor_.resize(length * places);
        quotient_.resize(length * places);
        for (std::size_t i = 0; i < length; ++i)
            for (std::size_t q = 0; q < places; ++q) {
                const double factor = rule.t[q] + rule.rest[q] * steps[i].share;
                factor_[i * places + q] = factor;
                quotient_[i * places + q] = (1.0 - steps[i].share) / factor;
            }
        std::conditional_t<Fixed != 0, std::array<double, Fixed>, std::vector<double>> product{};
        if constexpr (Fixed == 0) product.resize(places);
        passed_.resize(kinds.words());
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const Bits* failed = kinds.failed(kind);
            invert(failed, length);
            double shares = 1.0;
            for_each_bit(failed, kinds.words(), [&](std::size_t i) { shares *= steps[i].share; });
            for (std::size_t q = 0; q < places; ++q) product[q] = shares;
            for_each_bit(passed_.data(), kinds.words(), [&](std::size_t i) {
                const double* factor = factor_.data() + i * places;
                for (std::size_t q = 0; q < places; ++q) product[q] *= factor[q];
            });
            const std::size_t n_failed = kinds.n_failed(kind);
            const double* power = rule.power.data() + n_failed * places;
            if (n_failed) {
                const double of_failed = -dot(product, power - places, places);
                for_each_bit(failed, kinds.words(),
                             [&](std::size_t i) { times[i * kinds.size() + kind] = of_failed; });
            }
            for (std::size_t q = 0; q < places; ++q) product[q] *= power[q];
            for_each_bit(passed_.data(), kinds.words(), [&](std::size_t i) {
                times[i * kinds.size() + kind] =
                    dot(product, quotient_.data() + i * places, places);
            });
        }
    }

    void invert(const Bits* failed, std::size_t length) {
        for (std::size_t w = 0; w < passed_.size(); ++w) {
            const std::size_t bits = std::min(word_bits, length - w * word_bits);
            passed_[w] = ~failed[w] & (~Bits{0} >> (word_bits - bits));
        }
    }

    // There are two sums, so that two multiplications run in parallel.
    template <class Product>
    static double dot(const Product& a, const double* b, std::size_t places) {
        double even = 0.0, odd = 0.0;
        for (std::size_t q = 0; q < places; q += 2) {
            even += a[q] * b[q];
            odd += a[q + 1] * b[q + 1];
        }
        return even + odd;
    }

    const Rule& rule_of(std::size_t length) {
        if (length >= rules_.size()) rules_.resize(length + 1);
        Rule& rule = rules_[length];
        if (rule.places == 0) rule = make_rule(length);
        return rule;
    }

    static Rule make_rule(std::size_t length) {
        const Quadrature exact((length + 1) / 2);
        Rule rule;
        rule.places = exact.place.size() + exact.place.size() % 2;
        // The additional place has weight 0.
        rule.t.assign(rule.places, 0.5);
        rule.rest.assign(rule.places, 0.5);
        rule.power.assign((length + 1) * rule.places, 0.0);
        for (std::size_t q = 0; q < exact.place.size(); ++q) {
            rule.t[q] = exact.place[q];
            rule.rest[q] = 1.0 - exact.place[q];
            double power = exact.weight[q];
            for (std::size_t b = 0; b <= length; ++b, power *= rule.rest[q])
                rule.power[b * rule.places + q] = power;
        }
        return rule;
    }

    std::vector<Rule> rules_;                // by length
    std::vector<double> factor_, quotient_;  // of the current path: [step][place]
    std::vector<Bits> passed_;
};

}  // namespace riparian::explain
