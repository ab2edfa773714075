internal import Glibc

/// Answers of earlier symbolication, kept on disk by build id.
///
/// What is kept are the answers (address → frames), not an index of the module: a launch asks for
/// some hundreds of addresses, mostly the same ones each time, and an index of what they are among
/// would be as large as the debug information.
///
/// Nothing here is an error for anybody: where a file cannot be read or written, is damaged or is of
/// other debug information, there is no answer, and symbolication finds it anew.
package struct SymbolCache: Sendable {
    /// Changes with the format of the files and with what symbolication would answer.
    static let version: UInt32 = 1

    /// What answers belong to.
    struct Key {
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
        guard let name = Self.name(of: key),
            let bytes = folder.read(name, limit: CachedAnswers.mostBytes)
        else { return nil }
        return CachedAnswers(bytes, identity: key.identity)
    }

    /// Keeps a module's answers; the ones that were there go.
    func store(_ answers: CachedAnswers, for key: Key) {
        guard let name = Self.name(of: key) else { return }
        folder.write(answers.encoded(identity: key.identity), as: name)
    }

    /// Shorter ones are no identity.
    private static func name(of key: Key) -> String? {
        guard (8...64).contains(key.buildID.count) else { return nil }
        let digits = Array("0123456789abcdef")
        let text = key.buildID.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(text) + CacheFolder.suffix
    }
}
