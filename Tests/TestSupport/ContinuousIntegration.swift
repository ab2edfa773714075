import Glibc

/// Whether this is continuous integration: nothing may be missing there, and no test is skipped.
public let isContinuousIntegration = getenv("CI").map { String(cString: $0) } == "true"
