// Checks of input that have to be quick for a single row, too.
#pragma once

#include <nanobind/nanobind.h>

namespace riparian {

void bind_input(nanobind::module_& m);

}  // namespace riparian
