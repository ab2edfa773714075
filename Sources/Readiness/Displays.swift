import CXCB
import ProcessIO

/// Why a display cannot be watched.
package struct DisplayProblem: Error {
    package let reason: String
}

/// The displays that the environment names.
package struct Displays {
    package private(set) var server: XConnection?
    package private(set) var relay: WaylandRelay?

    /// For a program that will be started. A display that cannot be reached is left out if there is
    /// another one: the program could not reach it either.
    ///
    /// - Parameters:
    ///   - known: a relay that the program will connect to already.
    ///   - setting: makes the program connect to a new relay.
    package init(
        launching wanted: DisplaySource.Wanted, known: WaylandRelay?,
        _ setting: inout ProgramSetting
    ) throws(DisplayProblem) {
        var unreachable: [String] = []
        relay = known
        if known == nil, let target = Self.compositor(&unreachable) {
            do throws(SystemError) {
                relay = try WaylandRelay(to: target, setting: &setting)
            } catch {
                throw DisplayProblem(reason: error.description)
            }
        }
        do throws(DisplayProblem) {
            server = try Self.openServer()
        } catch {
            unreachable.append(error.reason)
        }
        try Self.check(server, knows: wanted)
        guard relay == nil, server == nil else { return }
        throw DisplayProblem(
            reason: unreachable.isEmpty
                ? "DISPLAY is not set, nor is WAYLAND_DISPLAY"
                : unreachable.joined(separator: "; "))
    }

    /// For a process that is connected already: on Wayland this is too late.
    package init(attachingFor wanted: DisplaySource.Wanted) throws(DisplayProblem) {
        server = try Self.openServer()
        try Self.check(server, knows: wanted)
        guard server == nil else { return }
        throw DisplayProblem(
            reason: "DISPLAY is not set, and on Wayland only a program that 'firstlight record' "
                + "starts can be watched")
    }

    private static func compositor(_ unreachable: inout [String]) -> WaylandDisplay? {
        do throws(SystemError) {
            guard let target = try WaylandDisplay() else { return nil }
            try target.reach()
            return target
        } catch {
            unreachable.append("no Wayland compositor: \(error.description)")
            return nil
        }
    }

    /// nil: DISPLAY is not set.
    private static func openServer() throws(DisplayProblem) -> XConnection? {
        guard let name = WaylandDisplay.variable("DISPLAY") else { return nil }
        return try XConnection.open(name)
    }

    private static func check(
        _ server: XConnection?, knows wanted: DisplaySource.Wanted
    ) throws(DisplayProblem) {
        guard wanted == .frame, server?.drawing == DrawingExtension.none else { return }
        throw DisplayProblem(reason: "the X server has neither the extension Damage nor Present")
    }
}
