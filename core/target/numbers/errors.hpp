// How large the errors of a tree of numbers are, so that its detector can be given numbers from 0
// to 1 (R27).
#pragma once

#include <algorithm>
#include <cmath>

#include "state_fields.hpp"
#include "target/heads.hpp"

namespace riparian {

class NumberErrors {
public:
    // One more: how large it is, a quarter being as large as errors usually are.
    double scaled(double error) {
        squared_ = score_fading * squared_ + error * error;
        number_ = score_fading * number_ + 1.0;
        const double most = 4.0 * std::sqrt(squared_ / number_);
        return most > 0.0 ? std::min(std::fabs(error) / most, 1.0) : 0.0;
    }

    template <class State>
    void save(State& out) const {
        array<"errors">(out) = {squared_, number_};
    }
    template <class State>
    void restore(const State& in) {
        squared_ = array<"errors">(in)[0];
        number_ = array<"errors">(in)[1];
    }

private:
    double squared_ = 0.0, number_ = 0.0;  // the discounted sum of the squared errors, and of ones
};

}  // namespace riparian
