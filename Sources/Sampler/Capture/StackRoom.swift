import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Tells where stacks lie, how much of them there is, and whether there is room for more on them.
struct StackRoom: SessionPart {
    let context: SessionContext

    /// Whether a signal's frame may go to the stack that a thread was seen on last.
    func hasRoomForSignal(_ thread: TracedThread) -> Bool {
        noteStack(of: thread)
        let place = observer.stackPlace(of: thread)
        noteRoom(of: thread, place)
        return place.hasRoom && !thread.stack.lacksRoom && stage.image?.hasOtherStacks != true
    }

    /// Asks now and then whether a thread was ever near its stack's end.
    private func noteRoom(of thread: TracedThread, _ place: StackPlace) {
        guard place.hasRoom, !thread.stack.lacksRoom, thread.stack.countRequest() else { return }
        if process.hasUsed(place.lastRoom) { thread.stack.sawEnd() }
    }

    /// A program that was found on a stack of its own making may be on it again when a signal
    /// comes.
    func noteStack(of thread: TracedThread) {
        guard let image = stage.image, !image.hasOtherStacks,
            observer.stackPlace(of: thread).isForeign
        else { return }
        // The stack's place may have held other memory when the mappings were read.
        observer.rereadMappings(at: process.now)
        let place = observer.stackPlace(of: thread)
        image.hasOtherStacks = place.isForeign || place.range.isEmpty
    }
}
