import ProfileModel
import Testing

@testable import Readiness
@testable import Sampler

@Suite struct DrawingWatchTests {
    /// Window 7 is the program's, 8 is in it, 9 is another program's. Returns the events behind a
    /// first drawing.
    private func rest(_ events: [XConnection.Event]) -> [XConnection.Event]? {
        let timed: [DrawingWatch.Timed] = events.map {
            (event: $0, time: MonotonicTime(nanoseconds: 1))
        }
        let rest = DrawingWatch.rest(of: timed[...], own: [7], family: [7, 8])
        return rest.map { $0.map { $0.event } }
    }

    private let drawn = XConnection.Event.drawn(7, sequence: 1)

    @Test func requestsWithoutAnExposeAreDrawing() {
        #expect(rest([]) == nil)
        #expect(rest([drawn, drawn]) == nil)
        #expect(rest([.mapped(7), .other, .exposed(9)]) == nil)
    }

    @Test func requestsBeforeAnExposeAreBackground() {
        #expect(rest([.exposed(7)]) == [.exposed(7)])
        // Of the window and of one within it, with a border before.
        #expect(rest([drawn, .exposed(8), .exposed(8)]) == [.exposed(8), .exposed(8)])
        // Other windows' events and later drawings are kept.
        let other = XConnection.Event.drawn(9, sequence: 1)
        #expect(
            rest([.mapped(8), other, drawn, .exposed(7), drawn])
                == [.mapped(8), other, .exposed(7), drawn])
    }
}
