import LaunchMetric
import Signpost

// One name of each library: a name that is used must be found, compiled and linked.
let signposter = Signposter(subsystem: "org.example.Dependent", category: "launch")
signposter.withIntervalSignpost("Greet") { print("built with \(LaunchMeasurement.self)") }
