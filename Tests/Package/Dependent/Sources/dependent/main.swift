import LaunchMetric
import Signpost

// Of each library one name: what is used must be found, compiled and linked.
let signposter = Signposter(subsystem: "org.example.Dependent", category: "launch")
signposter.withIntervalSignpost("Greet") { print("built with \(LaunchMeasurement.self)") }
