internal import CElfutils

/// A compiler's description of itself in a unit's DW_AT_producer.
struct ProducerText {
    private let words: [Substring]
    /// DW_AT_APPLE_optimized, which LLVM writes for Swift on all systems.
    private let isMarkedOptimized: Bool
    /// Not in `dwarf.h`; LLVM's `Dwarf.def` has it.
    static let appleOptimized = 0x3fe1

    init(_ text: String, isMarkedOptimized: Bool = false) {
        words = text.prefix(Self.longest).split(separator: " ")
        self.isMarkedOptimized = isMarkedOptimized
    }

    /// nil: the unit does not name its compiler.
    init?(of unit: UnitRoot) {
        guard let text = unit.tree.text(DW_AT_producer) ?? unit.root.text(DW_AT_producer) else {
            return nil
        }
        self.init(
            String(cString: text), isMarkedOptimized: unit.tree.has(Self.appleOptimized))
    }

    /// GCC writes down all options, which are a few hundred characters.
    static let longest = 4096

    /// True if the text says that nothing was optimised. Clang and rustc say nothing about this.
    var isUnoptimized: Bool {
        switch words.first {
        case "GNU": isUnoptimizedGNU
        case "Go": words.contains { $0 == "-N" || $0 == "-N;" }
        case "Swift": !isMarkedOptimized
        default: false
        }
    }

    /// The last -O counts; without one it is -O0. Some distributions omit all options: then nothing
    /// is known. Assembler never counts: a person wrote it.
    private var isUnoptimizedGNU: Bool {
        let options = words.filter { $0.hasPrefix("-") }
        guard words.dropFirst().first != "AS", !options.isEmpty else { return false }
        return options.last { $0.hasPrefix("-O") }.map { $0 == "-O0" } ?? true
    }
}
