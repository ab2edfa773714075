import Testing

@testable import Recorder

@Suite struct ChildRecordingsTests {
    @Test(arguments: [
        ("launch.firstlight", "launch.7.firstlight"),
        ("/a/b.c/launch.firstlight", "/a/b.c/launch.7.firstlight"),
        ("/a.b/launch", "/a.b/launch.7"), ("launch", "launch.7"), (".hidden", ".hidden.7"),
        ("a/.hidden.x", "a/.hidden.7.x"),
    ])
    func theirFilesLieBesideTheMainOne(output: String, child: String) {
        #expect(ChildRecordings.path(for: 7, beside: output) == child)
    }
}
