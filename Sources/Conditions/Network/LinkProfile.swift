/// The quality of a network link, for each direction.
package struct LinkProfile: Hashable, Sendable {
    /// One direction of a link.
    package struct Direction: Hashable, Sendable {
        /// In bits per second, including IP headers; nil: we set no limit.
        package var rate: Int64?
        /// The additional delay of every packet, in milliseconds.
        package var delay: Double
        /// The share of lost packets, 0 … 1.
        package var loss: Double

        package init(rate: Int64? = nil, delay: Double = 0, loss: Double = 0) {
            self.rate = rate
            self.delay = delay
            self.loss = loss
        }

        package var isUnlimited: Bool { rate == nil && delay == 0 && loss == 0 }
    }

    /// The name in reports: "3G", "780kbit,100ms,1%".
    package var name: String
    /// To the program, and from it.
    package var down: Direction
    package var up: Direction
    /// The additional delay of name servers' answers alone, in milliseconds.
    package var nameDelay = 0.0

    package init(name: String, down: Direction, up: Direction) {
        self.name = name
        self.down = down
        self.up = up
    }

    private init(name: String, nameDelay: Double) {
        self.init(name: name, down: Direction(), up: Direction())
        self.nameDelay = nameDelay
    }

    /// The links of Apple's Network Link Conditioner (Additional Tools for Xcode, and iOS'
    /// developer settings). Apple documents no figures. Others have read these in its window and
    /// published them:
    ///
    /// - 3G, Cable, DSL, Edge and Wi-Fi: the presets of WebRTC's
    ///   `tools/network_emulator/emulate.py`, where 3G, Edge and Wi-Fi are called "average case",
    ///   as in older editions.
    /// - Edge's 440 ms from the program, LTE, and the 500 ms of "Very Bad Network": newer editions,
    ///   from network emulators that copy its profiles. They agree with each other.
    /// - The 3 s of "High Latency DNS", the loss of "Very Bad Network" (10 %; others say 5 % or 20
    ///   %), LTE's 10 Mbit/s and "Wi-Fi 802.11ac": from a single source, or without a confirmed
    ///   one.
    package static let known: [LinkProfile] = [
        LinkProfile(
            name: "100% Loss", down: Direction(loss: 1), up: Direction(loss: 1)),
        LinkProfile(
            name: "3G", down: Direction(rate: 780_000, delay: 100),
            up: Direction(rate: 330_000, delay: 100)),
        LinkProfile(
            name: "Cable", down: Direction(rate: 6_000_000, delay: 2),
            up: Direction(rate: 1_000_000, delay: 2)),
        LinkProfile(
            name: "DSL", down: Direction(rate: 2_000_000, delay: 5),
            up: Direction(rate: 256_000, delay: 5)),
        LinkProfile(
            name: "Edge", down: Direction(rate: 240_000, delay: 400),
            up: Direction(rate: 200_000, delay: 440)),
        LinkProfile(name: "High Latency DNS", nameDelay: 3000),
        LinkProfile(
            name: "LTE", down: Direction(rate: 50_000_000, delay: 50),
            up: Direction(rate: 10_000_000, delay: 65)),
        LinkProfile(
            name: "Very Bad Network", down: Direction(rate: 1_000_000, delay: 500, loss: 0.1),
            up: Direction(rate: 1_000_000, delay: 500, loss: 0.1)),
        LinkProfile(
            name: "Wi-Fi", down: Direction(rate: 40_000_000, delay: 1),
            up: Direction(rate: 33_000_000, delay: 1)),
        LinkProfile(
            name: "Wi-Fi 802.11ac", down: Direction(rate: 250_000_000, delay: 1),
            up: Direction(rate: 100_000_000, delay: 1)),
    ]
}

/// The value of `--network`.
package enum NetworkCondition: Hashable, Sendable {
    /// `airplane` or `none`: a network namespace with only the loopback interface.
    case none(name: String)
    case link(LinkProfile)

    package var name: String {
        switch self {
        case .none(let name): name
        case .link(let profile): profile.name
        }
    }
}
