// Log lines for the logger's dictionary to learn from.
#pragma once

#include <string>

/// `count` lines of the kind that the program would log; always the same ones.
std::string typicalLogLines(int count);
