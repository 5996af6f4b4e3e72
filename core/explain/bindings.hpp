#pragma once

#include <nanobind/nanobind.h>

namespace riparian::explain {

// Adds the Python functions of this folder to the module.
void bind(nanobind::module_& m);

}  // namespace riparian::explain
