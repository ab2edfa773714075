import ProfileModel
package import Symbolicate

/// The modules whose functions are being looked up. Several are looked up at once, and all of them
/// are named: any may be the slowest.
package struct Lookups: Sendable {
    private var ongoing: [Module] = []
    private var done = 0
    private var count = 0

    package init() {}

    package mutating func note(_ progress: Symbolicator.Progress) {
        count = progress.count
        guard progress.isDone else { return ongoing.append(progress.module) }
        done += 1
        if let index = ongoing.firstIndex(of: progress.module) { ongoing.remove(at: index) }
    }

    /// "firstlight: looking up functions, 5 of 7 modules done, now app, libc.so.6"; nil: no lookup
    /// has begun.
    package var text: String? {
        guard count > 0 else { return nil }
        let names = ongoing.map { String($0.name) }.joined(separator: ", ")
        return "firstlight: looking up functions, \(done) of \(count) modules done"
            + (names.isEmpty ? "" : ", now \(names)")
    }
}
