import Foundation
import QuarryCore

/// A folder that is removed when it goes.
public final class TemporaryFolder: Sendable {
    public let path: String

    private static let home = Lock<String?>(nil)

    /// Puts the folders that this process makes from now on into one, whose owner removes it: a process that is killed
    /// removes nothing.
    public static func allLie(in path: String) { home.withLock { $0 = path } }

    /// - parameter isFast: whether it may lie in memory, where a sync costs nothing, for tests of thousands of
    ///   transactions.
    public init(isFast: Bool = false) throws {
        let memory = "/dev/shm"
        let home = Self.home.withLock { $0 }
        let parent = home ?? (isFast && FileManager.default.isWritableFile(atPath: memory) ? memory : nil)
        let url = (parent.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory)
            .appendingPathComponent("quarry-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// The names of its files, in order.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// The paths of the files in the folder that the process has open, in order. A lock goes with its descriptor.
    public var openFiles: [String] {
        get throws { try openDescriptors.map(\.path).sorted() }
    }

    /// The paths of files in the folder that are open at the same moment. While others open and close files, a list of
    /// descriptors may have a file that was closed before the last one was opened; each file of two lists was open
    /// between them.
    public var filesOpenAtOnce: [String] {
        get throws {
            let before = try openDescriptors
            return try openDescriptors.filter(before.contains).map(\.path).sorted()
        }
    }

    private struct Descriptor: Hashable {
        let number: String
        let path: String
    }

    private var openDescriptors: Set<Descriptor> {
        get throws {
            let folder = "/proc/self/fd"
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { number in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")).map { path in
                    Descriptor(number: number, path: path)
                }
            }
            return Set(descriptors.filter { $0.path.hasPrefix(path) })
        }
    }

    deinit {
        // A connection that closes meanwhile creates and deletes files, at which the removal stops.
        var tries = 0
        while FileManager.default.fileExists(atPath: path), tries < 1000 {
            try? FileManager.default.removeItem(atPath: path)
            tries += 1
        }
    }
}
