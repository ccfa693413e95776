/// The first hundred bytes of a database file: <https://www.sqlite.org/fileformat2.html#the_database_header>.
struct FileHeader: Equatable {
    var pageSize: Int
    /// The bytes at the end of each page that SQLite doesn't use.
    var reservedSize = 0
    var encoding = Encoding.utf8
    var freelistTrunk: UInt32 = 0
    var freelistCount: UInt32 = 0
    /// Whether pages tell their parents, and of what kind they are.
    var isAutoVacuum = false
    var isIncrementalVacuum = false
    var userVersion: Int32 = 0
    var applicationID: Int32 = 0

    /// The encoding of text, with its number in the file.
    enum Encoding: UInt32 {
        case utf8 = 1
        case utf16LittleEndian = 2
        case utf16BigEndian = 3

        /// The name for `PRAGMA encoding`.
        var name: String {
            switch self {
            case .utf8: "UTF-8"
            case .utf16LittleEndian: "UTF-16le"
            case .utf16BigEndian: "UTF-16be"
            }
        }
    }

    static let magic = Array("SQLite format 3\0".utf8)
    static let size = 100
    static let pageSizes = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536]

    /// The bytes of a page that SQLite uses.
    var usableSize: Int { pageSize - reservedSize }

    init(pageSize: Int) { self.pageSize = pageSize }

    /// - returns: nil if a field contradicts the format: the page is damaged, or the file isn't a database.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, bytes[..<16].elementsEqual(Self.magic),
            let rawSize = bytes.bigEndian16(at: 16), let encoding = bytes.bigEndian32(at: 56)
        else { return nil }
        let size = rawSize == 1 ? 65_536 : rawSize
        guard Self.pageSizes.contains(size), bytes[21] == 64, bytes[22] == 32, bytes[23] == 32,
            size - Int(bytes[20]) >= 480
        else { return nil }
        pageSize = size
        reservedSize = Int(bytes[20])
        // A database without tables has no encoding yet.
        guard encoding <= 3 else { return nil }
        self.encoding = Encoding(rawValue: encoding) ?? .utf8
        freelistTrunk = bytes.bigEndian32(at: 32) ?? 0
        freelistCount = bytes.bigEndian32(at: 36) ?? 0
        isAutoVacuum = bytes.bigEndian32(at: 52) != 0
        isIncrementalVacuum = bytes.bigEndian32(at: 64) != 0
        userVersion = Int32(bitPattern: bytes.bigEndian32(at: 60) ?? 0)
        applicationID = Int32(bitPattern: bytes.bigEndian32(at: 68) ?? 0)
    }

    /// Whether a page holds the map of pages that auto-vacuum needs:
    /// <https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>.
    func isPointerMap(_ page: UInt32) -> Bool {
        guard isAutoVacuum, page >= 2 else { return false }
        let pagesPerMap = UInt32(usableSize / 5) + 1
        var map = (page - 2) / pagesPerMap * pagesPerMap + 2
        if map == lockPage { map += 1 }
        return map == page
    }

    /// The page with the bytes that SQLite locks, which holds no content:
    /// <https://www.sqlite.org/fileformat2.html#the_lock_byte_page>.
    var lockPage: UInt32 { UInt32(0x4000_0000 / pageSize) + 1 }
}
