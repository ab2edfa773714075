package import ProfileModel

/// A function, a wait, an initialiser, a library or a process that costs launches time, with the
/// name that a store of many machines' launches uses.
package struct CostlyThing: Hashable, Sendable {
    package var kind: TopKind
    package var name: String
    package var module: String
    package var isOwn: Bool
    /// Only for a wait.
    package var reason: WaitReason.Kind?
    /// Only for a wait; nil: the main thread.
    package var thread: String?
    /// The place in the source; nil: not known.
    package var file: String?
    package var line: Int32?

    package init(kind: TopKind, name: String, module: String, isOwn: Bool) {
        (self.kind, self.name, self.module, self.isOwn) = (kind, name, module, isOwn)
    }
}
