import Quarry
import QuarryCore

/// The pages in a rollback journal that was left beside a database: their content before an unfinished transaction:
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.
struct SalvagedJournal {
    /// The place of each page's content before the transaction.
    private(set) var offsets: [UInt32: Int64] = [:]
    /// The pages of the database before the transaction.
    let pageCount: UInt32
    let pageSize: Int

    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// - returns: nil if there is nothing to roll back: the transaction has ended, or has not written to the file.
    init?(_ file: SourceFile, vfs: String?) {
        let size = file.size
        guard let first = Self.header(file, at: 0), Self.isAlive(file, size, vfs) else {
            return nil
        }
        pageCount = first.pageCount
        pageSize = first.pageSize
        let recordSize = Int64(pageSize + 8)
        var start: Int64 = 0
        while start < size, let header = Self.header(file, at: start), header.pageSize == pageSize {
            var offset = start + header.sectorSize
            let available = max(0, (size - offset) / recordSize)
            let count = header.count == .max ? available : min(Int64(header.count), available)
            for _ in 0..<count {
                guard let record = file.bytes(Int(recordSize), at: offset),
                    let page = record.bigEndian32(at: 0), page > 0,
                    record.bigEndian32(at: 4 + pageSize) == Self.checksum(record, pageSize, header.nonce)
                else { return }
                if page <= pageCount, offsets[page] == nil { offsets[page] = offset + 4 }
                offset += recordSize
            }
            guard header.count != .max, count > 0 else { break }
            start = (offset + header.sectorSize - 1) / header.sectorSize * header.sectorSize
        }
        if offsets.isEmpty { return nil }
    }

    private struct Header {
        var count: UInt32
        var nonce: UInt32
        var pageCount: UInt32
        var sectorSize: Int64
        var pageSize: Int
    }

    private static func header(_ file: SourceFile, at offset: Int64) -> Header? {
        guard let bytes = file.bytes(28, at: offset), bytes[..<8].elementsEqual(magic),
            let count = bytes.bigEndian32(at: 8), let nonce = bytes.bigEndian32(at: 12),
            let pageCount = bytes.bigEndian32(at: 16), let sectorSize = bytes.bigEndian32(at: 20),
            let pageSize = bytes.bigEndian32(at: 24), FileHeader.pageSizes.contains(Int(pageSize)),
            32...65_536 ~= sectorSize
        else { return nil }
        return Header(
            count: count, nonce: nonce, pageCount: pageCount, sectorSize: Int64(sectorSize), pageSize: Int(pageSize))
    }

    private static func checksum(_ record: [UInt8], _ pageSize: Int, _ nonce: UInt32) -> UInt32 {
        var sum = nonce
        var index = pageSize - 200
        while index > 0 {
            sum &+= UInt32(record[4 + index])
            index -= 200
        }
        return sum
    }

    /// Whether the transaction is unfinished. The journal of a transaction over several files names a file that is
    /// deleted when all of them have been written: <https://www.sqlite.org/atomiccommit.html#_multi_file_commit>.
    private static func isAlive(_ file: SourceFile, _ size: Int64, _ vfs: String?) -> Bool {
        guard size >= 44, let end = file.bytes(16, at: size - 16), end[8...].elementsEqual(magic),
            let length = end.bigEndian32(at: 0), length > 0, Int64(length) < min(size - 16, 4096),
            let sum = end.bigEndian32(at: 4),
            let name = file.bytes(Int(length), at: size - 16 - Int64(length)),
            // SQLite adds characters, which are signed.
            name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }) == sum
        else { return true }
        return (try? DatabaseFileHandle.exists(String(decoding: name, as: UTF8.self), vfs: vfs)) ?? true
    }
}
