import Foundation
import QuarryTestSupport
import Testing

/// Tests leave nothing behind.
struct TemporaryFolderTests {
    @Test func itGoesAlthoughFilesComeAndGo() async throws {
        let hasBegun = Step("files come and go")
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder?.path)
        for number in 0..<200 { try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(number)")) }
        let churn = OwnThread("a connection that closes") {
            for number in 0..<10_000 {
                let file = "\(path)/\(number % 200)"
                let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
                // The folder is gone.
                guard descriptor >= 0 else { break }
                close(descriptor)
                unlink(file)
                if number == 10 { hasBegun.reach() }
            }
        }
        try await hasBegun.reached()
        folder = nil
        try await churn.value
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
