/// The requests that make our links: rtnetlink(7), and the kernel's `linux/if_link.h`,
/// `rtnetlink.h`.
enum LinkMessages {
    /// IPv4 addresses as bytes.
    typealias Address = (UInt8, UInt8, UInt8, UInt8)

    private static let newLink: UInt16 = 16  // RTM_NEWLINK
    private static let create: UInt16 = 0x600  // NLM_F_CREATE, NLM_F_EXCL
    private static let isUp: UInt32 = 1  // IFF_UP

    /// `struct ifinfomsg`.
    private static func link(
        index: Int32, flags: UInt32, change: UInt32, into message: inout NetlinkMessage
    ) {
        message.append(UInt8(0))
        message.append(UInt8(0))
        message.append(UInt16(0))
        message.append(index)
        message.append(flags)
        message.append(change)
    }

    /// Two interfaces that are the ends of one cable; the second is in the namespace `namespace` (a
    /// descriptor). Neither is up: the peer cannot be before both exist. Packets are no larger
    /// than the link's (no GSO), because each is shaped by itself.
    static func cable(
        name: String, index: Int32, peerName: String, peerIndex: Int32, peerNamespace: Int32
    ) -> NetlinkMessage {
        var message = NetlinkMessage(type: newLink, flags: create)
        link(index: index, flags: 0, change: 0, into: &message)
        message.attribute(3, name)  // IFLA_IFNAME
        message.attribute(40, UInt32(1))  // IFLA_GSO_MAX_SEGS
        message.nested(18) { info in  // IFLA_LINKINFO
            info.attribute(1, "veth")  // IFLA_INFO_KIND
            info.nested(2) { data in  // IFLA_INFO_DATA
                data.nested(1) { peer in  // VETH_INFO_PEER
                    link(index: peerIndex, flags: 0, change: 0, into: &peer)
                    peer.attribute(3, peerName)
                    peer.attribute(40, UInt32(1))
                    peer.attribute(28, UInt32(bitPattern: peerNamespace))  // IFLA_NET_NS_FD
                }
            }
        }
        return message
    }

    static func bridge(name: String, index: Int32) -> NetlinkMessage {
        var message = NetlinkMessage(type: newLink, flags: create)
        link(index: index, flags: isUp, change: isUp, into: &message)
        message.attribute(3, name)
        message.nested(18) { $0.attribute(1, "bridge") }
        return message
    }

    static func setUp(index: Int32) -> NetlinkMessage {
        var message = NetlinkMessage(type: newLink)
        link(index: index, flags: isUp, change: isUp, into: &message)
        return message
    }

    /// Adds an interface to a bridge, and sets it up.
    static func attach(name: String, toBridge bridge: Int32) -> NetlinkMessage {
        var message = NetlinkMessage(type: newLink)
        link(index: 0, flags: isUp, change: isUp, into: &message)
        message.attribute(3, name)
        message.attribute(10, UInt32(bitPattern: bridge))  // IFLA_MASTER
        return message
    }

    static func address(_ address: Address, prefix: UInt8, index: Int32) -> NetlinkMessage {
        var message = NetlinkMessage(type: 20, flags: create)  // RTM_NEWADDR
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        for field in [2, prefix, 0, 0] { message.append(field) }
        message.append(index)
        let bytes = [address.0, address.1, address.2, address.3]
        message.attribute(2, bytes)  // IFA_LOCAL
        message.attribute(1, bytes)  // IFA_ADDRESS
        return message
    }

    static func defaultRoute(gateway: Address, index: Int32) -> NetlinkMessage {
        var message = NetlinkMessage(type: 24, flags: create)  // RTM_NEWROUTE
        // struct rtmsg: family, lengths of addresses, TOS, table (main), protocol (static), scope,
        // type (unicast), flags.
        for field: UInt8 in [2, 0, 0, 0, 254, 4, 0, 1] { message.append(field) }
        message.append(UInt32(0))
        message.attribute(5, [gateway.0, gateway.1, gateway.2, gateway.3])  // RTA_GATEWAY
        message.attribute(4, UInt32(bitPattern: index))  // RTA_OIF
        return message
    }
}
