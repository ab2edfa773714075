internal import Glibc
internal import ProfileModel

/// What earlier symbolication found, kept on disk by build id.
///
/// Of each module there may be three files: the answers (address → frames), because a launch asks
/// for some hundreds of addresses, mostly the same ones each time; where in the debug information
/// what is, for the addresses that nobody asked about before; and that information's sections, where
/// they were packed.
///
/// Nothing here is an error for anybody: where a file cannot be read or written, is damaged or is of
/// other debug information, there is no answer, and symbolication finds it anew.
package struct SymbolCache: Sendable {
    /// Changes with the format of the files and with what symbolication would answer.
    package static let version: UInt32 = 2

    /// What answers belong to.
    struct Key: Sendable {
        /// The module's.
        var buildID: [UInt8]
        /// The files that the answers were taken from.
        var identity: [UInt8]
    }

    private let folder: CacheFolder

    /// - Parameters:
    ///   - path: absolute; made if it is not there, but not the folder that it is in.
    ///   - limit: the bytes that all files together may have; those not used for longest go.
    package init(folder path: String, limit: Int = 512 << 20) {
        folder = CacheFolder(path: path, makes: [], limit: limit)
    }

    private init(_ folder: CacheFolder) { self.folder = folder }

    /// The user's: `$FIRSTLIGHT_CACHE`, else `firstlight` in `$XDG_CACHE_HOME`, else
    /// `~/.cache/firstlight`. nil where there is none, and where `FIRSTLIGHT_CACHE` is empty.
    package static var ofUser: SymbolCache? {
        CacheFolder.ofUser(limit: 512 << 20).map(SymbolCache.init)
    }

    /// Where it is, or would be.
    package var path: String { folder.path }

    /// What is known of a module's addresses.
    func answers(for key: Key) -> CachedAnswers? {
        map(.answers, key, limit: CachedAnswers.mostBytes).flatMap {
            CachedAnswers($0, identity: key.identity)
        }
    }

    /// Keeps a module's answers, besides the ones that were there.
    func store(_ answers: CachedAnswers, for key: Key) {
        guard let name = Self.name(of: key, .answers) else { return }
        let bytes = answers.encoded(identity: key.identity)
        guard answers.areBehindOthers,
            folder.append(bytes, to: name, limit: CachedAnswers.mostBytes)
        else {
            folder.write(bytes, as: name)
            return
        }
    }

    /// Keeps what was found out about a module's debug information.
    func store(_ dwarf: DirectDwarf, for key: Key) {
        if dwarf.hasLearned { store(dwarf.places, for: key) }
        store(dwarf.unpackedSections, for: key)
    }

    /// Where in a module's debug information what is.
    func places(for key: Key) -> DebugPlaces? {
        guard let file = map(.places, key, limit: DebugPlaces.mostBytes),
            let parcel = Parcel(.places, file.bytes, identity: key.identity)
        else { return nil }
        // It copies what it keeps.
        return withExtendedLifetime(file) { DebugPlaces(parcel.content) }
    }

    private func store(_ places: DebugPlaces, for key: Key) {
        let content = places.encoded()
        guard !content.isEmpty else { return }
        write(Parcel.sealed(.places, identity: key.identity, content), .places, key)
    }

    /// The sections of a module's debug information that are packed in its file.
    func sections(for key: Key) -> UnpackedSections? {
        map(.sections, key, limit: UnpackedSections.mostBytes).flatMap {
            UnpackedSections($0, identity: key.identity)
        }
    }

    private func store(
        _ sections: [(name: String, bytes: UnsafeRawBufferPointer)], for key: Key
    ) {
        let content = UnpackedSections.encoded(sections)
        guard !content.isEmpty else { return }
        write(Parcel.sealed(.sections, identity: key.identity, content), .sections, key)
    }

    // MARK: - Files

    private func map(_ suffix: CacheFolder.Suffix, _ key: Key, limit: Int) -> MappedFile? {
        Self.name(of: key, suffix).flatMap { folder.map($0, limit: limit) }
    }

    private func write(_ bytes: [UInt8], _ suffix: CacheFolder.Suffix, _ key: Key) {
        guard let name = Self.name(of: key, suffix) else { return }
        folder.write(bytes, as: name)
    }

    /// Shorter ones are no identity.
    private static func name(of key: Key, _ suffix: CacheFolder.Suffix) -> String? {
        guard (8...64).contains(key.buildID.count) else { return nil }
        return key.buildID.hex + suffix.rawValue
    }
}
