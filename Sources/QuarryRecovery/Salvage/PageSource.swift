import Quarry
import QuarryCore

/// The pages of a damaged database: those of the file, and of the log or journal beside it.
///
/// The files are only read.
final class PageSource {
    let path: String
    private let file: SourceFile
    private let fileSize: Int64
    private let log: SalvagedLog?
    private let journal: SalvagedJournal?
    private let logFile: SourceFile?
    private let journalFile: SourceFile?
    /// The header of the file, as far as the pages don't contradict it.
    private(set) var header: FileHeader
    /// The pages from 1 on that the file has, and that belong to the database.
    private var filePageCount: UInt32 = 0
    /// The pages behind them, which the log or the journal has, in order.
    private var laterPages: [UInt32] = []
    /// The pages that can't be read from the file.
    private(set) var unreadable = PageSet(count: 0)
    /// The number of readings of pages, also of those that have failed.
    private(set) var readCount = 0

    /// The most recently read page.
    private var lastPage: (number: UInt32, bytes: [UInt8])?

    /// - throws: `SQLITE_CANTOPEN`; `SQLITE_NOTADB` for a file without a page.
    init(path: String, vfs: String?) throws {
        self.path = path
        file = try SourceFile(path: path, kind: .database, vfs: vfs)
        fileSize = file.size
        logFile = try Self.open(path + "-wal", .log, vfs)
        journalFile = try Self.open(path + "-journal", .journal, vfs)
        log = logFile.flatMap { SalvagedLog($0) }.flatMap { $0.pageCount == nil ? nil : $0 }
        journal = log == nil ? journalFile.flatMap { SalvagedJournal($0, vfs: vfs) } : nil
        header = FileHeader(pageSize: 4096)
        guard fileSize > 0 || log?.pageCount != nil else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "the file is empty")
                .with(circumstances: " - while reading \(path)")
        }
        header = HeaderInference.header(of: self, readHeader(), knownSize: overlaySize)
        setPageSize(header.pageSize)
    }

    private static func open(_ path: String, _ kind: DatabaseFileHandle.Kind, _ vfs: String?) throws -> SourceFile? {
        guard try DatabaseFileHandle.exists(path, vfs: vfs) else { return nil }
        return try SourceFile(path: path, kind: kind, vfs: vfs)
    }

    /// The size of pages as known by the log or the journal, whose checksums prove it.
    private var overlaySize: Int? { log?.pageSize ?? journal?.pageSize }

    /// The header as the file has it; nil if it is lost.
    private func readHeader() -> FileHeader? {
        (overlaySize.flatMap { overlaidPage(1, size: $0) } ?? file.bytes(FileHeader.size, at: 0)).flatMap {
            FileHeader($0)
        }
    }

    /// Sets the size of pages while it is being inferred, and for good.
    func setPageSize(_ size: Int) {
        header.pageSize = size
        let pagesOfFile = UInt32(clamping: (fileSize + Int64(size) - 1) / Int64(size))
        let limit = log?.pageCount ?? journal?.pageCount ?? pagesOfFile
        filePageCount = min(pagesOfFile, limit)
        let overlay = log?.offsets ?? journal?.offsets ?? [:]
        laterPages = overlay.keys.filter { $0 > filePageCount && $0 <= limit }.sorted()
        unreadable = emptySet()
        lastPage = nil
    }

    /// The numbers of the pages that exist, in order.
    ///
    /// A damaged journal may claim billions of pages: only those that are somewhere count.
    var pageNumbers: some Sequence<UInt32> { (0..<pageCount).lazy.map(pageNumber) }

    /// Some of those numbers, from the whole file: less than twice `count`.
    func samplePageNumbers(_ count: Int = 64) -> some Sequence<UInt32> {
        stride(from: 0, to: pageCount, by: max(1, pageCount / count)).lazy.map(pageNumber)
    }

    private func pageNumber(_ index: Int) -> UInt32 {
        index < Int(filePageCount) ? UInt32(index) + 1 : laterPages[index - Int(filePageCount)]
    }

    /// The number of pages that exist.
    var pageCount: Int { Int(filePageCount) + laterPages.count }

    /// The number of the last page that exists.
    var lastPageNumber: UInt32 { laterPages.last ?? filePageCount }

    func emptySet() -> PageSet { PageSet(count: filePageCount) }

    /// The number of frames of the log that count, and of those behind them.
    var logFrames: (used: Int, ignored: Int) { (log?.frameCount ?? 0, log?.ignoredFrameCount ?? 0) }

    /// The log or the journal, if a part of it couldn't be read.
    var unreadableCompanions: [String] { [logFile, journalFile].compactMap { $0 }.filter(\.hasFailed).map(\.path) }

    /// The number of pages whose content is that before an unfinished transaction.
    var journalPageCount: Int { journal?.offsets.count ?? 0 }

    /// Corrects the encoding of text, which the header has wrong.
    func correctEncoding(_ encoding: FileHeader.Encoding) {
        header.encoding = encoding
        header.isDamaged = true
    }

    private func overlaidPage(_ number: UInt32, size: Int) -> [UInt8]? {
        if let offset = log?.offsets[number] { return logFile?.bytes(size, at: offset) }
        if let offset = journal?.offsets[number] { return journalFile?.bytes(size, at: offset) }
        return nil
    }

    /// The bytes of a page; nil if it can't be read, or isn't in the file.
    func page(_ number: UInt32) -> [UInt8]? {
        guard number > 0, number <= lastPageNumber else { return nil }
        if let lastPage, lastPage.number == number { return lastPage.bytes }
        readCount += 1
        let size = header.pageSize
        let bytes =
            overlaidPage(number, size: size) ?? file.bytes(size, at: Int64(number - 1) * Int64(size))
        guard let bytes else {
            unreadable.insert(number)
            return nil
        }
        lastPage = (number, bytes)
        return bytes
    }

    /// Bytes that differ after a connection has written.
    func stamp() -> [UInt8] {
        (file.bytes(FileHeader.size, at: 0) ?? []) + (logFile?.bytes(32, at: 0) ?? [])
    }
}

/// A set of pages: one bit for each page of the file.
struct PageSet {
    private var words: [UInt64]
    /// Pages behind those of the file. Damaged pages refer to any number.
    private var later: Set<UInt32> = []

    /// - parameter count: the number of pages of the file.
    init(count: UInt32) { words = [UInt64](repeating: 0, count: Int(count) / 64 + 1) }

    func contains(_ page: UInt32) -> Bool {
        let word = Int(page) / 64
        return word < words.count ? words[word] & (1 << UInt64(page % 64)) != 0 : later.contains(page)
    }

    /// - returns: whether the page was not yet in the set.
    @discardableResult
    mutating func insert(_ page: UInt32) -> Bool {
        let word = Int(page) / 64
        guard word < words.count else { return later.insert(page).inserted }
        guard words[word] & (1 << UInt64(page % 64)) == 0 else { return false }
        words[word] |= 1 << UInt64(page % 64)
        return true
    }

    /// The first pages of the set.
    func first(_ count: Int) -> [Int] {
        var pages: [Int] = []
        for (index, word) in words.enumerated() where word != 0 {
            for bit in 0..<64 where word & (1 << UInt64(bit)) != 0 {
                if pages.count == count { return pages }
                pages.append(index * 64 + bit)
            }
        }
        return pages + later.sorted().prefix(count - pages.count).map(Int.init)
    }
}
