import Agent
import CAgent
import Images
import ProcessIO
import ProfileModel
import System

/// Reports the launch's borders that our code in the program noted.
struct LaunchReports: SessionPart {
    let context: SessionContext
    let signposts: SignpostReports
    let signalStacks: SignalStacks
    let eventStacks: EventStacks
    let libraryReports: LibraryReports

    /// Reports the borders reached since the last call.
    func reportBorders(at now: MonotonicTime) {
        guard let image = stage.image, let code = image.instrumentation else { return }
        if code.watchesLaunch, image.opening?.kind == .firstInstruction,
            code.borders.beginWatch(by: code.area)
        {
            let settled = code.area.time(\.settled_ns) ?? image.start
            watched(from: min(max(settled, image.start), now))
        }
        if let gate = code.borders.gate(of: code.area) {
            context.noteHold(from: max(gate.start, image.start), to: min(gate.end, now))
        }
        while let (border, moment) = code.borders.next(of: code.area) {
            learnMappings(of: image, code.area, at: now)
            pass(border, moment, of: image, code, at: now)
        }
    }

    /// The border that follows will be noted, if the launch comes to it.
    private func watched(from time: MonotonicTime) {
        sink.receive(.border(LaunchBorder(kind: .watched, time: time)))
    }

    /// Learns which files the code in the border's stack belongs to. The mappings may not have been
    /// read since the libraries came, and the process may be gone.
    private func learnMappings(of image: RunningImage, _ area: AgentMemory, at now: MonotonicTime) {
        guard let relocated = area.border(.relocated)?.time,
            observer.mappings.lastSeen < relocated
        else { return }
        observer.rereadMappings(at: now)
        guard observer.mappings.lastSeen < relocated else { return }
        observer.addMappings(area.notedLibraries.flatMap(\.code), at: now)
        let unnoted = area.unnotedLibraries
        if unnoted > 0 { ledger.note(.unknownLibraries, Int64(unnoted)) }
    }

    /// The same for the program itself, whose mappings could not be read once it was released.
    func learnProgram(of image: RunningImage, at now: MonotonicTime) {
        guard observer.mappings.code.isEmpty, var noted = image.noted else { return }
        noted.path = image.path
        observer.addMappings(noted.code, at: now)
    }

    private func pass(
        _ border: NotedBorder, _ moment: AgentMemory.Moment, of image: RunningImage,
        _ code: Instrumentation, at now: MonotonicTime
    ) {
        guard let main = threads[pid] else { return }
        // The clock is read after the note: between a tick and its note we may have lost our core,
        // or read the libraries of the border before. A note is never later than now, except in a
        // damaged area.
        let time = min(max(moment.time, image.start), process.now)
        // Samples taken before the border are passed on before it.
        if let counters = main.counters() {
            if let answered = code.signals?.timeOfAnswer(of: main), answered < time {
                signalStacks.takeAnswer(of: main, counters)
            }
            eventStacks.takeSamples(of: main, counters, upTo: time)
            if main.blocked == nil {
                observer.sample(
                    CapturedStack(
                        time: time, cpu: moment.cpu,
                        snapshot: Snapshot(
                            registers: moment.stack.registers, stack: moment.stack.stack),
                        isOnAlternateStack: false),
                    of: main, counters, frames: nil)
            }
        }
        sink.receive(
            .border(LaunchBorder(kind: border.kind, time: time, counters: moment.counters)))
        if border == .relocated {
            // Where the linker does not say when it begins to map libraries: it does so first of
            // all.
            let mapping = code.area.time(\.mapping_ns) ?? code.area.time(\.settled_ns)
            libraryReports.learnLinkedProgram(code)
            listLibraries(of: image, code, since: mapping ?? time)
            if code.notesMain { watched(from: time) }
        } else if context.capture != .untraced {
            // From here on, nothing would report filters for system calls to us.
            context.abandonMarks()
        }
    }

    /// Reads the linker's list when the start-up's libraries are there.
    private func listLibraries(
        of image: RunningImage, _ code: Instrumentation, since start: MonotonicTime
    ) {
        guard image.libraries == nil, let linker = code.linker else { return }
        image.libraries = LibraryList(linker)
        // The program may have loaded more libraries in the meantime.
        let initial = code.area.initialLibraries
        // The list and the libraries' headers and names are complete, and do not change any more.
        let memory = process.memory.readOnce()
        libraryReports.reportLibraries(
            memory, since: start, isInitial: true, most: initial > 0 ? initial : .max)
        let objects = libraryReports.linkedObjects(linker, of: image, memory)
        signposts.switchOnSignposts(of: signposts.images(of: objects, memory))
        if !code.hasServedGate { marks?.pending = objects }
    }
}
