import ProfileModel
import Testing

@Suite struct PartitionTests {
    /// Wherever it is sought from, the border is the same.
    @Test func fromAnywhere() {
        for count in 0..<40 {
            for border in 0...count {
                let list = (0..<count).map { $0 >= border }
                #expect(list.partitionIndex { $0 } == border)
                for place in -2...count + 2 {
                    #expect(list.partitionIndex(near: place) { $0 } == border)
                }
            }
        }
    }

    /// Parts of lists keep their lists' positions.
    @Test func inAPart() {
        let list = Array(0..<100)[10..<90]
        for place in 0..<100 {
            #expect(list.partitionIndex(near: place) { $0 >= 33 } == 33)
            #expect(list.partitionIndex(near: place) { $0 >= 95 } == 90)
        }
    }
}
