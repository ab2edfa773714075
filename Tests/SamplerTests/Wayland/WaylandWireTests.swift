import CSystem
import Foundation
import TestSupport
import Testing

@Suite struct WaylandWireTests {
    /// Configured by the event, framed by the commit with a buffer.
    @Test func aWindowsBeginning() {
        let reader = WireReader()
        #expect(reader.requests(.toplevel()) == [])
        var first = WireText()
        first.commit()
        #expect(reader.requests(first) == [])
        var configure = WireText()
        configure.message(7, 0, [0, 0, 0])
        #expect(reader.events(configure) == [])
        configure.message(6, 0, [9])
        #expect(reader.events(configure) == .configured)
        #expect(reader.events(configure) == [])
        var frame = WireText()
        frame.message(6, 4, [9])
        frame.attach(20)
        #expect(reader.requests(frame) == [])
        frame = WireText()
        frame.commit()
        #expect(reader.requests(frame) == .framed)
        // Later bytes are not examined.
        #expect(reader.requests([0, 0, 0, 0, 0, 0, 0, 0]) == [])
    }

    /// However the bytes are cut, the events come with the last byte of their messages.
    @Test func cutAtEveryByte() {
        var requests = WireText.toplevel()
        requests.message(8, 0, Array(repeating: 7, count: 100))
        requests.attach(20)
        requests.commit()
        let bytes = requests.bytes
        for cut in 0...bytes.count {
            let reader = WireReader()
            let first = reader.requests(bytes[..<cut])
            let second = reader.requests(bytes[cut...])
            #expect(first == (cut == bytes.count ? .framed : []), "cut at \(cut)")
            #expect(second == (cut == bytes.count ? [] : .framed), "cut at \(cut)")
        }
        let reader = WireReader()
        let each = bytes.map { reader.requests([$0]) }
        #expect(each.last == .framed)
        #expect(each.dropLast().allSatisfy { $0 == [] })
    }

    @Test func eventsCutAtEveryByte() {
        var events = WireText()
        events.message(2, 0, Array(repeating: 3, count: 30))
        events.message(1, 1, [30])
        events.message(6, 0, [9])
        for cut in 0..<events.bytes.count {
            let reader = WireReader()
            _ = reader.requests(.toplevel())
            #expect(reader.take(events.bytes[..<cut], fl_wayland_events) == [])
            #expect(reader.take(events.bytes[cut...], fl_wayland_events) == .configured)
        }
    }

    /// An acknowledgement means as much as the event did.
    @Test func anAcknowledgement() {
        let reader = WireReader()
        _ = reader.requests(.toplevel())
        var text = WireText()
        text.message(6, 4, [1])
        #expect(reader.requests(text) == .configured)
    }

    struct Case: CustomStringConvertible, Sendable {
        let description: String
        let change: @Sendable (inout WireText) -> Void
    }

    /// Requests that are not a top-level surface's first picture.
    @Test(arguments: [
        Case(description: "no buffer") { $0.commit() },
        Case(description: "no commit") { $0.attach(20) },
        Case(description: "the null buffer") {
            $0.attach(0)
            $0.commit()
        },
        Case(description: "a buffer that was taken back") {
            $0.attach(20)
            $0.attach(0)
            $0.commit()
        },
        Case(description: "another surface") {
            $0.message(3, 0, [10])
            $0.attach(20, to: 10)
            $0.commit(10)
        },
        Case(description: "a popup") {
            $0.message(3, 0, [10])
            $0.message(4, 2, [11, 10])
            $0.message(11, 2, [12, 6, 13])
            $0.attach(20, to: 10)
            $0.commit(10)
        },
        Case(description: "a toplevel that is gone") {
            $0.message(7, 0)
            $0.attach(20)
            $0.commit()
        },
        Case(description: "a surface that is gone") {
            $0.message(7, 0)
            $0.message(6, 0)
            $0.message(5, 0)
            $0.attach(20)
            $0.commit()
        },
        Case(description: "an unknown object") {
            $0.attach(20, to: 4_000_000_000)
            $0.commit(4_000_000_000)
        },
        Case(description: "an attach that is cut short") {
            $0.message(5, 1)
            $0.commit()
        },
    ])
    func noFrame(_ one: Case) {
        var text = WireText.toplevel()
        one.change(&text)
        #expect(WireReader().requests(text) == [])
    }

    /// An id may be given to something else as soon as the compositor has said so.
    @Test func anIdThatIsUsedAgain() {
        let reader = WireReader()
        _ = reader.requests(.toplevel())
        var gone = WireText()
        gone.message(1, 1, [5])
        #expect(reader.events(gone) == [])
        var text = WireText()
        text.attach(20)
        text.commit()
        #expect(reader.requests(text) == [])
    }

    @Test(arguments: [
        "wl_compositor_", "wl_composito", "WL_COMPOSITOR", "", "xdg_wm_base",
        String(repeating: "wl_compositor", count: 40),
    ])
    func anotherInterface(name: String) {
        var text = WireText()
        text.message(1, 1, [2])
        text.bind(registry: 2, name, as: 3)
        text.bind(registry: 2, "xdg_wm_base", as: 4)
        text.message(3, 0, [5])
        text.message(4, 2, [6, 5])
        text.message(6, 1, [7])
        text.attach(20)
        text.commit()
        #expect(WireReader().requests(text) == [])
    }

    /// A header that claims to be shorter than itself: the next message's beginning is not known.
    @Test(arguments: [0, 1, 4, 7] as [UInt32]) func impossibleSizes(size: UInt32) {
        let reader = WireReader()
        var text = WireText.toplevel()
        text.message(1, 0, [3], size: size)
        text.attach(20)
        text.commit()
        #expect(reader.requests(text) == .lost)
        #expect(reader.requests(text) == [])
    }

    @Test func moreObjectsThanAreFollowed() {
        let reader = WireReader()
        _ = reader.requests(.toplevel())
        var text = WireText()
        text.message(3, 0, [UInt32(FL_WAYLAND_OBJECTS - 1)])
        #expect(reader.requests(text) == [])
        text = WireText()
        text.message(3, 0, [UInt32(FL_WAYLAND_OBJECTS)])
        #expect(reader.requests(text) == .lost)
    }

    /// Real clients of weston's: the first picture comes with the request that the client itself logged,
    /// and the configuration before. Streams/ is made by record-streams.
    @Test(arguments: ["shm", "terminal", "gtk", "qt"]) func recordedStreams(name: String) throws {
        let stream = try RecordedStream(name)
        let reader = WireReader()
        var requests = RequestCounter()
        var isConfigured = false
        for piece in stream.pieces {
            for byte in piece.bytes {
                let news = reader.take([byte], piece.direction)
                if piece.direction == fl_wayland_requests { requests.take(byte) }
                #expect(!news.contains(.lost))
                if news.contains(.configured) { isConfigured = true }
                guard news.contains(.framed) else { continue }
                #expect(isConfigured)
                #expect(requests.count == stream.firstFrame)
                return
            }
        }
        Issue.record("no frame was found")
    }

    /// The same, cut in two at every byte up to the first picture.
    @Test func aRecordedStreamCutAnywhere() throws {
        let stream = try RecordedStream("terminal")
        var whole: [WireReader.News] = []
        for cut in 0..<stream.pieces.reduce(0, { $0 + $1.bytes.count }) {
            let reader = WireReader()
            var position = 0
            var news: [WireReader.News] = []
            for piece in stream.pieces {
                let first = max(0, min(cut - position, piece.bytes.count))
                position += piece.bytes.count
                news.append(
                    reader.take(piece.bytes[..<first], piece.direction).union(
                        reader.take(piece.bytes[first...], piece.direction)))
            }
            if cut == 0 { whole = news }
            #expect(news == whole)
        }
        #expect(whole.contains { $0.contains(.framed) })
    }

    /// Any bytes, in any pieces: the events are the same as of the whole, and each comes once.
    @Test func anything() {
        var random = SeededNumbers(seed: 5)
        for _ in 0..<3_000 {
            var text = Bool.random(using: &random) ? WireText.toplevel() : WireText()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let arguments = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    UInt32.random(in: 0...12, using: &random)
                }
                let isWrong = Int.random(in: 0..<40, using: &random) == 0
                text.message(
                    UInt32.random(in: 0...10, using: &random),
                    UInt32.random(in: 0...7, using: &random), arguments,
                    size: isWrong ? UInt32.random(in: 0...60, using: &random) : nil)
            }
            let whole = WireReader().requests(text)
            let reader = WireReader()
            var pieces: WireReader.News = []
            var rest = text.bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...9, using: &random))
                let news = reader.requests(piece)
                #expect(pieces.isDisjoint(with: news))
                pieces.formUnion(news)
                rest = rest.dropFirst(piece.count)
            }
            #expect(pieces == whole)
        }
    }
}

/// The bytes that passed between a client and a compositor (record-streams).
private struct RecordedStream {
    let pieces: [(direction: Int, bytes: [UInt8])]
    /// The first picture's place among the requests.
    let firstFrame: Int

    init(_ name: String, from file: String = #filePath) throws {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
            .appendingPathComponent("Streams")
        var rest = try [UInt8](Data(contentsOf: folder.appendingPathComponent(name)))[...]
        var pieces: [(direction: Int, bytes: [UInt8])] = []
        while let direction = rest.popFirst() {
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            pieces.append((Int(direction), Array(rest.dropFirst(4).prefix(length))))
            rest = rest.dropFirst(4 + length)
        }
        self.pieces = pieces
        let truth = try String(
            contentsOf: folder.appendingPathComponent(name + ".truth"), encoding: .utf8)
        firstFrame = try #require(Int(truth.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}

/// Counts messages that are complete.
private struct RequestCounter {
    private(set) var count = 0
    private var message: [UInt8] = []

    mutating func take(_ byte: UInt8) {
        message.append(byte)
        guard message.count >= 8 else { return }
        if message.count == Int(message[6]) | Int(message[7]) << 8 {
            count += 1
            message = []
        }
    }
}
