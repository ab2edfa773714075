package import Agent
import Images
import ProcessIO
import ProfileModel
package import Readiness
import System

/// The signposts of a measured program, for a condition that waits for one. They are switched on in
/// the program and in the libraries loaded at start-up. Signposts of libraries loaded later stay
/// off.
package final class LaunchSignposts {
    private let pid: Int32
    private let area: AgentMemory
    private let signposts: ProgramSignposts
    private let linker: DynamicLinker?

    /// - Parameter start: the program, stopped at its first instruction.
    package init(pid: Int32, _ area: AgentMemory, _ start: ImageStart) {
        self.pid = pid
        self.area = area
        linker = start.linker
        let inner = ProcessStatus(pid: pid)?.innerPID ?? pid
        signposts = area.makeSignposts(pid: inner, since: .now)
        if let program = start.program { switchOn(program) }
    }

    /// Opens the gate at which the program may wait, and reports the signposts since the last look.
    package func look(_ ready: ReadyWatch) {
        if area.isGateWaiting, area.holdGate() {
            let memory = TargetMemory(pid: pid)
            let objects = linker.map { LinkMap.objects(debug: $0.debug, memory: memory) } ?? []
            for object in objects.dropFirst() { object.image(memory).map(switchOn) }
            area.openGate()
        }
        for event in signposts.poll(thread: { _ in nil }).events where event.kind != .begin {
            ready.saw(signpost: event.label.name, at: event.time)
        }
    }

    private func switchOn(_ image: LoadedImage) {
        for write in signposts.activation(of: image) {
            _ = TargetMemory(pid: pid).write(write.bytes, at: write.address)
        }
    }
}
