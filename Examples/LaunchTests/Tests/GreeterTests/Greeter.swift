import Foundation

/// Where the program is: beside the tests.
let greeter = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("greeter").path
