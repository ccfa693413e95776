import QuarryCore

extension Configuration {
    /// Opens a connection with this configuration.
    ///
    /// - parameter core: the core of the database to which the connection belongs; nil for a separate connection.
    /// - parameter role: the use of the connection.
    /// - parameter configuredTracers: the list of this configuration's tracers.
    /// - parameter route: runs the statements, if the data is elsewhere.
    /// - parameter followsTask: whether opening is cancelled with the current task.
    package func open(
        path: String, readonly: Bool, options: ConnectionOptions? = nil, core: DatabaseCore? = nil,
        role: DatabaseTraceEvent.Connection.Role = .writer, configuredTracers: TracerList? = nil,
        route: (any StatementRoute)? = nil, followsTask: Bool = false
    ) throws -> Database {
        try check()
        if createsIntermediateDirectories, !readonly, route == nil { try createFolders(of: path) }
        var configuration = self
        configuration.readonly = readonly
        do {
            let database = try openOnce(
                configuration, path: path, readonly: readonly, options, core, role, configuredTracers, route,
                followsTask: followsTask)
            // The log of a reader, or a journal, is opened by a later statement.
            if LiveDatabases.hasAny, FileSystem.isShortOfDescriptors { DatabaseMemory.releaseIdle(.connections) }
            return database
        } catch let error as DatabaseError where ResourceShortage.isCause(of: error) {
            DatabaseMemory.releaseIdle()
            return try openOnce(
                configuration, path: path, readonly: readonly, options, core, role, configuredTracers, route,
                followsTask: followsTask)
        }
    }

    private func openOnce(
        _ configuration: Configuration, path: String, readonly: Bool, _ options: ConnectionOptions?,
        _ core: DatabaseCore?, _ role: DatabaseTraceEvent.Connection.Role, _ configuredTracers: TracerList?,
        _ route: (any StatementRoute)?, followsTask: Bool
    ) throws -> Database {
        let start = TracerList.hasAny ? monotonicClock.now : nil
        let context = ConnectionContext(configuration, path: path, core, role, configuredTracers)
        if let core {
            settings.databaseWillOpen(core)
            if role != .writer, route == nil { try core.checkFile(at: path) }
        }
        do {
            let database = try Database(
                path: route == nil ? path : ":memory:",
                options: options ?? connectionOptions(readonly: readonly, inMemory: path == ":memory:"),
                context: context, setups: core?.setups, route: route, followsTask: followsTask
            ) { db in
                db.addPredefinedFunctionsAndCollations()
                // Their statements wait for the network, as the first access does.
                if route == nil { for prepare in preparations { try prepare(db) } }
            }
            if role == .writer, route == nil { core?.noteFile(at: path) }
            context.connectionDidOpen(since: start)
            return database
        } catch let error as DatabaseError where start != nil {
            throw context.traced(error)
        }
    }

    /// Opens a connection that writes in WAL mode.
    ///
    /// ```sql
    /// PRAGMA synchronous = FULL
    /// ```
    ///
    /// - parameter core: the core of the database to which the connection belongs.
    /// - parameter followsTask: whether opening is cancelled with the current task.
    func openInWALMode(
        path: String, options: ConnectionOptions? = nil, core: DatabaseCore, configuredTracers: TracerList? = nil,
        followsTask: Bool = false
    ) throws -> Database {
        var options = options ?? connectionOptions(readonly: false)
        // Before `prepareDatabase`, which may request another mode.
        if synchronous == nil { options.pragmas.append("PRAGMA synchronous = FULL") }
        let database = try open(
            path: path, readonly: false, options: options, core: core, configuredTracers: configuredTracers,
            followsTask: followsTask)
        do {
            try Self.activateWAL(database, path: path, followsTask: followsTask)
        } catch let error as DatabaseError where ResourceShortage.isCause(of: error) {
            // The log and its index are files of their own.
            DatabaseMemory.releaseIdle()
            try Self.activateWAL(database, path: path, followsTask: followsTask)
            // The first try may have switched the mode, and failed to open the log. An error here lets a directory
            // close another database.
            try AccessRunner.frame(database, nil, followsTask: followsTask) { db in try db.openLog() }
        }
        return database
    }

    private static func activateWAL(_ database: Database, path: String, followsTask: Bool) throws {
        try AccessRunner.frame(database, nil, followsTask: followsTask) { db in
            try FileSystem.check(db, willBeWAL: true)
            try db.activateWAL(path: path)
        }
    }
}
