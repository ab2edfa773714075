import Architecture
import ProfileModel
import Testing

@Suite struct SnapshotTests {
    @Test func aSnapshotsSizeCountsBothStacks() {
        let stack = StackCopy(start: 0, bytes: [1, 2, 3])
        var snapshot = Snapshot(registers: Registers(), stack: stack)
        #expect(snapshot.byteCount == 3)
        snapshot.interrupted = StackCopy(start: 9, bytes: [4])
        #expect(snapshot.byteCount == 4)
    }
}
