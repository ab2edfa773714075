import Glibc
import ProfileModel
import System

// Classes that own kernel objects, for values that have several of these as parts.

final class DiskLimitHolder {
    private let limit: DiskLimit
    init(_ limit: consuming DiskLimit) { self.limit = limit }
    var processes: Int32 { limit.processes }
}

final class HomeHolder {
    private let folder: HomeFolder
    init(_ folder: consuming HomeFolder) { self.folder = folder }
    var environment: [EnvironmentChange] { folder.environment }
    func renew() throws(ConditionError) { try folder.renew() }
}

final class CopiesHolder {
    private let copies: PrivateCopies
    init(_ copies: consuming PrivateCopies) { self.copies = copies }
    var pairs: [(original: String, copy: String)] { copies.pairs }
}

/// The namespaces of a launch, and the network in them.
final class NetHolder {
    private let namespaces: Namespaces
    private let link: LinkHolder?
    /// nil: the program uses our network.
    private let shared: SharedFolder?

    /// nil: no namespace is needed.
    convenience init?(
        _ request: ConditionRequest, binds: [(source: String, target: String)]
    ) throws(ConditionError) {
        guard request.network != nil || !binds.isEmpty else { return nil }
        try self.init(request.network, binds: binds)
    }

    init(
        _ network: NetworkCondition?, binds: [(source: String, target: String)],
        reachesOutside: Bool = true, usesLine: Bool = false
    ) throws(ConditionError) {
        let condition =
            network.map { "the network '\($0.name)'" } ?? "private copies of the program's files"
        var wanted = Namespaces.Wanted(network: network != nil, binds: binds)
        shared = network == nil ? nil : try SharedFolder(condition: condition)
        var profile: LinkProfile?
        if case .link(let wantedProfile) = network {
            profile = wantedProfile
            wanted.router = true
            if let bind = try shared?.nameServerFile(NetworkLink.nameServer, condition) {
                wanted.binds.append(bind)
            }
        }
        namespaces = try Namespaces(wanted, condition: condition)
        if let profile {
            link = LinkHolder(
                try NetworkLink(
                    profile, in: namespaces, reachesOutside: reachesOutside, usesLine: usesLine))
        } else {
            link = nil
            if network != nil { try NetworkLink.setUpLoopback(of: namespaces, condition) }
        }
    }

    var socketFolder: String? { shared?.path }
    var entered: [Int32] { namespaces.entered }
    var changesMounts: Bool { namespaces.changesMounts }
    var helpers: [Int32] { link?.helpers ?? [] }
    /// For tests: the far end's namespaces, in the order of entering.
    var router: [Int32] { [namespaces.user, namespaces.router].filter { $0 >= 0 } }
}

private final class LinkHolder {
    private let link: NetworkLink
    init(_ link: consuming NetworkLink) { self.link = link }
    var helpers: [Int32] { link.helpers }
}

/// Our files for a program with another network.
private final class SharedFolder {
    private let folder: TemporaryFolder

    init(condition: String) throws(ConditionError) {
        folder = try TemporaryFolder(
            in: "/tmp", prefix: "firstlight-network", condition: condition)
        // The program may change its user.
        chmod(folder.path, 0o711)
    }

    var path: String { folder.path }

    /// A replacement for /etc/resolv.conf, whose name server may be unreachable; nil: there is no
    /// such file to replace.
    func nameServerFile(
        _ server: String, _ condition: String
    ) throws(ConditionError) -> (source: String, target: String)? {
        guard let target = FileText.real("/etc/resolv.conf") else { return nil }
        let path = "\(folder.path)/resolv.conf"
        do throws(Errno) {
            let file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
            fchmod(file.number, 0o644)
            try file.write(Array("nameserver \(server)\n".utf8))
        } catch {
            throw .failed(condition: condition, step: "writing \(path)", code: error.number)
        }
        return (source: path, target: target)
    }
}
