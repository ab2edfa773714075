import Analysis
import ProfileModel
import Report

extension JSONReport {
    /// All of it.
    static func text(_ profile: Profile) -> String {
        String(decoding: bytes(profile, with: Set(JSONPart.allCases)), as: UTF8.self)
    }
}
