// Functions that a reader of a profile should find by name stay functions of their own.
#pragma once

#define NOINLINE __attribute__((noinline))
