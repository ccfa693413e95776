import Quarry
import QuarryCore

/// The pages in the write-ahead log beside a database: <https://www.sqlite.org/fileformat2.html#walformat>.
///
/// As in SQLite, the log counts up to the last commit before the first frame whose checksum is wrong.
struct SalvagedLog {
    /// The place of each page's last committed content.
    private(set) var offsets: [UInt32: Int64] = [:]
    /// The pages of the database after the last commit; nil without a commit.
    private(set) var pageCount: UInt32?
    let pageSize: Int
    /// The number of frames that count.
    private(set) var frameCount = 0
    /// The number of frames behind them: an unfinished commit, damaged frames, or frames of an older log.
    private(set) var ignoredFrameCount = 0

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// - returns: nil if the header is damaged, or the log is empty.
    init?(_ file: SourceFile) {
        let size = file.size
        guard size > Self.headerSize, let header = file.bytes(Self.headerSize, at: 0),
            let magic = header.bigEndian32(at: 0), magic & ~1 == 0x377F_0682,
            let pageSize = header.bigEndian32(at: 8), FileHeader.pageSizes.contains(Int(pageSize))
        else { return nil }
        self.pageSize = Int(pageSize)
        var checksum = Checksum(isBigEndian: magic & 1 == 1)
        checksum.add(header[..<24])
        guard checksum.matches(header, at: 24) else { return nil }
        let frameSize = Int64(Self.frameHeaderSize + self.pageSize)
        let count = (size - Int64(Self.headerSize)) / frameSize
        var uncommitted: [UInt32: Int64] = [:]
        var index: Int64 = 0
        while index < count {
            let offset = Int64(Self.headerSize) + index * frameSize
            guard let frame = file.bytes(Int(frameSize), at: offset), frame[8..<16] == header[16..<24],
                let page = frame.bigEndian32(at: 0), page > 0, let commitSize = frame.bigEndian32(at: 4)
            else { break }
            checksum.add(frame[..<8])
            checksum.add(frame[Self.frameHeaderSize...])
            guard checksum.matches(frame, at: 16) else { break }
            index += 1
            uncommitted[page] = offset + Int64(Self.frameHeaderSize)
            guard commitSize > 0 else { continue }
            offsets.merge(uncommitted) { $1 }
            uncommitted = [:]
            pageCount = commitSize
            frameCount = Int(index)
        }
        ignoredFrameCount = Int(count) - frameCount
    }

    /// The sum that each frame has of the log before it: <https://www.sqlite.org/fileformat2.html#checksum_algorithm>.
    struct Checksum: Equatable {
        let isBigEndian: Bool
        private(set) var first: UInt32 = 0
        private(set) var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
                    let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let two = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    first &+= (isBigEndian ? one.bigEndian : one.littleEndian) &+ second
                    second &+= (isBigEndian ? two.bigEndian : two.littleEndian) &+ first
                }
            }
        }

        func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
            bytes.bigEndian32(at: offset) == first && bytes.bigEndian32(at: offset + 4) == second
        }
    }
}
