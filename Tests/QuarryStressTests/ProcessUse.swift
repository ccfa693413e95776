import CMemoryUse
import Foundation
import QuarryCore
import QuarryTestSupport

/// The resources of the process that it has to give back.
struct ProcessUse: Equatable, CustomStringConvertible {
    var threads: Int
    var descriptors: Int
    var sqliteBytes: Int
    var mallocBytes: Int

    /// The resources it has now: <https://man7.org/linux/man-pages/man5/proc.5.html>.
    static func now() throws -> ProcessUse {
        ProcessUse(
            threads: try threadCount(),
            descriptors: try descriptorCount(),
            sqliteBytes: sqliteBytes, mallocBytes: Int(memory_use_of_malloc()))
    }

    /// The number of threads.
    static func threadCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }

    /// The bytes that SQLite has allocated.
    static var sqliteBytes: Int { Int(memory_use_of_sqlite()) }

    /// The number of open descriptors, of any kind.
    static func descriptorCount() throws -> Int {
        let folder = "/proc/self/fd"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        guard isUnderThreadSanitizer else { return names.count }
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return !(target?.hasPrefix("pipe:") ?? false)
        }
    }

    /// With its first report, suppressed or not, the thread sanitizer starts a process that looks up names, and keeps
    /// two pipes to it.
    private static let isUnderThreadSanitizer = dlsym(nil, "__tsan_init") != nil

    var description: String {
        "\(threads) threads, \(descriptors) descriptors, \(sqliteBytes) bytes of SQLite, \(mallocBytes) bytes of malloc"
    }
}

/// The connections that have been opened, as long as they live.
final class LiveConnections: Sendable {
    private final class Reference: @unchecked Sendable {
        // Sendable: it is only asked whether the connection lives.
        weak var database: Database?
        init(_ database: Database) { self.database = database }
    }

    private let references = Recorded<[Reference]>([])

    /// A connection has been opened.
    func add(_ database: Database) {
        let reference = Reference(database)
        references.update { references in
            references.append(reference)
            // After some time, many of them are gone.
            if references.count.isMultiple(of: 256) { references.removeAll { $0.database == nil } }
        }
    }

    /// The number of those that live.
    var count: Int { references.value.count { $0.database != nil } }
}

/// The records that the testing library keeps of each error that is thrown, to show where it came from.
enum ThrownErrors {
    /// Stops it: thousands of errors are thrown here, and what is kept of them would look like a leak.
    ///
    /// The runtime calls what this variable points to for each error that is thrown:
    /// <https://github.com/swiftlang/swift/blob/main/stdlib/public/runtime/ErrorObject.h>.
    static func areNotKept() {
        for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
            guard let variable = dlsym(nil, name) else { continue }
            variable.storeBytes(of: nil, as: UnsafeRawPointer?.self)
        }
    }
}
