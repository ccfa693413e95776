/// The files that a disk may have when the power goes, at any moment that a `RecordingVFS` has recorded.
///
/// ```swift
/// var loss = PowerLoss(vfs)
/// while loss.advance() {
///     let files = loss.survivors(using: &generator)
///     … // the database must open, and have all that was acknowledged before `loss.lastMark`
/// }
/// ```
///
/// Synced changes survive. Of the others, each write is dropped, kept, or kept in some of its sectors of 512 bytes;
/// each truncation, each new name and each deletion of a name is dropped or kept. Where a file has grown and its end
/// was dropped, there are zeros or rubbish. The `-shm` file is memory, and never survives.
public struct PowerLoss {
    /// A change of a file.
    enum Change {
        /// The bytes last as long as the file system that has recorded them.
        case write(UnsafeRawBufferPointer, Int)
        case truncate(Int)
    }

    enum Event {
        case create(Int, String)
        case delete(String)
        case change(Int, Change)
        case sync(Int)
        case syncFolder
        case mark(Int)
    }

    private struct File {
        var synced: [UInt8] = []
        var unsynced: [Change] = []
    }

    private static var sectorSize: Int { 512 }

    private let vfs: RecordingVFS
    private let count: Int
    private var files: [Int: File] = [:]
    private var names: [String: Int] = [:]
    /// Names that come, or go (nil), when the folder is synced.
    private var unsyncedNames: [(name: String, file: Int?)] = []

    /// How much has happened before the power goes.
    public private(set) var position = 0

    /// The marks before the power goes.
    public private(set) var marks: [Int] = []

    /// The last mark before the power goes.
    public var lastMark: Int? { marks.last }

    /// Begins before all that was recorded.
    public init(_ vfs: RecordingVFS) {
        self.vfs = vfs
        count = vfs.count
    }

    /// Goes on by one event; false after the last.
    public mutating func advance() -> Bool {
        guard position < count else { return false }
        switch vfs.event(position) {
        case .create(let file, let name):
            files[file] = File()
            unsyncedNames.append((name, file))
        case .delete(let name):
            unsyncedNames.append((name, nil))
        case .change(let file, let change):
            files[file]?.unsynced.append(change)
        case .sync(let file):
            guard var synced = files.removeValue(forKey: file) else { break }
            for change in synced.unsynced { Self.apply(change, to: &synced.synced) }
            synced.unsynced = []
            files[file] = synced
        case .syncFolder:
            for (name, file) in unsyncedNames { names[name] = file }
            unsyncedNames = []
        case .mark(let number):
            marks.append(number)
        }
        position += 1
        return true
    }

    /// The files by their names, as they may be found.
    public func survivors(using generator: inout SeededGenerator) -> [String: [UInt8]] {
        var names = names
        for (name, file) in unsyncedNames where Bool.random(using: &generator) { names[name] = file }
        // In a fixed order: a seed gives the same files again.
        var contents: [String: [UInt8]] = [:]
        for (name, number) in names.sorted(by: { $0.key < $1.key }) {
            guard let file = files[number] else { continue }
            var bytes = file.synced
            for change in file.unsynced { Self.partlyApply(change, to: &bytes, using: &generator) }
            contents[name] = bytes
        }
        return contents
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let size): resize(&bytes, size) { 0 }
        case .write(let source, let offset): write(source, offset, &bytes) { 0 }
        }
    }

    private static func partlyApply(
        _ change: Change, to bytes: inout [UInt8], using generator: inout SeededGenerator
    ) {
        let isRubbish = Bool.random(using: &generator)
        let filler = { [generator] () -> UInt8 in isRubbish ? UInt8(truncatingIfNeeded: generator.seed | 1) : 0 }
        switch (change, Int.random(in: 0..<4, using: &generator)) {
        case (_, 0): return
        case (.truncate(let size), _): resize(&bytes, size, filler)
        case (.write(let source, let offset), 1): write(source, offset, &bytes, filler)
        case (.write(let source, let offset), _):
            var start = 0
            while start < source.count {
                let end = min(source.count, (offset + start) / sectorSize * sectorSize + sectorSize - offset)
                if Bool.random(using: &generator) {
                    write(UnsafeRawBufferPointer(rebasing: source[start..<end]), offset + start, &bytes, filler)
                }
                start = end
            }
        }
    }

    private static func resize(_ bytes: inout [UInt8], _ size: Int, _ filler: () -> UInt8) {
        if size < bytes.count {
            bytes.removeSubrange(size...)
        } else {
            // Without optimization, `repeatElement` takes a thousand times as long.
            bytes += [UInt8](repeating: filler(), count: size - bytes.count)
        }
    }

    private static func write(
        _ source: UnsafeRawBufferPointer, _ offset: Int, _ bytes: inout [UInt8], _ filler: () -> UInt8
    ) {
        if bytes.count < offset + source.count { resize(&bytes, offset + source.count, filler) }
        bytes.withUnsafeMutableBytes { target in
            UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count]).copyMemory(from: source)
        }
    }
}
