public import Quarry
import QuarryCore

/// A folder with dated backups of one database.
///
/// ```swift
/// let folder = BackupFolder(path: "/var/backups", name: "players")
/// try await folder.makeBackup(of: dbPool)
/// for backup in try folder.backups() { print(backup.name, backup.byteCount) }
/// ```
///
/// The files are named by the time in UTC at which they are made: `players-2026-11-24T083112.345Z.sqlite`. Several
/// processes may use a folder, and other files in it aren't touched.
public struct BackupFolder: Sendable {
    /// The path of the folder.
    public let path: String

    /// The beginning of the names of the files.
    public let name: String

    /// Whether missing folders of the path are made, as `Configuration.createsIntermediateDirectories` does for
    /// databases.
    ///
    /// By default a missing folder is an error: it may be that of a disk that isn't mounted.
    public var createsIntermediateDirectories = false

    var files = FileOperations()

    /// Returns milliseconds since 1970-01-01 00:00:00 UTC.
    var now: @Sendable () -> Int = { Int((SystemClock.secondsSinceReferenceDate() + 978_307_200) * 1000) }

    /// Names a folder. Nothing is looked at or made.
    ///
    /// - parameter path: the path of the folder, which must exist, unless `createsIntermediateDirectories` is true.
    /// - parameter name: the beginning of the names of the files: different for each database in the folder.
    public init(path: String, name: String) {
        self.path = path
        self.name = name
    }

    // MARK: - Making

    /// Makes a backup named by the current time, on this thread.
    ///
    /// ```swift
    /// let backup = try folder.makeBackup(of: dbPool)
    /// ```
    ///
    /// - parameter options: as for `DatabaseReader.backup(toFile:)`. An existing file is never replaced.
    /// - throws: the errors of `DatabaseReader.backup(toFile:)`; `SQLITE_MISUSE` for a name that is none of a file.
    @discardableResult
    public func makeBackup(
        of database: some DatabaseReader, options: BackupOptions = BackupOptions(),
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws -> StoredBackup {
        let backup = try nextBackup()
        let result = try database.backup(toFile: backup.path, options: own(options), progress: progress)
        return backup.with(byteCount: result.byteCount)
    }

    /// Makes a backup named by the current time, as the synchronous `makeBackup`, on a thread of the library.
    ///
    /// - throws: the errors of the synchronous `makeBackup`; `CancellationError`.
    @discardableResult
    public func makeBackup(
        of database: some DatabaseReader, options: BackupOptions = BackupOptions(),
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws -> StoredBackup {
        let backup = try await offloaded { try nextBackup() }
        let result = try await database.backup(toFile: backup.path, options: own(options), progress: progress)
        return backup.with(byteCount: result.byteCount)
    }

    private func own(_ options: BackupOptions) -> BackupOptions {
        var options = options
        options.replacesExisting = false
        return options
    }

    /// Throws if no backup can be made in the folder; makes the folder if that is asked for.
    func prepare() throws {
        try checkName()
        // The system would use the folder that the part before the NUL names.
        guard !path.utf8.contains(0) else { throw refusal("the path has a NUL character") }
        try createFolders()
        guard let status = try calling({ try files.status(path) }) else {
            throw refusal("the folder does not exist: create it, or set BackupFolder.createsIntermediateDirectories")
        }
        guard status.kind == .folder else { throw refusal("it is \(status.kind.rawValue), not a folder") }
        do {
            try files.checkWritable(path)
        } catch let failure as FileOperations.Failure {
            throw refusal("no file can be made in the folder: \(failure.reason)")
        }
    }

    private func refusal(_ reason: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "backups in \(path): \(reason)")
    }

    private func createFolders() throws {
        if createsIntermediateDirectories { try calling { try files.createFolders(path) } }
    }

    /// A name that no file has.
    private func nextBackup() throws -> StoredBackup {
        try checkName()
        try createFolders()
        // The folder of a killed backup has its leftover, whose target had another time.
        PartialFile.removeLeftovers(in: path, files) { time(ofName: $0) != nil }
        var instant = now()
        while true {
            let backup = StoredBackup(folder: path, name: name(at: instant), milliseconds: instant, byteCount: 0)
            guard try calling({ try files.status(backup.path) }) != nil else { return backup }
            // Another backup was made in the same millisecond.
            instant += 1
        }
    }

    private func checkName() throws {
        guard name == "" || name.hasPrefix(".") || name.utf8.contains(0) || name.utf8.contains(UInt8(ascii: "/")) else {
            return
        }
        throw DatabaseError.misuse("the name of backups can't be \(String(reflecting: name))")
    }

    // MARK: - Listing

    /// The backups in the folder, the newest first.
    ///
    /// ```swift
    /// let newest = try folder.backups().first
    /// ```
    ///
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be read.
    public func backups() throws -> [StoredBackup] {
        try checkName()
        return try calling {
            try files.list(path).compactMap { file in
                guard let time = time(ofName: file) else { return nil }
                let backup = StoredBackup(folder: path, name: file, milliseconds: time, byteCount: 0)
                // It may have been removed meanwhile.
                guard let status = try files.status(backup.path), status.kind == .file else { return nil }
                return backup.with(byteCount: status.byteCount)
            }.sorted { $0.milliseconds > $1.milliseconds }
        }
    }

    /// The newest backup that passes a check; nil if none does.
    ///
    /// ```swift
    /// if let backup = try folder.newestGood() { try dbPool.restore(from: backup.path) }
    /// ```
    ///
    /// - parameter check: the check of each file, from the newest on, until one passes.
    /// - parameter configuration: how the files are opened: with the functions and collations that their indexes need.
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be read.
    public func newestGood(
        check: BackupCheck = .quick, configuration: Configuration = Configuration()
    ) throws -> StoredBackup? {
        try backups().first { isGood($0, check, configuration, followsTask: false) }
    }

    /// As the synchronous `newestGood`, on a thread of the library.
    ///
    /// - throws: the errors of the synchronous `newestGood`; `CancellationError`.
    public func newestGood(
        check: BackupCheck = .quick, configuration: Configuration = Configuration()
    ) async throws -> StoredBackup? {
        try await offloaded {
            let backup = try backups().first { isGood($0, check, configuration, followsTask: true) }
            try Task.checkCancellation()
            return backup
        }
    }

    private func isGood(
        _ backup: StoredBackup, _ check: BackupCheck, _ configuration: Configuration, followsTask: Bool
    ) -> Bool {
        if backup.byteCount == 0 { return false }
        var configuration = configuration
        configuration.acceptsURIs = false
        do {
            let db = try configuration.open(path: backup.path, readonly: true, followsTask: followsTask)
            try AccessRunner.frame(db, followsTask: followsTask) { db in try db.pass(check, backup.name) }
            return true
        } catch {
            return false
        }
    }

    // MARK: - Removing

    /// Removes old backups, but never the newest good one.
    ///
    /// ```swift
    /// try folder.prune(keeping: BackupRetention(count: 14, age: .seconds(30 * 86_400)))
    /// ```
    ///
    /// - parameter retention: the backups that are kept.
    /// - parameter configuration: how the files are opened to check them.
    /// - returns: the removed backups.
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be read; `SQLITE_IOERR_DELETE`.
    @discardableResult
    public func prune(
        keeping retention: BackupRetention, configuration: Configuration = Configuration()
    ) throws -> [StoredBackup] {
        try prune(keeping: retention, configuration, followsTask: false)
    }

    /// As the synchronous `prune`, on a thread of the library.
    ///
    /// - throws: the errors of the synchronous `prune`; `CancellationError`.
    @discardableResult
    public func prune(
        keeping retention: BackupRetention, configuration: Configuration = Configuration()
    ) async throws -> [StoredBackup] {
        try await offloaded { try prune(keeping: retention, configuration, followsTask: true) }
    }

    private func prune(
        keeping retention: BackupRetention, _ configuration: Configuration, followsTask: Bool
    ) throws -> [StoredBackup] {
        let all = try backups()
        var removed = Set(retention.expired(all.map(\.milliseconds), now: now()))
        guard !removed.isEmpty else { return [] }
        // The newest good one is among those that are kept, or it is kept in spite of its age.
        let good = all.indices.first { isGood(all[$0], .quick, configuration, followsTask: followsTask) }
        if followsTask { try Task.checkCancellation() }
        // Without a good one, the damaged ones may be all that is left.
        guard let good else { return [] }
        removed.remove(good)
        let backups = removed.sorted().map { all[$0] }
        try calling {
            // The oldest first: an error leaves the newer ones.
            for backup in backups.reversed() { try files.remove(backup.path) }
            if !backups.isEmpty { try files.syncFolder(path) }
        }
        return backups
    }

    // MARK: - Names

    private static let suffix = ".sqlite"

    /// The name of the backup of a time: `players-2026-11-24T083112.345Z.sqlite`.
    func name(at milliseconds: Int) -> String {
        let milliseconds = max(CivilDate.daysSince1970.lowerBound * 86_400_000, milliseconds)
        let day = Int((Double(milliseconds) / 86_400_000).rounded(.down))
        let date = CivilDate(daysSince1970: min(day, CivilDate.daysSince1970.upperBound))
        let rest = milliseconds - day * 86_400_000
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(name)-\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.day, 2))"
            + "T\(digits(hour, 2))\(digits(minute, 2))\(digits(second, 2)).\(digits(rest % 1000, 3))Z\(Self.suffix)"
    }

    /// The time in a name; nil if it isn't the name of a backup of this database.
    func time(ofName file: String) -> Int? {
        guard file.hasPrefix(name + "-"), file.hasSuffix("Z" + Self.suffix) else { return nil }
        let text = Array(file.utf8.dropFirst(name.utf8.count + 1).dropLast(Self.suffix.utf8.count + 1))
        let pattern = Array("0000-00-00T000000.000".utf8)
        guard text.count == pattern.count else { return nil }
        var numbers: [Int] = []
        var isInNumber = false
        for (byte, expected) in zip(text, pattern) {
            guard expected == UInt8(ascii: "0") else {
                guard byte == expected else { return nil }
                isInNumber = false
                continue
            }
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            if !isInNumber { numbers.append(0) }
            isInNumber = true
            numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - UInt8(ascii: "0"))
        }
        let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2])
        let (hour, minute, second) = (numbers[3] / 10_000, numbers[3] / 100 % 100, numbers[3] % 100)
        guard date.exists, hour < 24, minute < 60, second < 60 else { return nil }
        let minutes: Int = (date.daysSince1970 * 24 + hour) * 60 + minute
        return minutes * 60_000 + second * 1000 + numbers[4]
    }

    // MARK: - Files

    private func calling<T>(_ body: () throws -> T) throws -> T { try BackupTarget.calling("backups in \(path)", body) }

    /// Runs work that waits for the disk on a thread of the library.
    func offloaded<T: Sendable>(_ body: @Sendable () throws -> T) async throws -> T {
        let workers = WorkerThreads(connectionCount: 1)
        defer { workers.shutDown() }
        return try await withTaskExecutorPreference(workers, isolation: nil) {
            try Task.checkCancellation()
            return try body()
        }
    }
}

/// A backup in a `BackupFolder`.
///
/// ```swift
/// if let backup = try folder.newestGood() { try dbPool.restore(from: backup.path) }
/// ```
public struct StoredBackup: Hashable, Sendable {
    private let folder: String

    /// The name of the file.
    public let name: String

    /// The time in the name: milliseconds since 1970-01-01 00:00:00 UTC.
    let milliseconds: Int

    /// The size of the file in bytes.
    public private(set) var byteCount: Int

    /// The path of the file.
    public var path: String { folder.hasSuffix("/") ? folder + name : folder + "/" + name }

    init(folder: String, name: String, milliseconds: Int, byteCount: Int) {
        self.folder = folder
        self.name = name
        self.milliseconds = milliseconds
        self.byteCount = byteCount
    }

    func with(byteCount: Int) -> StoredBackup {
        var backup = self
        backup.byteCount = byteCount
        return backup
    }
}

/// The backups that are kept when a folder is pruned.
///
/// ```swift
/// BackupRetention(count: 14)                            // the last 14
/// BackupRetention(age: .seconds(7 * 86_400))            // those of a week
/// BackupRetention(count: 3, age: .seconds(7 * 86_400))  // those of a week, but not more than 3
/// ```
public struct BackupRetention: Hashable, Sendable {
    /// The number of backups that are kept at most; nil for no limit.
    public var count: Int?

    /// The age from which on a backup is removed; nil for no limit.
    public var age: Duration?

    /// - parameter count: the number of backups that are kept at most; nil for no limit.
    /// - parameter age: the age from which on a backup is removed; nil for no limit.
    public init(count: Int? = nil, age: Duration? = nil) {
        self.count = count
        self.age = age
    }

    /// The indexes of the backups that aren't kept.
    ///
    /// - parameter times: in milliseconds, the newest first.
    func expired(_ times: [Int], now: Int) -> [Int] {
        times.indices.filter { index in
            if let count, index >= count { return true }
            guard let age else { return false }
            return .milliseconds(now - times[index]) >= age
        }
    }
}
