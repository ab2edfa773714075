import ProfileModel
import Runtimes
import Testing

@Suite struct NodeRequestTests {
    private func request(_ value: String?) -> NodeRequest {
        NodeRequest(completing: value.map { Array($0.utf8) }, start: 1)
    }

    private func images(_ arguments: [String]) -> [Image] {
        [Image(path: "/usr/bin/node", arguments: arguments, time: MonotonicTime(nanoseconds: 0))]
    }

    @Test func mapsThatAreThereBecauseOfUs() {
        #expect(request(nil).causedMap(ofProcessRunning: images(["node", "a.js"])))
        #expect(request("--no-warnings").causedMap(ofProcessRunning: images(["node", "a.js"])))
    }

    @Test func mapsOfTheUser() {
        let map = "--perf-basic-prof"
        #expect(!request(map).causedMap(ofProcessRunning: images(["node", "a.js"])))
        #expect(!request(nil).causedMap(ofProcessRunning: images(["node", map, "a.js"])))
    }

    @Test func theRequestIsReported() {
        #expect(request(nil).notes == [RecorderNote(.nodeOptions, 1)])
        #expect(request(nil).change?.name == Array("NODE_OPTIONS".utf8))
        let all = "--perf-basic-prof --interpreted-frames-native-stack"
        #expect(request(all).notes.isEmpty && request(all).change == nil)
    }
}
