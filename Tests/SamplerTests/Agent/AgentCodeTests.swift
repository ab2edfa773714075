import Architecture
import CAgent
import ProfileModel
import Testing

@testable import Agent
@testable import Marks
@testable import Sampler

/// The code that is copied into programs, as it was compiled into us.
@Suite struct AgentCodeTests {
    private static let code = AgentCode.bytes
    private static let length = UInt64(code.count)
    nonisolated(unsafe) private static let description = fl_code_describe()

    private static let standIns = CallSites.Call.allCases.map { AgentCode.standIn(for: $0) }
    private static let places =
        [AgentCode.debugState, AgentCode.mark, AgentCode.main, AgentCode.sampleHandler] + standIns
        + [UInt64(description.restorer), UInt64(description.thunks)]

    @Test func lengths() {
        #expect(Self.code.count > 4096)
        #expect(Self.code.count <= Int(FL_TRAMPOLINES))
        #expect(Self.places.allSatisfy { $0 >= 0x200 && $0 < Self.length })
        // Two never begin at the same place.
        #expect(Set(Self.places).count == Self.places.count)
        #expect(Set(Self.standIns).count == CallSites.Call.allCases.count)
    }

    @Test func theAreasPartsFollowOneAnother() {
        let sizes = [
            (FL_TRAMPOLINES, FL_TRAMPOLINES_SIZE), (FL_ISLAND, FL_TRAMPOLINES_SIZE),
            (FL_STATE, Int32(MemoryLayout<fl_state>.size)),
            (FL_SLOTS, FL_SLOT_SIZE * FL_MOST_SLOTS),
            (FL_RECORDS, FL_MOST_RECORDS * Int32(MemoryLayout<fl_initializer>.size)),
            (FL_LIBRARIES, FL_MOST_LIBRARIES * Int32(MemoryLayout<fl_library>.size)),
            (FL_OPENS, FL_MOST_OPENS * Int32(MemoryLayout<fl_open>.size)),
            (FL_MARKS, FL_MOST_MARKS * Int32(MemoryLayout<fl_mark>.size)),
            (FL_STACKS, FL_STACKS_SIZE), (FL_RING, 0),
        ]
        for (part, next) in zip(sizes, sizes.dropFirst()) {
            #expect(part.0 + part.1 <= next.0)
            #expect(part.0 % 4096 == 0)
        }
        #expect(TrampolineSpace.size == Int(FL_TRAMPOLINES_SIZE))
    }

    /// `mov $number, %eax; jmp`, all to one place.
    @Test func thunks() throws {
        let start = Int(Self.description.thunks)
        #expect(start % 16 == 0)
        let count = 2 * Int(FL_MOST_LIBRARIES)
        try #require(start + 16 * count <= Self.code.count)
        var targets: Set<Int> = []
        for number in 0..<count {
            let place = start + 16 * number
            #expect(Self.code[place] == 0xB8)
            #expect(Self.code.littleEndianInt32(at: place + 1) == Int32(number))
            switch Self.code[place + 5] {
            case 0xE9:
                targets.insert(place + 10 + Int(Self.code.littleEndianInt32(at: place + 6) ?? 0))
            case 0xEB: targets.insert(place + 7 + Int(Int8(bitPattern: Self.code[place + 6])))
            default: Issue.record("thunk \(number) does not jump")
            }
        }
        #expect(targets.count == 1)
        #expect(targets.allSatisfy { $0 >= 0x200 && $0 < start })
    }

    /// Signal frames are recognised by these bytes, too.
    @Test func theRestorerIsEverybodys() {
        let place = Int(Self.description.restorer)
        #expect(Array(Self.code[place..<(place + 7)]) == [0xB8, 15, 0, 0, 0, 0x0F, 0x05])
    }

    /// Nothing leads out of the area: each branch ends in the code, each operand that is relative to
    /// its own place lies in the code or in what both sides write.
    @Test(arguments: [0, 0x7F12_3456_7000] as [UInt64])
    func nothingRefersToAnythingOutside(place: UInt64) throws {
        let disassembler = try #require(Disassembler())
        // The texts stand at the assembly's end, in one piece.
        let name = Array(
            "firstlight\0security.capability\0/proc/self/mem\0/proc/self/maps\0".utf8)
        let text = try #require(
            Self.code.indices.first { Self.code[$0...].starts(with: name) })
        let parts = [
            // Zeros fill what the area begins with up to where it is called.
            0..<0x200, 0x200..<text,
            ((text + name.count + 15) / 16 * 16)..<Self.code.count,
        ]
        let area = UInt64(AgentMemory.size(stackBytes: 4096))
        var seen = 0
        for part in parts {
            let found = disassembler.instructions(
                in: Array(Self.code[part]), at: place &+ UInt64(part.lowerBound))
            // All of it was read; two zeros are an instruction.
            let rest = place &+ UInt64(part.upperBound) &- (found.last?.end ?? 0)
            #expect(rest == 0 || (part.lowerBound == 0 && rest < 4))
            for instruction in found {
                if let reference = instruction.reference {
                    let offset = reference.location &- place
                    let isOwn = offset < Self.length || (UInt64(FL_STATE)..<area).contains(offset)
                    #expect(isOwn, "at \(instruction.address &- place): \(offset)")
                    seen += 1
                }
                switch instruction.kind {
                case .jump(let target), .branch(let target), .call(let target):
                    #expect(target &- place < Self.length, "at \(instruction.address &- place)")
                default: break
                }
            }
        }
        #expect(seen > 50)
    }

    /// Others can write to an area's contents: only where code leads counts.
    @Test func codeThatLeadsToAnAreaIsKnown() throws {
        let (site, area) = (0x7000_0000_1234 as UInt64, 0x7000_1000_0000 as UInt64)
        for call in CallSites.Call.allCases {
            let jump = try #require(
                JumpPatch.word(from: site, to: area + AgentCode.standIn(for: call)))
            let rest: UInt64 = 0x4805_0F << 40
            let original = call.load | rest
            #expect(AgentCode.original(of: jump | rest, at: site, ledTo: area) == original)
            // From elsewhere, to another area, past a stand-in's beginning, or not at all.
            #expect(AgentCode.original(of: jump | rest, at: site + 1, ledTo: area) == nil)
            #expect(AgentCode.original(of: jump | rest, at: site, ledTo: area + 4096) == nil)
            #expect(AgentCode.original(of: (jump | rest) + 1 << 8, at: site, ledTo: area) == nil)
            #expect(AgentCode.original(of: original, at: site, ledTo: area) == nil)
        }
    }

    // MARK: Pieces

    private static func words(_ piece: [UInt8], last count: Int) -> [UInt64] {
        (0..<count).map { piece.littleEndianWord(at: piece.count - 8 * (count - $0)) ?? 0 }
    }

    @Test func theBootPieceEndsWithItsWords() {
        let own = AgentCode.boot(
            descriptor: 77, place: 0x7000_1234_5000, size: 0x66_6000, isAtEntry: true,
            recorder: 4711)
        #expect(Self.words(own, last: 4) == [77, 0x7000_1234_5000, 0x66_6000, 4711 << 32 | 1])
        let made = AgentCode.boot(descriptor: nil, place: .max, size: 0, isAtEntry: false)
        #expect(Self.words(made, last: 4) == [.max, .max, 0, 0])
        #expect(own.count == made.count && own.count == Int(Self.description.boot.length))
        // The words are all that differs.
        #expect(own.dropLast(32) == made.dropLast(32))
        #expect(Int(Self.description.boot.words) == own.count - 32)
    }

    @Test func theAwayPieceEndsWithItsWords() {
        let all = AgentCode.away(
            restoring: AgentMemory.Signal(number: 23, original: 0x1111_2222_3333), from: 0x77,
            0x7000..<0x9000)
        let words = Self.words(all, last: 9)
        #expect(words.prefix(7) == [23, 0x1111_2222_3333, 0, 0, 0, 0x7000, 0x2000])
        #expect((1...1000).contains(words[7]))
        #expect(words[8] == 0x77)
        let none = Self.words(AgentCode.away(restoring: nil, from: 0, nil), last: 9)
        #expect(none == [0, 0, 0, 0, 0, 0, 0, words[7], 0])
        #expect(all.count == Int(Self.description.away.length))
        #expect(Int(Self.description.away.words) == all.count - 72)
    }

    @Test func piecesHaveRoom() {
        let boot = AgentCode.boot(descriptor: nil, place: 0, size: 0, isAtEntry: false)
        let away = AgentCode.away(restoring: nil, from: 0, nil)
        let longest = max(boot.count, away.count)
        #expect(AgentCode.pieceSize % 16 == 0)
        #expect((longest..<(longest + 16)).contains(AgentCode.pieceSize))
        // Where the recorder's threads are led, most last pages have that much room.
        #expect(AgentCode.pieceSize <= 528)
        // Patches restore the code that a piece replaces, and there are other patches.
        #expect(AgentCode.pieceSize / 8 + 8 <= AgentMemory.mostPatches)
    }

    @Test func whereAThreadWaits() {
        let (start, end) = (
            Int(Self.description.away_waiting), Int(Self.description.away_waiting_end)
        )
        #expect(start < end && end <= Int(Self.description.away.words))
        for offset in -16..<(Int(Self.description.away.length) + 16) {
            let isWaiting = AgentCode.isAwayWaiting(
                0x1000 &+ UInt64(bitPattern: Int64(offset)), piece: 0x1000)
            #expect(isWaiting == (start..<end).contains(offset))
        }
    }

    /// Pieces are independent of each other.
    @Test func piecesReferToNothingOutside() throws {
        let disassembler = try #require(Disassembler())
        let pieces: [(code: [UInt8], words: UInt32)] = [
            (
                AgentCode.boot(descriptor: nil, place: 0, size: 0, isAtEntry: false),
                Self.description.boot.words
            ),
            (AgentCode.away(restoring: nil, from: 0, nil), Self.description.away.words),
        ]
        for (code, words) in pieces {
            // Reading ends somewhere in the texts behind the code, at the latest.
            let found = disassembler.instructions(in: code, at: 0x4000)
                .filter { $0.end <= 0x4000 + UInt64(words) }
            #expect(found.count > 30)
            for instruction in found.prefix(while: { $0.kind != .return }) {
                if let reference = instruction.reference {
                    #expect((0x4000..<(0x4000 + UInt64(code.count))).contains(reference.location))
                }
                if let target = instruction.destination {
                    #expect((0x4000..<(0x4000 + UInt64(words))).contains(target))
                }
            }
        }
    }
}
