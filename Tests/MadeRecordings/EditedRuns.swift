package import ProfileModel

extension ScheduledRuns {
    /// Changes them as a list, thread by thread.
    package mutating func edit(_ body: (inout [ScheduledRun]) -> Void) {
        var list = Array(self)
        body(&list)
        self = ScheduledRuns(list)
    }
}
