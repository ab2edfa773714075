internal import ELF

/// Readable names, by the address of the mangled ones in the mapped file. Each is demangled once,
/// and a repeated question does not even hash its text. Belongs to one open module.
final class NameCache {
    /// A function's two names.
    struct Name {
        var readable: String
        /// The linker's name; nil if it is the same.
        var linkage: String?
    }

    /// The encoding of the file's names that the names alone do not reveal.
    private lazy var scheme = findScheme()
    private let findScheme: () -> NameScheme?
    private var names: [UInt: Name] = [:]
    /// The linker's names by the readable ones; nil if several linker's names have the same
    /// readable name (a constructor for whole objects, and one for base classes).
    private var linkages: [String: String?] = [:]
    /// Names that are not in `linkages` yet: they are rarely needed.
    private var unlisted: [Name] = []

    /// - Parameter tables: the symbols of the file that the names are from; they reveal its
    ///   language. Called only when a name needs it.
    init(_ tables: @escaping () -> [ELFSymbolTable]) {
        findScheme = {
            let tables = tables()
            return NameScheme { name in tables.contains { $0.address(of: name) != nil } }
        }
    }

    /// - Parameter bytes: in memory that stays mapped and unchanged as long as the cache lives.
    func name(_ bytes: UnsafeRawBufferPointer) -> Name {
        let key = UInt(bitPattern: bytes.baseAddress)
        if let known = names[key] { return known }
        let linkage = String(decoding: bytes, as: UTF8.self)
        let readable = decoded(linkage) ?? Demangler.readable(linkage)
        let name = Name(
            readable: readable, linkage: readable == linkage ? nil : Demangler.bounded(linkage))
        names[key] = name
        unlisted.append(name)
        return name
    }

    /// The name in its own language, if the file's scheme encodes it.
    func decoded(_ name: String) -> String? {
        guard NameScheme.mayApply(to: name), let scheme else { return nil }
        let (base, clones) = Demangler.splitClones(name)
        return scheme.readable(base).map {
            Demangler.bounded($0 + Demangler.describe(clones: clones))
        }
    }

    func readable(_ bytes: UnsafeRawBufferPointer) -> String { name(bytes).readable }

    /// The linker's name of a function whose readable name came from here; nil if it is unknown, or
    /// the same.
    func linkageName(of readable: String) -> String? {
        for name in unlisted { list(name) }
        unlisted.removeAll()
        return linkages[readable] ?? nil
    }

    /// Text that is not mangled (a path), cached in the same way.
    func text(_ start: UnsafePointer<CChar>) -> String {
        let key = UInt(bitPattern: start)
        if let known = names[key] { return known.readable }
        let text = String(cString: start)
        names[key] = Name(readable: text)
        return text
    }

    private func list(_ name: Name) {
        guard let linkage = name.linkage else { return }
        if let known = linkages[name.readable] {
            if known != linkage { linkages[name.readable] = .some(nil) }
        } else {
            linkages[name.readable] = linkage
        }
    }
}
