import Glibc
package import ProcessIO

extension ConfinementFacts {
    package static func ofThisProcess() -> ConfinementFacts {
        var buffer = ReadBuffer()
        var facts = ConfinementFacts()
        facts.container = container(
            exists: { access($0, F_OK) == 0 },
            read: { path in
                buffer.readAll(path: path)
                return String(decoding: buffer.contents, as: UTF8.self)
            })
        facts.hasOwnProcessIDs = ProcessIDNamespace.isOwn
        buffer.readAll(path: "/proc/self/status")
        facts.namespaceDepth = depth(status: buffer.text)
        facts.seccompFilters = filters(status: buffer.text)
        return facts
    }

    /// The kind of container that leaves such traces; nil: none that we know.
    ///
    /// Docker makes `/.dockerenv`, Podman `/run/.containerenv`. Other containers give systemd their
    /// name (https://systemd.io/CONTAINER_INTERFACE), or show in version 1 control groups.
    package static func container(exists: (String) -> Bool, read: (String) -> String) -> String? {
        if exists("/run/.containerenv") { return "Podman" }
        if exists("/.dockerenv") { return "Docker" }
        let named = read("/run/systemd/container").prefix { !$0.isNewline }.prefix(40)
        if !named.isEmpty { return String(named) }
        let groups = read("/proc/1/cgroup")
        let traces = [("kubepods", "Kubernetes"), ("/docker", "Docker"), ("/lxc", "LXC")]
        return traces.first { groups.contains($0.0) }?.1
    }

    /// `NSpid:` has our id in each namespace, from that of `/proc` down to our own.
    package static func depth(status: ProcText) -> Int {
        var text = status
        guard text.skip(toLine: "NSpid:") else { return 1 }
        var count = 0
        while text.decimal() != nil { count += 1 }
        return max(1, count)
    }

    /// Kernels before 5.9 tell only whether there are filters.
    package static func filters(status: ProcText) -> Int64 {
        if let count = ProcFormats.field("Seccomp_filters:", status) { return count }
        return ProcFormats.field("Seccomp:", status) == 2 ? 1 : 0
    }
}
