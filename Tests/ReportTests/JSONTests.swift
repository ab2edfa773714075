import Analysis
import Exports
import Foundation
import MadeRecordings
import ProfileModel
import Report
import Testing

@Suite struct JSONTests {
    private typealias Object = [String: Any]

    private func parse(_ recording: Recording) throws -> Object {
        let text = JSONReport.text(Profile(recording))
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? Object)
    }

    private func objects(_ value: Any?) throws -> [Object] {
        try #require(value as? [Object])
    }

    private func integer(_ object: Object, _ key: String) throws -> Int {
        try #require(object[key] as? Int, "\(key) is no integer")
    }

    /// Parts that grow with the recording are there only on request.
    @Test func partsOnRequest() throws {
        let profile = Profile(StarSearcher.recording())
        for asked in [[], [.events], [.timeline], [.events, .timeline]] as [Set<JSONPart>] {
            let bytes = JSONReport.bytes(profile, with: asked)
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            for part in JSONPart.allCases {
                #expect((report[part.rawValue] is NSNull) == !asked.contains(part))
            }
        }
    }

    @Test func hasTheSchemasKeysAndNoOthers() throws {
        let report = try parse(StarSearcher.recording())
        func expectKeys(_ value: Any?, _ keys: String) throws {
            let object = try #require(value as? Object)
            #expect(object.keys.sorted() == keys.split(separator: " ").map(String.init).sorted())
        }
        try expectKeys(
            report,
            "imports schema program launch processes children phases threads functions modules ready "
                + "wholePhases initializers libraries intervals signposts events timeline priorities lead findings "
                + "criticalPath notes")
        #expect(report["schema"] as? Int == 2)
        try expectKeys(report["program"], "name path arguments pid exitStatus")
        try expectKeys(
            report["launch"],
            "wallNs heldNs cpuNs frequencyHz ticks missedTicks samples missedSamples slices truncatedStacks lostSamples capture scheduler "
                + "mainThread notes")
        for segment in try objects((report["launch"] as? Object)?["mainThread"]) {
            try expectKeys(segment, "tid startNs wallNs")
        }
        for phase in try objects(report["phases"]) {
            try expectKeys(
                phase,
                "name partOf group startNs startPrecisionNs wallNs heldNs cpuNs minorFaults majorFaults readBytes mainThread "
                    + "heaviestPid heaviestStack")
            try expectKeys(phase["mainThread"], "runningNs runnableNs preemptedNs blockedNs")
            for frame in try objects(phase["heaviestStack"]) {
                try expectKeys(frame, "function module file line own language inlined cpuNs wallNs")
            }
        }
        for thread in try objects(report["threads"]) {
            try expectKeys(
                thread,
                "tid pid name startNs endNs runningNs runnableNs preemptedNs blockedNs priority")
        }
        for function in try objects(report["functions"]) {
            try expectKeys(
                function,
                "function module own language selfCpuNs totalCpuNs selfWallNs totalWallNs")
        }
        for module in try objects(report["modules"]) {
            try expectKeys(
                module,
                """
                path buildId loadedNs hasDebugInfo debugInfoFile debugInfoOrigin symbolOrigin slices \
                totalCpuNs selfCpuNs totalWallNs selfWallNs addresses namedAddresses \
                addressesWithLine remarks
                """)
        }
    }

    @Test func findingsHaveTheSchemasKeysAndNoOthers() throws {
        let report = try parse(StarSearcher.recordingWithFacts())
        let findings = try objects(report["findings"])
        #expect(findings.map { $0["kind"] as? String }.first == "lock-wait")
        for finding in findings {
            #expect(
                finding.keys.sorted() == [
                    "advice", "details", "file", "function", "kind", "line", "phase", "savingNs",
                    "stack", "tid", "title", "waitedFor",
                ])
            #expect((finding["stack"] as? [Any])?.isEmpty == false)
        }
        let other = try #require(findings.first?["waitedFor"] as? Object)
        #expect(
            other.keys.sorted() == [
                "blockedNs", "known", "preemptedNs", "runnableNs", "runningNs", "stack", "tid",
            ])
        #expect(other["known"] as? String == "owner")
    }

    @Test func eventsHaveTheSchemasKeysAndNoOthers() throws {
        let report = try parse(StarSearcher.recordingWithFacts())
        let events = try objects(report["events"])
        #expect(events.count == 3)
        for event in events {
            #expect(
                event.keys.sorted() == [
                    "durationNs", "endedBy", "pid", "reason", "stack", "startNs", "tid",
                ])
            let reason = try #require(event["reason"] as? Object)
            #expect(reason.keys.sorted() == ["detail", "kind", "ownerTid"])
            for frame in try objects(event["stack"]) {
                #expect(
                    frame.keys.sorted() == [
                        "file", "function", "inlined", "language", "line", "module", "own",
                    ])
            }
        }
        let lock = try #require(events.first)
        #expect(lock["startNs"] as? Int == 420_000_000)
        #expect(lock["durationNs"] as? Int == 754_000_000)
        let holder = try #require(lock["endedBy"] as? Object)
        #expect(holder["tid"] as? Int == 4242 && holder["name"] as? String == "star loader")
        #expect(events.last?["endedBy"] is NSNull)
    }

    @Test func timelinesPrioritiesAndNotes() throws {
        let report = try parse(StarSearcher.recordingWithFacts())
        let lanes = try objects(report["timeline"])
        #expect(lanes.map { $0["tid"] as? Int } == [4241, 4242])
        let runs = try #require(lanes.last?["runs"] as? [[Any]])
        #expect(runs.map { $0[0] as? Int } == [420_000_000, 1_170_000_000])
        #expect(runs.map { $0[2] as? String } == ["running", "blocked"])
        let priorities = try objects(report["priorities"])
        #expect(priorities.map { $0["nice"] as? Int } == [0, 0, 10])
        #expect(priorities.map { $0["atNs"] as? Int } == [1_000_000, 420_000_000, 470_000_000])
        let worker = try #require(try objects(report["threads"]).last?["priority"] as? Object)
        #expect(worker["policy"] as? String == "other" && worker["nice"] as? Int == 10)
        #expect(worker["realTime"] is NSNull)
        // The other note's value is too small to be reported.
        let notes = try objects(report["notes"])
        #expect(notes.map { $0["kind"] as? String } == ["spared"])
        #expect((notes[0]["text"] as? String)?.hasPrefix("3 samples skipped") == true)
        let unknown = try objects(parse(StarSearcher.recording())["threads"])
        #expect(unknown.allSatisfy { $0["priority"] is NSNull })
    }

    @Test func theCriticalPath() throws {
        let report = try parse(StarSearcher.recordingWithSchedule())
        let launch = try #require(report["launch"] as? Object)
        #expect(launch["scheduler"] as? String == "wakeups")
        let segments = try objects(report["criticalPath"])
        for segment in segments {
            #expect(
                segment.keys.sorted() == [
                    "durationNs", "stack", "startNs", "state", "stretches", "tid", "wokenByTid",
                ])
            for frame in try objects(segment["stack"]) {
                #expect(
                    frame.keys.sorted() == [
                        "file", "function", "inlined", "language", "line", "module", "own",
                    ])
            }
        }
        #expect(try segments.map { try integer($0, "tid") } == [4241, 4242, 4241, 4241])
        #expect(
            try segments.map { try integer($0, "durationNs") / 1_000_000 } == [420, 754, 980, 358])
        #expect(segments.map { $0["wokenByTid"] as? Int } == [nil, 4241, 4242, nil])
        // Outermost first.
        let stack = try objects(segments[1]["stack"])
        #expect(stack.first?["function"] as? String == "__clone3")
    }

    @Test func factsHaveTheSchemasKeysAndNoOthers() throws {
        let report = try parse(StarSearcher.recordingWithFacts())
        func expectKeys(_ key: String, _ keys: String) throws {
            let found = try objects(report[key])
            #expect(!found.isEmpty)
            for object in found {
                #expect(
                    object.keys.sorted() == keys.split(separator: " ").map(String.init).sorted())
            }
        }
        try expectKeys("initializers", "function module file line startNs wallNs cpuNs")
        try expectKeys("libraries", "path startNs wallNs requestedBy used referenced")
        try expectKeys("intervals", "name category tid startNs wallNs cpuNs")
        try expectKeys("signposts", "name category tid atNs")
        let ready = try #require(report["ready"] as? Object)
        #expect(ready["atNs"] as? Int == 2_054_000_000)
        #expect(ready["by"] as? String == "signpost:first star drawn")
        #expect(ready.count == 2)
        let themes = try #require(objects(report["libraries"]).last)
        #expect(themes["requestedBy"] is NSNull)
        #expect(themes["used"] as? Bool == false)
        #expect(themes["wallNs"] as? Int == 9_000_000)
        #expect(try parse(StarSearcher.recording())["ready"] is NSNull)
    }

    @Test(arguments: 20...26 as ClosedRange<UInt64>)
    func sumsAreExact(seed: UInt64) throws {
        let recording = RecordingBuilder.random(seed: seed)
        let report = try parse(recording)
        let launch = try #require(report["launch"] as? Object)
        let (wall, cpu) = try (integer(launch, "wallNs"), integer(launch, "cpuNs"))
        let phases = try objects(report["phases"])
        #expect(try phases.reduce(0) { try $0 + integer($1, "wallNs") } == wall)
        #expect(try phases.reduce(0) { try $0 + integer($1, "cpuNs") } == cpu)
        let functions = try objects(report["functions"])
        #expect(try functions.reduce(0) { try $0 + integer($1, "selfCpuNs") } == cpu)
        let states = ["runningNs", "runnableNs", "preemptedNs", "blockedNs"]
        for thread in try objects(report["threads"]) {
            let sum = try states.reduce(0) { try $0 + integer(thread, $1) }
            #expect(try sum == integer(thread, "endNs") - integer(thread, "startNs"))
        }
    }

    @Test func heaviestStackIsOutermostFirst() throws {
        let phases = try objects(parse(StarSearcher.recording())["phases"])
        let initialisers = try #require(
            phases.first { $0["name"] as? String == "Static initialisers" })
        let stack = try objects(initialisers["heaviestStack"])
        #expect(
            stack.map { $0["function"] as? String } == [
                "_start", "_dl_init", "SuperfastLogger::warmUp()",
                "SuperfastLogger::mix(unsigned long)",
            ])
        #expect(stack.map { $0["own"] as? Bool } == [false, false, true, true])
        #expect(stack.map { $0["inlined"] as? Bool } == [false, false, false, true])
        #expect(stack[0]["file"] is NSNull)
        #expect(stack[2]["file"] as? String == "/src/logger/logger.cpp")
        #expect(stack[2]["line"] as? Int == 41)
        #expect(stack[2]["cpuNs"] as? Int == 371_000_000)
        #expect(stack[2]["wallNs"] as? Int == 373_000_000)
    }

    @Test(arguments: [
        (Recording.Outcome.exited(3), "exitStatus", 3 as Int?), (.signalled(11), "signal", 11),
        (.running, "exitStatus", nil), (.unknown, "exitStatus", nil),
    ])
    func outcomes(outcome: Recording.Outcome, key: String, value: Int?) throws {
        var recording = RecordingBuilder().recording
        recording.header.outcome = outcome
        let program = try #require(try parse(recording)["program"] as? Object)
        #expect(program[key] as? Int == value)
        #expect(program[key] != nil)
        #expect(program.keys.contains("exitStatus") != program.keys.contains("signal"))
    }

    @Test func namesSurviveWhateverTheyHold() throws {
        let names = [
            "quote\" back\\slash / slash", "line\nbreak\r\ttab", "\u{1b}[31mred", "\u{0}nul",
            "\u{202e}reversed\u{2069}", "ünï 星 🚀 \u{e0041}tag", "\u{7f}\u{85}\u{2028}",
        ]
        var builder = RecordingBuilder(images: [("/home/\u{1b}]0;x\u{7}/app", 0)])
        builder.border(.spawned, 0)
        builder.border(.main, 0)
        builder.border(.ended, 10)
        builder.recording.images[0].arguments = names
        for (index, name) in names.enumerated() {
            let thread = builder.thread(name, tid: Int32(index), to: 10)
            builder.slice(
                thread, at: 0, running: Int64(10 - index),
                builder.stack([.init(name, "/lib/" + name, file: name, line: 1)]))
        }
        let report = try parse(builder.recording)
        let program = try #require(report["program"] as? Object)
        #expect(program["arguments"] as? [String] == names)
        #expect(try objects(report["threads"]).map { $0["name"] as? String } == names)
        #expect(try objects(report["functions"]).map { $0["function"] as? String } == names)
        #expect(
            try objects(report["modules"]).map { $0["path"] as? String }
                == names.map { "/lib/" + $0 })
        // And nothing in it moves a terminal.
        let text = JSONReport.text(Profile(builder.recording))
        #expect(text.split(separator: "\n").allSatisfy { String($0).escapedForDisplay == $0 })
    }
}
