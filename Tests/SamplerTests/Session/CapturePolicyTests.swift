import Testing

@testable import Sampler

/// How running threads' stacks are taken: the table of cases.
@Suite struct CapturePolicyTests {
    /// A thread that computes in a quiet process, with our handler in it.
    fileprivate struct Facts: CaptureFacts {
        var isSampledByTree = false
        var wantsTimer = false
        var needsStop = false
        var approach = BurstPolicy.Approach.signal
        var mayReadForever = false
        var mayMeetLongCall = false
        var handlersBlock = false
        var isComputing = true
        var hasHandler = true
        var isMaskKnown = true
        var refusesSignal = false
        var mayHarmOthers = false
    }

    /// One row: its special facts, and the ways in the order in which they are tried if each fails.
    struct Row: CustomTestStringConvertible {
        var danger: String
        fileprivate var facts: Facts
        var ways: [CaptureWay]

        fileprivate init(
            _ danger: String, _ ways: [CaptureWay], _ change: (inout Facts) -> Void = { _ in }
        ) {
            self.danger = danger
            self.ways = ways
            facts = Facts()
            change(&facts)
        }

        var testDescription: String { danger }
    }

    /// The dangers are those of `docs/design/Sampler/Signal.md`, *What must not happen*.
    static let rows = [
        Row("none", [.timer, .events, .signal, .stop]),
        Row("none, but for what its tree's events tell", []) { $0.isSampledByTree = true },
        Row(
            "the same of a thread that runs an interpreter, whose functions they tell too late",
            [.timer]
        ) {
            ($0.isSampledByTree, $0.wantsTimer) = (true, true)
        },
        Row("a sleep that it may just have begun ends early by a signal", [.timer, .events, .stop])
        {
            $0.approach = .stop
        },
        Row(
            "a wait that it may just have begun ends early by a stop, too",
            [.timer, .events, .spare]
        ) {
            $0.approach = .spare
        },
        Row("a call returns a part of what was asked for", [.timer, .events, .spare]) {
            $0.mayMeetLongCall = true
        },
        Row(
            "a handler holds our signal back, and a call is not made again",
            [.timer, .events, .stop]
        ) {
            ($0.handlersBlock, $0.isComputing) = (true, false)
        },
        Row("the same while it may just have begun to wait", [.timer, .events, .spare]) {
            ($0.handlersBlock, $0.isComputing, $0.approach) = (true, false, .spare)
        },
        Row("the same of a thread that reads a file without end", [.timer, .events, .spare]) {
            ($0.handlersBlock, $0.isComputing, $0.mayReadForever) = (true, false, true)
        },
        Row(
            "a handler of the program's, but the thread computes",
            [.timer, .events, .signal, .stop]
        ) {
            $0.handlersBlock = true
        },
        Row("our signal surfaces in a sigwait", [.timer, .events, .spare]) {
            $0.isMaskKnown = false
        },
        Row("our signal is blocked, filtered, taken, or without room", [.timer, .events, .stop]) {
            $0.refusesSignal = true
        },
        Row("our handler is not there", [.timer, .events, .stop]) { $0.hasHandler = false },
        Row(
            "a stop ends a wait of another thread's: of a signal that fails",
            [
                .timer, .events, .signal, .spare,
            ]
        ) { $0.mayHarmOthers = true },
        Row(
            "a stop ends a wait of another thread's: of one that is to be stopped",
            [
                .timer, .events, .spare,
            ]
        ) { ($0.mayHarmOthers, $0.approach) = (true, .stop) },
        Row("our code is on its way in or out", [.stop]) { $0.needsStop = true },
        Row("the same, and its next wait would not survive a stop", [.events, .spare]) {
            ($0.needsStop, $0.approach) = (true, .spare)
        },
        Row("the same, and a read of its takes as long as it likes", [.events, .spare]) {
            ($0.needsStop, $0.mayReadForever) = (true, true)
        },
        Row("the same, and a stop ends a wait of another thread's", [.spare]) {
            ($0.needsStop, $0.mayHarmOthers) = (true, true)
        },
    ]

    @Test(arguments: rows) func ways(row: Row) {
        #expect(Self.ways(row.facts) == row.ways)
    }

    /// Each fact decides somewhere: a change of any one of them changes a row's ways.
    @Test func noFactIsForNothing() {
        let changes: [(String, (inout Facts) -> Void)] = [
            ("isSampledByTree", { $0.isSampledByTree.toggle() }),
            ("wantsTimer", { $0.wantsTimer.toggle() }),
            ("needsStop", { $0.needsStop.toggle() }),
            ("mayReadForever", { $0.mayReadForever.toggle() }),
            ("mayMeetLongCall", { $0.mayMeetLongCall.toggle() }),
            ("handlersBlock", { $0.handlersBlock.toggle() }),
            ("isComputing", { $0.isComputing.toggle() }),
            ("hasHandler", { $0.hasHandler.toggle() }),
            ("isMaskKnown", { $0.isMaskKnown.toggle() }),
            ("refusesSignal", { $0.refusesSignal.toggle() }),
            ("mayHarmOthers", { $0.mayHarmOthers.toggle() }),
        ]
        for (name, change) in changes {
            let decides = Self.rows.contains { row in
                var facts = row.facts
                change(&facts)
                return Self.ways(facts) != Self.ways(row.facts)
            }
            #expect(decides, "\(name)")
        }
    }

    /// With any facts: never a signal or a stop where it may do harm, and always an end.
    @Test func noHarmWhateverIsKnown() {
        for bits in 0..<(1 << 11) {
            for approach in [BurstPolicy.Approach.signal, .stop, .spare] {
                func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
                let facts = Facts(
                    isSampledByTree: bit(0), wantsTimer: bit(10), needsStop: bit(1),
                    approach: approach,
                    mayReadForever: bit(2), mayMeetLongCall: bit(3), handlersBlock: bit(4),
                    isComputing: bit(5), hasHandler: bit(6), isMaskKnown: bit(7),
                    refusesSignal: bit(8), mayHarmOthers: bit(9))
                let ways = Self.ways(facts)
                if facts.isSampledByTree, !facts.needsStop || !facts.wantsTimer {
                    #expect(ways == (facts.wantsTimer ? [.timer] : []))
                    continue
                }
                #expect(ways.last == .stop || ways.last == .spare)
                if ways.contains(.stop) {
                    #expect(!facts.mayHarmOthers && approach != .spare)
                }
                if ways.contains(.signal) {
                    #expect(approach == .signal && facts.isMaskKnown && !facts.refusesSignal)
                    #expect(!facts.mayMeetLongCall && facts.hasHandler)
                }
            }
        }
    }

    /// The ways in the order in which they are tried if each fails.
    private static func ways(_ facts: Facts) -> [CaptureWay] {
        var failed = FailedWays()
        var tried: [CaptureWay] = []
        while let choice = CapturePolicy.decide(facts, without: failed) {
            tried.append(choice.way)
            // These cannot fail.
            if [.stop, .spare].contains(choice.way) { break }
            failed.insert(choice.way)
        }
        return tried
    }

    /// A detour replaces a signal: because the signal failed, or because of the signal itself.
    @Test func detours() {
        func choice(_ failed: [CaptureWay], _ change: (inout Facts) -> Void = { _ in })
            -> CaptureChoice?
        {
            var facts = Facts()
            change(&facts)
            var all = FailedWays()
            for way in failed { all.insert(way) }
            return CapturePolicy.decide(facts, without: all)
        }
        let others = [CaptureWay.timer, .events]
        #expect(choice(others) == CaptureChoice(.signal))
        #expect(choice(others + [.signal]) == CaptureChoice(.stop, isDetour: true))
        #expect(choice(others) { $0.refusesSignal = true } == CaptureChoice(.stop, isDetour: true))
        let spared = choice(others) { ($0.refusesSignal, $0.mayHarmOthers) = (true, true) }
        #expect(spared == CaptureChoice(.spare, isDetour: true))
        // Where no signal would be sent anyway, none is replaced.
        let changes: [(inout Facts) -> Void] = [
            { $0.hasHandler = false }, { $0.approach = .stop }, { $0.approach = .spare },
            { $0.isMaskKnown = false }, { $0.mayMeetLongCall = true }, { $0.needsStop = true },
            { ($0.handlersBlock, $0.isComputing) = (true, false) },
        ]
        for change in changes {
            let made = choice(others) {
                $0.refusesSignal = true
                change(&$0)
            }
            #expect(made?.isDetour == false, "\(made as Any)")
        }
    }
}
