/// How the kernel slows packets that leave an interface: `linux/pkt_sched.h`, tc-tbf(8),
/// tc-netem(8).
enum Shaping {
    /// The queueing discipline that such a direction needs; nil: none. `tbf` supports only rates.
    static func discipline(for direction: LinkProfile.Direction) -> String? {
        if direction.delay > 0 || direction.loss > 0 { return "netem" }
        return direction.rate == nil ? nil : "tbf"
    }

    static func message(
        for direction: LinkProfile.Direction, index: Int32
    ) -> NetlinkMessage? {
        guard let discipline = discipline(for: direction) else { return nil }
        var message = NetlinkMessage(type: 36, flags: 0x600)  // RTM_NEWQDISC; create
        // struct tcmsg: family, padding, index, handle 1:, parent (root), info.
        message.append(UInt32(0))
        message.append(index)
        message.append(UInt32(0x1_0000))
        message.append(UInt32.max)
        message.append(UInt32(0))
        message.attribute(1, discipline)  // TCA_KIND
        if discipline == "tbf" {
            message.nested(2) { tokenBucket(direction, &$0) }  // TCA_OPTIONS
        } else {
            // An attribute that begins with a structure, followed by other attributes.
            message.nested(2) { emulator(direction, &$0) }
        }
        return message
    }

    /// A packet of the link as the disciplines count it: with Ethernet's header.
    private static let packet: Int64 = 1514
    /// The part of it that counts for a link's rate: the IP packet.
    private static let payload: Int64 = 1500

    /// In bytes per second, as the disciplines count.
    static func deviceRate(_ rate: Int64) -> Int64 { max(1, rate / 8 * packet / payload) }

    /// How many bytes may wait before packets are dropped: 50 packets, as in dummynet, or the bytes
    /// of a tenth of a second.
    private static func queueBytes(_ rate: Int64) -> Int64 { max(50 * packet, rate / 10) }

    private static func tokenBucket(
        _ direction: LinkProfile.Direction, _ message: inout NetlinkMessage
    ) {
        let rate = deviceRate(direction.rate ?? 0)
        // How many bytes may leave at once: two packets, or the bytes of 4 ms, a tick of slow
        // kernels.
        let burst = UInt32(clamping: max(2 * packet, rate / 250))
        message.nested(1) { options in  // TCA_TBF_PARMS: struct tc_tbf_qopt
            rateSpecification(rate, &options)
            rateSpecification(0, &options)
            options.append(UInt32(clamping: queueBytes(rate) + Int64(burst)))
            options.append(UInt32(0))
            options.append(UInt32(0))
        }
        message.attribute(6, burst)  // TCA_TBF_BURST
        if rate > Int64(UInt32.max) { message.attribute(4, UInt64(rate)) }  // TCA_TBF_RATE64
    }

    /// `struct tc_ratespec`. If the link layer is named (Ethernet), no table of times is needed.
    private static func rateSpecification(_ rate: Int64, _ message: inout NetlinkMessage) {
        message.append(UInt8(0))
        message.append(UInt8(rate == 0 ? 0 : 1))
        message.append(UInt16(0))
        message.append(Int16(0))
        message.append(UInt16(0))
        message.append(UInt32(clamping: rate))
    }

    /// How many packets may be under way or waiting.
    static func packetsUnderWay(_ direction: LinkProfile.Direction) -> Int64 {
        let rate = direction.rate.map(deviceRate)
        let underWay = Double(rate ?? 1_250_000_000) * direction.delay / 1000
        let queue = Double(queueBytes(rate ?? 12_500_000))
        return Int64(((underWay + queue) / Double(packet)).rounded(.up))
    }

    /// How many of 2³² packets are lost.
    static func lostOfAll(_ direction: LinkProfile.Direction) -> UInt32 {
        UInt32((direction.loss * Double(UInt32.max)).rounded())
    }

    private static func emulator(
        _ direction: LinkProfile.Direction, _ message: inout NetlinkMessage
    ) {
        let rate = direction.rate.map(deviceRate)
        message.append(UInt32(0))  // struct tc_netem_qopt: latency, as an attribute
        message.append(UInt32(clamping: packetsUnderWay(direction)))
        message.append(lostOfAll(direction))
        for _ in 0..<3 { message.append(UInt32(0)) }  // gap, duplicate, jitter
        message.attribute(10, Int64((direction.delay * 1e6).rounded()))  // TCA_NETEM_LATENCY64
        guard let rate else { return }
        message.nested(6) { options in  // TCA_NETEM_RATE: struct tc_netem_rate
            options.append(UInt32(clamping: rate))
            options.append(Int32(0))
            options.append(UInt32(0))
            options.append(Int32(0))
        }
        if rate > Int64(UInt32.max) { message.attribute(8, UInt64(rate)) }  // TCA_NETEM_RATE64
    }
}
