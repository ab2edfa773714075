import Agent
import Architecture
import ProcessIO

/// Changes the program's code, so that it leads to ours, and changes it back.
struct CodePatcher: SessionPart {
    let context: SessionContext

    /// Hooks the C library's calls. For each, the address at which it continues is written before
    /// the hook.
    ///
    /// - Returns: the original words.
    func lead(_ sites: CallSites, past area: AgentMemory) -> [UInt64: UInt64] {
        var changed: [UInt64: UInt64] = [:]
        for call in CallSites.Call.allCases {
            guard let site = sites[call], let word = process.memory.word(at: site)
            else { continue }
            area.setReturn(of: call, to: site &+ UInt64(SystemCallInstruction.length), word: word)
            guard lead(site, to: area.position(Int(AgentCode.standIn(for: call)))) != nil else {
                area.forgetReturn(of: call)
                continue
            }
            changed[site] = word
        }
        return changed
    }

    /// Replaces the first bytes at an address by a jump. Returns the original word.
    func lead(_ address: UInt64, to target: UInt64) -> UInt64? {
        guard let word = process.memory.word(at: address),
            let jump = JumpPatch.word(from: address, to: target),
            putBack(JumpPatch.word(word, beginning: jump), at: address)
        else { return nil }
        return word
    }

    @discardableResult
    func putBack(_ word: UInt64, at address: UInt64) -> Bool {
        process.memory.write([word], at: address)
    }

    /// Writes a piece of ours where the program has no code of its own, and keeps the bytes that
    /// were there.
    func putPiece(_ code: [UInt8], at address: UInt64, in image: RunningImage) -> Bool {
        let before = process.memory.read(at: address, count: code.count)
        guard before.count == code.count, !AgentCode.isPiece(before),
            process.memory.write(code, at: address)
        else { return false }
        image.cave = FilledCave(address: address, before: before)
        return true
    }

    /// The thread has left the piece: restores the bytes that were there.
    func emptyCave(of image: RunningImage) {
        guard let cave = image.cave else { return }
        image.cave = nil
        process.memory.write(cave.before, at: cave.address)
    }
}
