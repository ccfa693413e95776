/// The first hundred bytes of a database file: <https://www.sqlite.org/fileformat2.html#the_database_header>.
struct FileHeader: Equatable {
    var pageSize: Int
    /// The bytes at the end of each page that SQLite doesn't use.
    var reservedSize = 0
    var encoding = Encoding.utf8
    /// nil if the header is lost.
    var freelistTrunk: UInt32?
    var freelistCount: UInt32 = 0
    /// Whether pages tell their parents, and of what kind they are.
    var isAutoVacuum = false
    var isIncrementalVacuum = false
    var userVersion: Int32 = 0
    var applicationID: Int32 = 0
    /// Whether a field contradicts the format or the pages.
    var isDamaged = false

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

    /// The fewest bytes of a page that SQLite uses.
    static let minimumUsableSize = 480

    /// The bytes of a page that SQLite uses.
    var usableSize: Int { pageSize - reservedSize }

    /// The header of a file whose own one is lost.
    init(pageSize: Int) {
        self.pageSize = pageSize
        isDamaged = true
    }

    /// Reads the fields. A field that contradicts the format has its usual value.
    ///
    /// - returns: nil if hardly a byte is that of a header: nothing of it can be believed.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, let size = bytes.bigEndian16(at: 16), let encoding = bytes.bigEndian32(at: 56),
            let format = bytes.bigEndian32(at: 44), let trunk = bytes.bigEndian32(at: 32)
        else { return nil }
        let wrongCount = Self.fixedBytes.count { bytes[$0.offset] != $0.byte }
        guard wrongCount <= Self.magic.count else { return nil }
        pageSize = size == 1 ? 65_536 : size
        let hasSize = Self.pageSizes.contains(pageSize)
        if !hasSize { pageSize = 4096 }
        reservedSize = Int(bytes[20])
        let hasReservedSize = usableSize >= Self.minimumUsableSize
        if !hasReservedSize { reservedSize = 0 }
        // A database without tables has no encoding yet.
        self.encoding = Encoding(rawValue: encoding) ?? .utf8
        freelistTrunk = trunk
        freelistCount = bytes.bigEndian32(at: 36) ?? 0
        isAutoVacuum = bytes.bigEndian32(at: 52) != 0
        isIncrementalVacuum = bytes.bigEndian32(at: 64) != 0
        userVersion = Int32(bitPattern: bytes.bigEndian32(at: 60) ?? 0)
        applicationID = Int32(bitPattern: bytes.bigEndian32(at: 68) ?? 0)
        let hasVersions = 1...2 ~= bytes[18] && 1...2 ~= bytes[19] && format <= 4 && encoding <= 3
        isDamaged =
            wrongCount > 0 || !hasSize || !hasReservedSize || !hasVersions || isIncrementalVacuum && !isAutoVacuum
    }

    /// The bytes that are the same in all headers: the magic, the fractions of payload, and those for later versions.
    private static let fixedBytes: [(offset: Int, byte: UInt8)] =
        magic.enumerated().map { ($0, $1) } + [(21, 64), (22, 32), (23, 32)] + (72..<92).map { ($0, 0) }

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
