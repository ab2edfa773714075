// The header is all there is; here its shared parts become part of the module.
#include "firstlight/signpost.h"
