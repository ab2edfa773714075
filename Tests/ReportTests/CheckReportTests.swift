import Report
import Testing

@Suite struct CheckReportTests {
    private static let checks = [
        Check("machine", .ok, "x86_64"),
        Check("timer", .limited, "late", remedy: "hurry"),
        Check("attaching", .no, "refused\u{1B}[31m", remedy: "ask", need: .attach),
    ]

    @Test func text() {
        #expect(
            CheckReport.text(Self.checks) == """
                ok       machine    x86_64
                limited  timer      late
                                    hurry
                no       attaching  refused\\u{1b}[31m
                                    ask

                record works here, attach does not; see timer, attaching

                """)
    }

    @Test func json() {
        #expect(
            CheckReport.json(Self.checks) == """
                {"schema":1,"canRecord":true,"canAttach":false,"checks":[
                {"subject":"machine","level":"ok","finding":"x86_64","remedy":null},
                {"subject":"timer","level":"limited","finding":"late","remedy":"hurry"},
                {"subject":"attaching","level":"no","finding":"refused\\u001b[31m","remedy":"ask"}
                ]
                }

                """)
    }

    @Test func verdicts() {
        func verdict(_ level: Check.Level, _ need: Check.Need) -> Verdict {
            Verdict([Check("a", .ok, ""), Check("b", level, "", need: need)])
        }
        for need in [Check.Need.record, .attach, .none] {
            for level in [Check.Level.ok, .limited] {
                #expect(verdict(level, need).canRecord && verdict(level, need).canAttach)
            }
        }
        #expect(!verdict(.no, .record).canRecord && !verdict(.no, .record).canAttach)
        #expect(verdict(.no, .attach).canRecord && !verdict(.no, .attach).canAttach)
        #expect(verdict(.no, .none).canRecord && verdict(.no, .none).canAttach)
        #expect(verdict(.ok, .none).blemishes.isEmpty)
        #expect(verdict(.limited, .none).blemishes == ["b"])
    }

    @Test func conclusions() {
        func last(_ checks: [Check]) -> Substring? {
            CheckReport.text(checks).split(separator: "\n").last
        }
        #expect(last([Self.checks[0]]) == "record and attach work here")
        #expect(last([Self.checks[1]]) == "record and attach work here; see timer")
        #expect(
            last([Check("x", .no, "", need: .record)])
                == "neither record nor attach works here; see x")
        #expect(last([]) == "record and attach work here")
    }
}
