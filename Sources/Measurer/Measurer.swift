package import ProfileModel

/// Makes the launches of a measurement, one after the other, and keeps them as they come.
package struct Measurer<Maker: LaunchMaker, Sink: LaunchSink> {
    package struct Result: Hashable, Sendable {
        /// All that were made, whether or not they could be kept.
        package var launches: [MeasuredLaunch]
        /// How many of each arm were to count at the end.
        package var requested: Int
        package var end: MeasuringEnd
        /// Why not all of ``launches`` were kept; nil: they were.
        package var sinkFailure: MeasuringFailure?
    }

    private var plan: LaunchPlan
    private var maker: Maker
    private var sink: Sink
    private let hooks: MeasuringHooks

    package init(plan: LaunchPlan, maker: Maker, sink: Sink, hooks: MeasuringHooks) {
        self.plan = plan
        self.maker = maker
        self.sink = sink
        self.hooks = hooks
    }

    /// Returns when enough launches count, or there is a reason to make no more.
    package mutating func run() -> Result {
        while true {
            switch plan.next() {
            case .launch(let request):
                do throws(MeasuringFailure) {
                    try keepLateDiscards()
                    if let launch = launch(request) { try sink.append(launch) }
                } catch {
                    plan.stop(.failed(error))
                    return result(plan.end ?? .failed(error), error)
                }
            case .end(.complete) where goesOn():
                continue
            case .end(let end):
                return finish(end)
            }
        }
    }

    private mutating func goesOn() -> Bool {
        guard let requested = hooks.extend(plan.launches) else { return false }
        plan.extend(to: requested)
        if plan.end == nil { sink.extend(to: requested) }
        return plan.end == nil
    }

    /// - Returns: the launch, as the plan judges it; nil: there is none, and the plan has ended.
    private mutating func launch(_ request: LaunchRequest) -> MeasuredLaunch? {
        guard !hooks.isInterrupted() else {
            plan.stop(.interrupted)
            return nil
        }
        do throws(MeasuringFailure) {
            plan.note(try maker.make(request))
        } catch {
            // Ctrl-C ends a command of the user's, too: that it failed is no news.
            plan.stop(hooks.isInterrupted() ? .interrupted : .failed(error))
            return nil
        }
        guard let launch = plan.launches.last else { return nil }
        hooks.tell(
            MeasuringProgress(
                launch: launch, index: request.index, counted: plan.counted,
                requested: plan.requested))
        return launch
    }

    private mutating func keepLateDiscards() throws(MeasuringFailure) {
        for late in plan.takeLateDiscards() { try sink.discard(late.index, as: late.reason) }
    }

    private mutating func finish(_ end: MeasuringEnd) -> Result {
        do throws(MeasuringFailure) {
            try keepLateDiscards()
            try sink.finish(end.ending)
            return result(end, nil)
        } catch {
            return result(end == .complete ? .failed(error) : end, error)
        }
    }

    private func result(_ end: MeasuringEnd, _ sinkFailure: MeasuringFailure?) -> Result {
        Result(
            launches: plan.launches, requested: plan.requested, end: end, sinkFailure: sinkFailure)
    }
}
