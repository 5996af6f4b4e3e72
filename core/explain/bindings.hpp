#pragma once

#include <nanobind/nanobind.h>

namespace riparian::explain {

// Adds what Python needs of this folder to the module.
void bind(nanobind::module_& m);

}  // namespace riparian::explain
