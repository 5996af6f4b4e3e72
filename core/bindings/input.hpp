// Checks of input that must be fast for a single row as well.
#pragma once

#include <nanobind/nanobind.h>

namespace riparian {

void bind_input(nanobind::module_& m);

}  // namespace riparian
