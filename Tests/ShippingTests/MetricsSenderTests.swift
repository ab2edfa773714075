import Foundation
import ProfileModel
import Shipping
import TestSupport
import Testing

@Suite struct MetricsSenderTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Records the lengths of pauses, without waiting: its clock goes on by that.
    private final class Pauses: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [Int64] = []

        var milliseconds: [Int64] { lock.withLock { list } }

        var clock: MetricsSender.Clock {
            let real = MetricsSender.Clock.machines
            return MetricsSender.Clock(
                now: { [self] in
                    real.now() + .milliseconds(milliseconds.reduce(0, +))
                },
                pause: { [self] span in
                    lock.withLock { list.append(span.nanoseconds / 1_000_000) }
                })
        }
    }

    private func send(
        _ text: String, to port: UInt16, limit: TimeSpan = .milliseconds(20_000),
        pauses: Pauses = Pauses()
    ) throws -> MetricsSender.Outcome {
        let address = try WebAddress("http://127.0.0.1:\(port)/v1/metrics", standardPort: 1)
        return try MetricsSender(
            to: address, DiskQueue(folder: scratch.path("queue")), client: HTTPClient(limit: limit),
            clock: pauses.clock
        ).send(Array(text.utf8))
    }

    @Test func acceptedMetricsAreRemoved() throws {
        let server = try Server([Server.status(200, "{}")])
        defer { server.end() }
        #expect(try send("one", to: server.port) == MetricsSender.Outcome(sent: 1))
        #expect(server.received == ["one"])
    }

    /// As the protocol has it: these, and no others.
    @Test(arguments: [429, 502, 503, 504]) func temporaryStatusesAreTriedAgain(status: Int) throws {
        let server = try Server([Server.status(status), Server.status(status), Server.status(200)])
        defer { server.end() }
        let pauses = Pauses()
        let outcome = try send("one", to: server.port, pauses: pauses)
        #expect(outcome.sent == 1 && outcome.kept == 0 && outcome.refusals.isEmpty)
        #expect(server.received == ["one", "one", "one"])
        #expect(pauses.milliseconds == [500, 1000])
    }

    @Test(arguments: [400, 401, 404, 413, 500]) func refusedMetricsAreNotSentAgain(
        status: Int
    ) throws {
        let server = try Server([Server.status(status, "no such thing")])
        defer { server.end() }
        let outcome = try send("one", to: server.port)
        #expect(outcome.sent == 0 && outcome.kept == 0)
        #expect(outcome.refusals == [.status(status, "no such thing")])
        #expect(server.received == ["one"])
    }

    @Test func theServersWishIsGranted() throws {
        let server = try Server([
            Server.status(503, headers: "Retry-After: 3\r\n"), Server.status(200),
        ])
        defer { server.end() }
        let pauses = Pauses()
        #expect(try send("one", to: server.port, pauses: pauses).sent == 1)
        #expect(pauses.milliseconds == [3000])
    }

    /// The server wants a longer pause than allowed: the data is kept.
    @Test func notForHours() throws {
        let server = try Server([Server.status(503, headers: "Retry-After: 86400\r\n")])
        defer { server.end() }
        let outcome = try send("one", to: server.port)
        #expect(outcome.kept == 1 && outcome.reason == "status 503")
        #expect(server.received == ["one"])
    }

    /// Nor without a pause, and for ever.
    @Test func aServerThatWantsItAtOnce() throws {
        let server = try Server([Server.status(503, headers: "Retry-After: 0\r\n")])
        defer { server.end() }
        let pauses = Pauses()
        #expect(try send("one", to: server.port, pauses: pauses).kept == 1)
        #expect(pauses.milliseconds == [500, 1000, 2000, 4000])
    }

    /// One that answers nothing does not take its time from all that is kept.
    @Test func patienceIsForAll() throws {
        let server = try Server([.silence])
        defer { server.end() }
        let address = try WebAddress("http://127.0.0.1:\(server.port)/", standardPort: 1)
        let queue = try DiskQueue(folder: scratch.path("queue"))
        for number in 0..<20 { try queue.append([UInt8(number)]) }
        let sender = MetricsSender(to: address, queue, patience: .milliseconds(100))
        #expect(try sender.send([1]).kept == 21)
        // A second request would have had to wait as long again; the first may not be read as yet.
        #expect(server.received.count <= 1)
    }

    /// Data that another export is sending is not sent twice; new data is kept.
    @Test func twoAtOnce() throws {
        let server = try Server([Server.status(200)])
        defer { server.end() }
        let queue = try DiskQueue(folder: scratch.path("queue"))
        let outcome = try queue.delivering { () throws(QueueError) in
            try? send("one", to: server.port)
        }
        #expect(outcome??.kept == 1 && outcome??.reason == "another export is sending")
        #expect(server.received.isEmpty)
        #expect(try send("two", to: server.port).sent == 2)
    }

    @Test func unsentMetricsFollowWithTheNext() throws {
        let gone = try Server([.nothing], isListening: false)
        for number in 1...3 {
            let outcome = try send("\(number)", to: gone.port)
            #expect(outcome.kept == number && outcome.sent == 0)
            #expect(outcome.reason == "Connection refused")
        }
        let server = try Server([Server.status(200)])
        defer { server.end() }
        #expect(try send("4", to: server.port).sent == 4)
        #expect(server.received == ["1", "2", "3", "4"])
        #expect(try send("5", to: server.port).sent == 1)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "not HTTP\r\n\r\n"])
    func halfAnAnswerIsNone(text: String) throws {
        let server = try Server([.text(text), .nothing, Server.status(200)])
        defer { server.end() }
        let outcome = try send("one", to: server.port)
        #expect(outcome.sent == 1)
        #expect(server.received == ["one", "one", "one"])
    }

    @Test func aServerThatSaysNothing() throws {
        let server = try Server([.silence])
        defer { server.end() }
        let outcome = try send("one", to: server.port, limit: .milliseconds(50))
        #expect(outcome.kept == 1 && outcome.reason == "no answer in time")
    }

    @Test func aPartThatWasNotTaken() throws {
        let body = """
            {"partialSuccess": {"rejectedDataPoints": "3", "errorMessage": "too \\"old\\""}}
            """
        let server = try Server([Server.status(200, body)])
        defer { server.end() }
        let outcome = try send("one", to: server.port)
        #expect(outcome.sent == 1 && outcome.kept == 0)
        #expect(outcome.refusals == [.rejectedPoints(3, "too \\\"old\\\"")])
    }

    @Test func aNameThatNobodyKnows() throws {
        let address = try WebAddress("http://no.such.host.invalid/", standardPort: 80)
        let sender = MetricsSender(
            to: address, try DiskQueue(folder: scratch.path("queue")), patience: .zero)
        let outcome = try sender.send([1])
        #expect(outcome.kept == 1 && !outcome.reason.isEmpty)
    }
}
