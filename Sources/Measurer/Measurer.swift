package import ProfileModel

/// Makes the launches of a measurement one after another, and stores each at once.
package struct Measurer<Maker: LaunchMaker, Sink: LaunchSink> {
    package struct Result: Hashable, Sendable {
        /// All launches, even if they could not be stored.
        package var launches: [MeasuredLaunch]
        /// How many launches of each arm should count, at the end.
        package var requested: Int
        package var end: MeasuringEnd
        /// Why not all of ``launches`` were stored; nil: all were.
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

    /// Returns when enough launches count, or when there is a reason to stop.
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

    /// - Returns: the launch as the plan judges it; nil: there is none, and the plan has ended.
    private mutating func launch(_ request: LaunchRequest) -> MeasuredLaunch? {
        guard !hooks.isInterrupted() else {
            plan.stop(.interrupted)
            return nil
        }
        do throws(MeasuringFailure) {
            plan.note(try maker.make(request))
        } catch {
            // Ctrl-C also ends a user's command, so its failure is not reported then.
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
