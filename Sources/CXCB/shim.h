// XCB, and the one extension that tells a window's process.
#pragma once
#include <xcb/xcb.h>
#include <xcb/res.h>
