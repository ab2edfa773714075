#ifndef FIRSTLIGHT_PREFETCH_H
#define FIRSTLIGHT_PREFETCH_H

/// Asks the processor to have the bytes at an address in its cache soon. Any address will do: where
/// there is no memory nothing happens. Swift has no word for it.
static inline void fl_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
