internal import Glibc
package import ProfileModel

/// The results of earlier symbolication, kept on disk by build id.
///
/// Each module may have three files. The first has the answers (address → frames), because a launch
/// needs some hundreds of addresses, mostly the same ones each time. The second tells where
/// functions, lines and containers are in the debug information, for addresses that were never
/// looked up before. The third has unpacked sections of that information, if they were packed; that
/// of a kernel has the list of its functions.
///
/// Nothing here is an error: if a file cannot be read or written, is damaged, or is for other debug
/// information, there is no answer, and symbolication starts again.
package struct SymbolCache: Sendable {
    /// Changes with the format of the files, and with the answers that symbolication would give.
    package static let version: UInt32 = 3

    /// Identifies the module and the files of some answers.
    struct Key: Sendable {
        /// The module's build id.
        var buildID: [UInt8]
        /// The files that the answers were taken from.
        var identity: [UInt8]
    }

    private let folder: CacheFolder
    /// Answers that were found faster are not kept.
    let leastCost: TimeSpan

    /// - Parameters:
    ///   - path: absolute. The folder is created if it is missing, but not its parent.
    ///   - limit: the total size of all files in bytes; the least recently used ones are deleted.
    ///   - leastCost: answers that were found faster are not worth a file.
    package init(
        folder path: String, limit: Int = 512 << 20, leastCost: TimeSpan = Self.usualLeastCost
    ) {
        self.init(CacheFolder(path: path, makes: [], limit: limit), leastCost: leastCost)
    }

    private init(_ folder: CacheFolder, leastCost: TimeSpan = Self.usualLeastCost) {
        self.folder = folder
        self.leastCost = leastCost
    }

    package static let usualLeastCost = TimeSpan.milliseconds(3)

    /// The user's cache: `$FIRSTLIGHT_CACHE`, else `firstlight` in `$XDG_CACHE_HOME`, else
    /// `~/.cache/firstlight`. nil if there is none of these, or if `FIRSTLIGHT_CACHE` is empty.
    package static var ofUser: SymbolCache? {
        CacheFolder.ofUser.map { SymbolCache($0) }
    }

    /// Where the cache is, or would be.
    package var path: String { folder.path }

    /// The known answers for a module's addresses.
    func answers(for key: Key) -> CachedAnswers? {
        map(.answers, key, limit: CachedAnswers.mostBytes).flatMap {
            CachedAnswers($0, identity: key.identity)
        }
    }

    /// Stores a module's answers, in addition to those already there.
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

    /// Stores the places that were found in a module's debug information.
    func store(_ dwarf: DirectDwarf, for key: Key) {
        if dwarf.hasLearned { store(dwarf.places, for: key) }
        store(dwarf.unpackedSections, for: key)
    }

    /// The known places in a module's debug information.
    func places(for key: Key) -> DebugPlaces? {
        guard let file = map(.places, key, limit: DebugPlaces.mostBytes),
            let parcel = Parcel(.places, file.bytes, identity: key.identity)
        else { return nil }
        // `DebugPlaces` copies the bytes that it keeps.
        return withExtendedLifetime(file) { DebugPlaces(parcel.content) }
    }

    private func store(_ places: DebugPlaces, for key: Key) {
        let content = places.encoded()
        guard !content.isEmpty else { return }
        write(Parcel.sealed(.places, identity: key.identity, content), .places, key)
    }

    /// The unpacked sections of a module's debug information that are packed in its file.
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

    /// The functions of a kernel, as the kernel listed them.
    func kernelList(for key: Key) -> [UInt8]? {
        guard let sections = sections(for: key), let list = sections[Self.kernelList] else {
            return nil
        }
        return withExtendedLifetime(sections) { Array(list) }
    }

    func store(kernelList list: [UInt8], for key: Key) {
        list.withUnsafeBytes { store([(Self.kernelList, $0)], for: key) }
    }

    private static let kernelList = "kallsyms"

    // MARK: - Files

    private func map(_ suffix: CacheFolder.Suffix, _ key: Key, limit: Int) -> MappedFile? {
        Self.name(of: key, suffix).flatMap { folder.map($0, limit: limit) }
    }

    private func write(_ bytes: [UInt8], _ suffix: CacheFolder.Suffix, _ key: Key) {
        guard let name = Self.name(of: key, suffix) else { return }
        folder.write(bytes, as: name)
    }

    /// A shorter build id identifies nothing.
    private static func name(of key: Key, _ suffix: CacheFolder.Suffix) -> String? {
        guard (8...64).contains(key.buildID.count) else { return nil }
        return key.buildID.hex + suffix.rawValue
    }
}
