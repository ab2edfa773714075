import Measurer
import ProfileCLI
import ProfileModel
import Testing

@Suite struct MeasuringWordsTests {
    private let words = MeasuringWords(
        names: ["app", "old"], watchdog: .milliseconds(60_000), until: ["listen", "notify"])

    private func launch(
        _ reason: MeasuredLaunch.Discard?, _ outcome: Recording.Outcome = .running, arm: Int = 0
    ) -> MeasuredLaunch {
        var launch = MeasuredLaunch(arm: arm, start: .zero, wall: .zero, outcome: outcome)
        launch.discarded = reason
        return launch
    }

    @Test func complaints() {
        #expect(words.complaint(launch(nil), index: 0) == nil)
        // Nothing is wrong with these.
        for reason in [MeasuredLaunch.Discard.first, .interrupted, .warm] {
            #expect(words.complaint(launch(reason), index: 0) == nil)
        }
        #expect(
            words.complaint(launch(.failed, .signalled(11)), index: 1_233)
                == "launch 1,234 of app does not count: signal 11 ended it")
        #expect(
            words.complaint(launch(.hung, arm: 1), index: 0)
                == "launch 1 of old does not count: it hung (not over within 60.00 s; --watchdog "
                + "allows more)")
        #expect(
            words.complaint(launch(.notReady, .exited(0)), index: 0)
                == "launch 1 of app does not count: the program ended before it was ready (listen, "
                + "notify)")
        #expect(
            words.complaint(launch(.otherStatus, .exited(3)), index: 0)
                == "launch 1 of app does not count: it ended with status 3, but most did not")
        #expect(words.complaint(launch(.failed, arm: 7), index: 0)?.contains("the program") == true)
    }

    @Test func everyReasonHasWords() {
        for reason in MeasuredLaunch.Discard.allCases {
            let text = words.ending(.gaveUp(arm: 0, reason: reason, counted: 0))
            #expect(text?.hasPrefix("given up: no launch of app counts: ") == true)
        }
    }

    @Test func endings() {
        #expect(words.ending(.complete) == nil)
        #expect(words.ending(.interrupted)?.hasPrefix("interrupted") == true)
        #expect(words.ending(.failed(MeasuringFailure("no room", status: 125))) == "no room")
        #expect(
            words.ending(
                .gaveUp(arm: 1, reason: .warm, counted: 0),
                details: [.warm: "libc.so.6 is mapped", .hung: "x"])
                == "given up: no launch of old counts: they were not cold (libc.so.6 is mapped)")
        #expect(
            words.ending(.gaveUp(arm: 0, reason: .failed, counted: 1))
                == "given up: only 1 launch of app counts: they failed")
        #expect(
            words.ending(.gaveUp(arm: 0, reason: .failed, counted: 5))
                == "given up: only 5 launches of app count: they failed")
    }

    @Test func progress() {
        let progress = MeasuringProgress(
            launch: launch(nil), index: 1_006, counted: 5, requested: 10)
        #expect(words.progress(progress) == "firstlight: launch 1,007, 5 of 10 count")
    }

    @Test func theTypicalLaunch() {
        func text(_ wall: Int64, _ median: Int64) -> String {
            MeasuringWords.typical(
                path: "a", wall: .milliseconds(wall), median: .milliseconds(median))
        }
        #expect(text(104, 100).contains("4.0 % above the median of 100.0 ms"))
        #expect(text(50, 100).contains("50.0 % below the median"))
        #expect(text(100, 100).contains("as the median of"))
        #expect(!text(5, 0).isEmpty)
    }

    /// What a program prints must not reach the terminal as it is.
    @Test func output() {
        #expect(MeasuringWords.quoted("") == "")
        #expect(MeasuringWords.quoted("a\n\nb\u{1b}[2J") == "  | a\n  | b\\u{1b}[2J\n")
        let long = (1...100).map(String.init).joined(separator: "\n")
        let lines = MeasuringWords.quoted(long).split(separator: "\n")
        #expect(lines.count == 20 && lines.first == "  | 81" && lines.last == "  | 100")
    }
}
