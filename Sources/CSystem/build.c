#include "Build.h"

#include <stddef.h>

// Defined by the output of scripts/link-commit, if that is linked.
extern const char firstlight_commit[] __attribute__((weak));

const char *fl_build_commit(void) { return firstlight_commit != NULL ? firstlight_commit : "unknown"; }
