import CSQLite

/// Defines the SQL functions and collations of a connection.
enum FunctionCalls {
    /// Adds a function. The corresponding C functions are `sqlite3_create_function_v2` and
    /// `sqlite3_create_window_function`.
    ///
    /// SQLite releases the registration when the function is replaced or removed, when the connection closes, and when
    /// this call fails.
    static func add(
        _ connection: SQLiteConnection, _ registration: FunctionRegistration, argumentCount: CInt, isPure: Bool,
        options: DatabaseFunction.Options
    ) -> CInt {
        let flags = flags(isPure: isPure, options)
        let context = Unmanaged.passRetained(registration).toOpaque()
        let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            if let context { Unmanaged<FunctionRegistration>.fromOpaque(context).release() }
        }
        let name = registration.name
        switch registration.body {
        case .scalar:
            return sqlite3_create_function_v2(
                connection, name, argumentCount, flags, context,
                { FunctionCalls.call($0, $1, $2) }, nil, nil, release)
        case .unary:
            return sqlite3_create_function_v2(
                connection, name, argumentCount, flags, context,
                { FunctionCalls.call(FunctionCalls.registration($0)?.body, $0, $2) }, nil, nil, release)
        case .aggregate:
            return sqlite3_create_function_v2(
                connection, name, argumentCount, flags, context, nil,
                { context, count, values in
                    FunctionCalls.withRun(context, of: PlainAggregates.self) { run, arguments in
                        try run.aggregate.step(arguments.take(count, values))
                    }
                },
                { FunctionCalls.finish($0, of: PlainAggregates.self) }, release)
        case .window:
            return sqlite3_create_window_function(
                connection, name, argumentCount, flags, context,
                { context, count, values in
                    FunctionCalls.withRun(context, of: WindowAggregates.self) { run, arguments in
                        try run.aggregate.step(arguments.take(count, values))
                    }
                },
                { FunctionCalls.finish($0, of: WindowAggregates.self) },
                { context in
                    FunctionCalls.withRun(context, of: WindowAggregates.self) { run, _ in
                        try FunctionResult.set(run.aggregate.value(), context)
                    }
                },
                { context, count, values in
                    FunctionCalls.withRun(context, of: WindowAggregates.self) { run, arguments in
                        try run.aggregate.inverse(arguments.take(count, values))
                    }
                }, release)
        }
    }

    /// Adds a function of one argument that lives as long as the process. The corresponding C function is
    /// `sqlite3_create_function_v2`.
    static func addForGood(_ connection: SQLiteConnection, _ function: DatabaseFunction) -> CInt {
        sqlite3_create_function_v2(
            connection, function.name, 1, flags(isPure: function.isPure, function.options),
            Unmanaged.passUnretained(function).toOpaque(),
            { context, _, values in
                guard let function = sqlite3_user_data(context) else { return }
                Unmanaged<DatabaseFunction>.fromOpaque(function)._withUnsafeGuaranteedRef {
                    FunctionCalls.call($0.body, context, values)
                }
            }, nil, nil, nil)
    }

    private static func flags(isPure: Bool, _ options: DatabaseFunction.Options) -> CInt {
        var flags = SQLITE_UTF8
        if isPure { flags |= SQLITE_DETERMINISTIC }
        if options.contains(.directOnly) { flags |= SQLITE_DIRECTONLY }
        if options.contains(.innocuous) { flags |= SQLITE_INNOCUOUS }
        return flags
    }

    /// The corresponding C function is `sqlite3_create_function_v2`, without an implementation.
    static func remove(_ connection: SQLiteConnection, name: String, argumentCount: CInt) -> CInt {
        sqlite3_create_function_v2(connection, name, argumentCount, SQLITE_UTF8, nil, nil, nil, nil, nil)
    }

    /// Adds a collation. The corresponding C function is `sqlite3_create_collation_v2`.
    static func add(_ connection: SQLiteConnection, _ registration: CollationRegistration) -> CInt {
        let context = Unmanaged.passRetained(registration).toOpaque()
        let code = sqlite3_create_collation_v2(
            connection, registration.collation.name, SQLITE_UTF8, context,
            { context, leftCount, left, rightCount, right in
                guard let context else { return 0 }
                return Unmanaged<CollationRegistration>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    FunctionCalls.order(leftCount, left, rightCount, right, $0.compare)
                }
            },
            { context in
                if let context { Unmanaged<CollationRegistration>.fromOpaque(context).release() }
            })
        // Unlike the functions above, this one releases nothing when it fails.
        if code != SQLITE_OK { Unmanaged<CollationRegistration>.fromOpaque(context).release() }
        return code
    }

    /// Adds a collation that lives as long as the process. The corresponding C function is
    /// `sqlite3_create_collation_v2`.
    static func addForGood(_ connection: SQLiteConnection, _ collation: DatabaseCollation) -> CInt {
        sqlite3_create_collation_v2(
            connection, collation.name, SQLITE_UTF8, Unmanaged.passUnretained(collation).toOpaque(),
            { context, leftCount, left, rightCount, right in
                guard let context else { return 0 }
                return Unmanaged<DatabaseCollation>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    FunctionCalls.order(leftCount, left, rightCount, right, $0.compare)
                }
            }, nil)
    }

    @inline(__always)
    private static func order(
        _ leftCount: CInt, _ left: UnsafeRawPointer?, _ rightCount: CInt, _ right: UnsafeRawPointer?,
        _ compare: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
    ) -> CInt {
        let order = compare(
            UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
            UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
        return CInt(order.signum())
    }

    /// The corresponding C function is `sqlite3_create_collation_v2`, without an implementation.
    static func removeCollation(_ connection: SQLiteConnection, name: String) -> CInt {
        sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, nil, nil, nil)
    }

    // MARK: - Calls

    /// The corresponding C function is `sqlite3_user_data`.
    private static func registration(_ context: OpaquePointer?) -> FunctionRegistration? {
        sqlite3_user_data(context).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Calls a function of one argument.
    private static func call(
        _ body: DatabaseFunction.Body?, _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard case .unary(let function) = body, let pointer = values?.pointee else { return }
        do {
            guard let value = ValueCalls.value(pointer) else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
            try FunctionResult.set(function(value), context)
        } catch {
            FunctionResult.setError(error, context)
        }
    }

    private static func call(
        _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard let registration = registration(context), case .scalar(let function) = registration.body else { return }
        var arguments = registration.arguments.borrow()
        do {
            try FunctionResult.set(function(arguments.take(count, values)), context)
        } catch {
            FunctionResult.setError(error, context)
        }
        registration.arguments.giveBack(&arguments)
    }

    /// Runs `body` on the state of a group. The first call for a group makes the state.
    private static func withRun<Family: AggregateFamily>(
        _ context: OpaquePointer?, of family: Family.Type,
        _ body: (AggregateRun<Family>, inout FunctionArguments) throws -> Void
    ) {
        guard let registration = registration(context) else { return }
        guard let place = runPlace(context, of: family, create: true) else {
            return sqlite3_result_error_nomem(context)
        }
        let run: AggregateRun<Family>
        if let existing = place.pointee {
            run = existing.takeUnretainedValue()
        } else {
            guard let aggregate = family.make(registration.body) else { return }
            run = AggregateRun(aggregate)
            place.pointee = Unmanaged.passRetained(run)
        }
        var arguments = registration.arguments.borrow()
        do {
            try body(run, &arguments)
        } catch {
            run.hasFailed = true
            FunctionResult.setError(error, context)
        }
        registration.arguments.giveBack(&arguments)
    }

    /// Ends a group. SQLite calls this for each existing state, also after an error and for an abandoned query.
    private static func finish<Family: AggregateFamily>(_ context: OpaquePointer?, of family: Family.Type) {
        guard let registration = registration(context) else { return }
        var run: AggregateRun<Family>?
        if let place = runPlace(context, of: family, create: false) {
            run = place.pointee?.takeRetainedValue()
            place.pointee = nil
        }
        if let run, run.hasFailed { return }
        do {
            // A group without rows has no state: its result is that of a new aggregate.
            guard let aggregate = run?.aggregate ?? family.make(registration.body) else { return }
            try FunctionResult.set(family.finalize(aggregate), context)
        } catch {
            FunctionResult.setError(error, context)
        }
    }

    /// The place where SQLite keeps the state of a group; it holds nil at first. The corresponding C function is
    /// `sqlite3_aggregate_context`.
    private static func runPlace<Family: AggregateFamily>(
        _ context: OpaquePointer?, of family: Family.Type, create: Bool
    ) -> UnsafeMutablePointer<Unmanaged<AggregateRun<Family>>?>? {
        let size = create ? MemoryLayout<UnsafeRawPointer?>.size : 0
        return sqlite3_aggregate_context(context, CInt(size))?
            .assumingMemoryBound(to: Unmanaged<AggregateRun<Family>>?.self)
    }
}

/// Sets the result of a call: <https://www.sqlite.org/c3ref/result_blob.html>.
enum FunctionResult {
    /// The corresponding C functions are `sqlite3_result_null` and its relatives.
    static func set(_ result: (any DatabaseValueConvertible)?, _ context: OpaquePointer?) throws {
        switch result?.databaseValue.content {
        case nil, .null:
            sqlite3_result_null(context)
        case .int64(let value):
            sqlite3_result_int64(context, value)
        case .double(let value):
            sqlite3_result_double(context, value)
        case .string(var text):
            text.withUTF8Bytes { bytes in
                UnsafeRawBufferPointer(bytes).withMemoryRebound(to: CChar.self) { bytes in
                    guard let base = bytes.baseAddress else {
                        return sqlite3_result_text64(
                            context, "", 0, StatementBindings.transient, UInt8(SQLITE_UTF8))
                    }
                    sqlite3_result_text64(
                        context, base, UInt64(bytes.count), StatementBindings.transient, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let blob):
            blob.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, !bytes.isEmpty else {
                    sqlite3_result_zeroblob(context, 0)
                    return
                }
                sqlite3_result_blob64(context, base, UInt64(bytes.count), StatementBindings.transient)
            }
        case .unrepresentable(let value):
            throw DatabaseError(
                resultCode: .SQLITE_MISMATCH, message: "could not return \(value) from a function: \(value.reason)")
        }
    }

    /// Fails the call. The corresponding C functions are `sqlite3_result_error` and `sqlite3_result_error_code`.
    @inline(never)
    static func setError(_ error: any Error, _ context: OpaquePointer?) {
        let failure = CallbackFailure(error)
        var message = failure.message
        message.withUTF8Bytes { bytes in
            UnsafeRawBufferPointer(bytes).withMemoryRebound(to: CChar.self) { bytes in
                if let base = bytes.baseAddress {
                    sqlite3_result_error(context, base, CInt(clamping: bytes.count))
                } else {
                    sqlite3_result_error(context, "", 0)
                }
            }
        }
        // After the message, because `sqlite3_result_error_code` keeps an existing message.
        sqlite3_result_error_code(context, failure.code.rawValue)
    }
}
