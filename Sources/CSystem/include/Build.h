#pragma once

// The commit that the program was built from, or "unknown". `make build` links it in, so that a new
// commit recompiles nothing.
const char *fl_build_commit(void);
