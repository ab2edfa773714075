// A program whose launch is tested: it greets, with --slow after 300 ms of work.
let work: ContinuousClock.Duration =
    CommandLine.arguments.contains("--slow") ? .milliseconds(300) : .zero
let start = ContinuousClock.now
while ContinuousClock.now - start < work {}
print("Hello")
