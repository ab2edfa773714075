import ProfileModel
import TestSupport
import Testing

@testable import Conditions

/// What users write.
@Suite struct ConditionParsingTests {
    @Test(arguments: ["airplane", "none", "Airplane", "NONE"])
    func nothing(_ text: String) throws {
        #expect(try NetworkCondition(parsing: text) == .none(name: text.lowercased()))
    }

    @Test(arguments: LinkProfile.known)
    func everyProfileHasItsName(_ profile: LinkProfile) throws {
        #expect(try NetworkCondition(parsing: profile.name) == .link(profile))
        #expect(try NetworkCondition(parsing: profile.name.lowercased()) == .link(profile))
        let dashed = profile.name.split(separator: " ").joined(separator: "-")
        #expect(try NetworkCondition(parsing: dashed) == .link(profile))
    }

    /// As the presets of WebRTC's network emulator have them: kbit/s to and from the program, ms.
    @Test(arguments: [
        ("3G", 780, 330, 100.0), ("Cable", 6000, 1000, 2), ("DSL", 2000, 256, 5),
        ("Edge", 240, 200, 400), ("Wi-Fi", 40000, 33000, 1),
    ])
    func profilesAreAsPublished(
        _ name: String, _ down: Int64, _ up: Int64, _ delay: Double
    ) throws {
        let profile = try #require(LinkProfile.known.first { $0.name == name })
        #expect(profile.down == .init(rate: down * 1000, delay: delay))
        #expect(profile.up.rate == up * 1000)
    }

    @Test func figures() throws {
        func direction(_ text: String) throws -> LinkProfile.Direction? {
            guard case .link(let profile) = try NetworkCondition(parsing: text) else { return nil }
            #expect(profile.down == profile.up)
            #expect(profile.name == text)
            return profile.down
        }
        #expect(try direction("780kbit") == .init(rate: 780_000))
        #expect(try direction("1.5Mbit,100ms,1%") == .init(rate: 1_500_000, delay: 100, loss: 0.01))
        #expect(try direction(",0.5s") == .init(delay: 500))
        #expect(try direction("1k,,100%") == .init(rate: 1000, loss: 1))
        #expect(try direction("2gbit") == .init(rate: 2_000_000_000))
    }

    @Test(arguments: [
        "", ",", ",,", "4G", "5g", "2.5G", "4G,50ms", "3", "780", "780kbps", "1mbit,1",
        "1mbit,1ms,1", "1mbit,1ms,101%", "1mbit,1ms,1%,x", "-1mbit", "1bit", "nanmbit", "infmbit",
        "1e400mbit", "9999999gbit", "1mbit,61s", "١mbit", "0kbit", ",0ms", "1.2.3mbit",
    ])
    func nonsenseIsRefused(_ text: String) {
        #expect(throws: ConditionError.self) { try NetworkCondition(parsing: text) }
    }

    @Test func diskRates() throws {
        func rate(_ text: String) throws -> Int64 {
            try DiskRate(parsing: text).bytesPerSecond
        }
        #expect(try rate("1M") == 1 << 20)
        #expect(try rate("1MiB/s") == 1 << 20)
        #expect(try rate("1.5MB") == 1_500_000)
        #expect(try rate("500k") == 512_000)
        #expect(try rate("4096") == 4096)
        #expect(try rate("2GB/s") == 2_000_000_000)
    }

    @Test(arguments: ["", "0", "1", "4095", "-5M", "M", "1T", "1M/m", "nan", "1e9G", "999999999G"])
    func nonsenseOfDisksIsRefused(_ text: String) {
        #expect(throws: ConditionError.self) { try DiskRate(parsing: text) }
    }

    // MARK: Files of variables

    private func parse(_ text: String) throws -> [String: String] {
        let changes = try EnvironmentFile.parse(Array(text.utf8), path: "file")
        return Dictionary(
            changes.map {
                (
                    String(decoding: $0.name, as: UTF8.self),
                    String(decoding: $0.value ?? [], as: UTF8.self)
                )
            }, uniquingKeysWith: { $1 })
    }

    @Test func variables() throws {
        let text = """
            # a comment
            A=plain text  \t
              export B='literal $HOME \\n "x"'

            C="one\\ntwo \\"x\\" \\$Y \\\\" # behind
            D=
            E='two
            lines'
            F=a#b
            export=1
            A=last\r
            """
        #expect(
            try parse(text) == [
                "A": "last", "B": "literal $HOME \\n \"x\"", "C": "one\ntwo \"x\" $Y \\", "D": "",
                "E": "two\nlines", "F": "a#b", "export": "1",
            ])
    }

    @Test(arguments: [
        ("x", "file:1"), ("A=1\n1B=2", "file:2"), ("\n\nA='open\nx", "file:3"),
        ("A='x'y", "file:1"),
        ("A=\"\\q\"", "file:1"), ("A B=1", "file:1"), ("=1", "file:1"), ("A=\"\\", "file:1"),
        ("A=\u{0}", "file:1"), ("A='x\ny'\nB", "file:3"),
    ])
    func mistakesAreNamedByTheirLine(_ text: String, _ place: String) {
        #expect {
            try EnvironmentFile.parse(Array(text.utf8), path: "file")
        } throws: { error in
            "\(error)".contains("'\(place)'")
        }
    }

    @Test func bytesNeedNotBeText() throws {
        let changes = try EnvironmentFile.parse([65, 61, 0xE9, 0xFF], path: "file")
        #expect(changes == [EnvironmentChange(name: [65], value: [0xE9, 0xFF])])
    }

    @Test func nothingBreaksIt() {
        var numbers = SeededNumbers(seed: 3)
        let signs = Array("A=_'\"\\\n# \texport$n1".utf8)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &numbers)).map { _ in
                signs.randomElement(using: &numbers) ?? 0
            }
            _ = try? EnvironmentFile.parse(text, path: "file")
        }
    }

    @Test func changesOfTheEnvironment() {
        let words = ["A=1", "AB=2", "A=3", "C"].map { Array($0.utf8) }
        let changes = [EnvironmentChange("A", "4"), EnvironmentChange("AB", nil)]
        #expect(
            EnvironmentChange.apply(changes, to: words) == ["C", "A=4"].map { Array($0.utf8) })
    }
}
