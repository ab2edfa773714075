import ProfileModel

/// The part of a frame in the loading of Node's modules.
enum LoadingRole: Hashable, Sendable {
    /// It is no JavaScript, or a function of Node's library.
    case library
    /// A function of the program, or of a package.
    case program
    /// Node's own code that looks for modules and runs them.
    case loader
    /// It runs the program's first script.
    case start
    /// A module's own code, outside of all functions; the frame stands for its import.
    case module(FrameID)
}

/// Shows a module's import in place of the Node functions that perform it.
///
/// `require` runs half a dozen functions, from `require` itself to `Module._compile`, before the
/// module's code. Where these do work themselves, they call no module's code, and they stay.
struct ModuleLoading: Sendable {
    /// For each line of a ``PathTable`` that is in the loader: the loader's caller.
    private var callers: [Int32: Int32] = [:]

    /// In place of a caller: the program itself is being loaded, which no module imports.
    private static let program: Int32 = -3

    /// The frame that represents the loader between a module and its importer, and the importer's
    /// line. nil: the loader did not call a frame of this role, or it is no module.
    ///
    /// - Parameter parent: the caller's line.
    func importing(_ role: LoadingRole, calledFrom parent: Int32) -> (FrameID, caller: Int32)? {
        guard case .module(let importing) = role, let caller = callers[parent],
            caller != Self.program
        else { return nil }
        return (importing, caller)
    }

    /// Records a line that stays as it is, of a frame of this role.
    mutating func note(_ line: Int32, _ role: LoadingRole, calledFrom parent: Int32) {
        switch role {
        case .library: if let caller = callers[parent] { callers[line] = caller }
        case .loader: callers[line] = callers[parent] ?? parent
        case .start: callers[line] = Self.program
        case .program, .module: break
        }
    }
}
