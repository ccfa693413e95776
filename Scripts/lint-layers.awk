# Reads Swift files and prints `file:line: rule: text` for each line that breaks a rule of the layers.
#
# Read together with swift-lines.awk, which splits each line into code and comment. POSIX awk only: mawk is what a fresh
# Debian has.

BEGIN {
    split("stmt value context blob backup int64 uint64 vfs file io_methods mutex module vtab vtab_cursor index_info " \
        "destructor_type callback session changeset_iter changegroup rebaser snapshot filename syscall_ptr " \
        "api_routines mem_methods str rtree_geometry rtree_query_info mutex_methods", typeNames, " ")
    for (i in typeNames) isNoSQLiteCall["sqlite3_" typeNames[i]] = 1
    # A shim that asks the system, not SQLite.
    isNoSQLiteCall["csqlite_current_thread"] = 1

    # A slot of a connection holds one callback: who sets it a second time takes it from the first.
    slot["sqlite3_update_hook"] = "update hook"
    slot["sqlite3_preupdate_hook"] = "preupdate hook"
    slot["sqlite3_commit_hook"] = "commit hook"
    slot["sqlite3_rollback_hook"] = "rollback hook"
    slot["sqlite3_wal_hook"] = "WAL hook"
    slot["sqlite3_wal_autocheckpoint"] = "WAL hook"
    slot["sqlite3_set_authorizer"] = "authorizer"
    slot["sqlite3_progress_handler"] = "progress handler"
    slot["sqlite3_trace_v2"] = "trace"
    slot["sqlite3_trace"] = "trace"
    slot["sqlite3_profile"] = "trace"
    slot["sqlite3_busy_handler"] = "busy handler"
    slot["sqlite3_busy_timeout"] = "busy handler"

    split("CSQLite Synchronization Glibc Musl Android Bionic Darwin Swift _Concurrency", names, " ")
    for (i in names) coreMayImport[names[i]] = 1
    allow("QuarrySQL", "QuarryCore")
    allow("QuarryAccess", "QuarryCore")
    allow("QuarryRecords", "QuarryCore QuarrySQL")
    allow("Quarry", "QuarryAccess QuarryCore QuarryRecords QuarrySQL")
    split("QuarryCaching QuarryDocuments QuarryIncrementalWrites QuarryOutbox QuarryRecovery QuarryShared " \
        "QuarryTableSchemas QuarryTables QuarryUntrustedSQL", names, " ")
    for (i in names) allow(names[i], "Quarry QuarryCore QuarrySQL")
    allow("QuarryChangesets", "QuarryCore")
    allow("QuarryCJKTokenizer", "QuarryCore QuarrySQL")
    allow("QuarryDocuments", "QuarryIncrementalWrites")
    allow("QuarryCluster", "Quarry QuarryCore QuarryClusterWire")
    # Products with a trait: no target but the command imports one.
    allow("QuarryInstrumentation", "Quarry")
    allow("QuarryCodeGeneration", "Quarry QuarrySQL")
    allow("quarry-codegen", "Quarry QuarryCodeGeneration")
    split("Primitives SwiftLayout Handles Values Conversions Statements Rows Fetching Errors", names, " ")
    for (i in names) isHotFolder["Sources/QuarryCore/" names[i]] = 1
    # Words of the layers above, alone or as a part of a name.
    upperWord = "(^|[^A-Za-z])([Rr]ecord(s|ed)?|[Aa]ssociat(ion|ions|ed)|[Pp]refetch(e[sd]|ing)?|[Ii]ncluding)([^A-Za-z]|$)" \
        "|(Record|Association|Prefetch)s?([A-Z]|[^A-Za-z]|$)|(^|[^A-Za-z])(record|association|prefetch)s?[A-Z]"

    split("Database ConnectionHandle StatementHandle Statement DatabaseQueue DatabasePool DatabaseReader DatabaseWriter",
        names, " ")
    for (i in names) isConnection[names[i]] = 1
}

# The modules of this package that a target imports. A target that isn't named here imports none.
function allow(target, modules,    names, i) {
    split(modules, names, " ")
    for (i in names) mayImport[target, names[i]] = 1
}

function report(number, rule, text) {
    print FILENAME ":" number ": " rule ": " text
}

function trimmed(text) {
    sub(/^[ \t]+/, "", text)
    sub(/[ \t]+$/, "", text)
    return text
}

# The script runs in the C locale: a character of several bytes counts by its first.
function columns(text) {
    gsub(/[\200-\277]/, "", text)
    return length(text)
}

# The previous file's length is checked when the next one starts, and the last one's at the end.
function finish_file() {
    if (currentFile != "" && lineCount > 500) {
        print currentFile ":" lineCount ": file-length: " lineCount " lines, at most 500"
    }
}

FNR == 1 {
    finish_file()
    currentFile = FILENAME
    begin_lines()
    lastCommentLine = -100
    inlineAlwaysLine = -100
    isOpenTest = 0

    isSource = FILENAME ~ /^Sources\//
    # Packages of their own, which users of Quarry read or build.
    isOtherSource = FILENAME ~ /^Examples\// || FILENAME ~ /^Cluster\/Sources\//
    isTest = FILENAME ~ /^Tests\// || FILENAME ~ /^(Examples|Benchmarks|Cluster)\/.*Tests\//
    inHandles = FILENAME ~ /^Sources\/QuarryCore\/Handles\//
    target = ""
    if (match(FILENAME, /^Sources\/[^\/]+\//)) target = substr(FILENAME, 9, RLENGTH - 9)
    folder = FILENAME
    sub(/\/[^\/]*$/, "", folder)
    hotFolder = folder
    if (match(folder, /^Sources\/QuarryCore\/[^\/]+/)) hotFolder = substr(folder, 1, RLENGTH)
    inHotFolder = hotFolder in isHotFolder

    if (FILENAME ~ /(^|\/)(Utils?|Utilities|Helpers?|Common|New|Misc)(\/|\.swift$)/) {
        report(1, "vague-name", "a name tells a purpose")
    }
}

{
    lineCount = FNR
    split_line($0)
    if (comment != "") lastCommentLine = FNR
    # swift-format sees to the length of code, and leaves comments as they are.
    if (length($0) > 120 && code ~ /^[ \t]*$/ && comment !~ /:\/\// && columns($0) > 120) {
        report(FNR, "line-length", columns($0) " columns, at most 120: make format wraps comments")
    }

    if (isSource || isOtherSource) {
        if (code ~ /(^|[^A-Za-z0-9_])fatalError[ \t]*\(/) report(FNR, "trap", "fatalError: throw instead")
        if (code ~ /(^|[^A-Za-z0-9_])try!/) report(FNR, "trap", "try!: throw instead")
        if ($0 ~ /(^|[^A-Za-z0-9_])(TODO|FIXME|XXX)([^A-Za-z0-9_]|$)/) report(FNR, "unfinished", trimmed($0))
        if (tolower($0) ~ /not (yet )?implemented|unimplemented/) report(FNR, "unfinished", trimmed($0))
    }
    if (code ~ /@unchecked[ \t]+Sendable|nonisolated\(unsafe\)/ && FNR - lastCommentLine > 6) {
        report(FNR, "unchecked-proof", "no comment within six lines says why this is safe: " trimmed($0))
    }
    if (isTest) check_test()
    if (isSource) check_source()
    if (FILENAME ~ /^Tests\/QuarrySQLTests\// && code ~ /(^|[ \t])import[ \t]+(Quarry|QuarryTestSupport|CSQLite)[ \t]*$/) {
        report(FNR, "target-order", "tests of the query interface open no database: " trimmed($0))
    }
}

function check_test() {
    if (code ~ /(^|[^A-Za-z0-9_])(usleep|nanosleep|sleep)[ \t]*\(/) {
        report(FNR, "sleep", trimmed($0))
    }
    if (code ~ /#(expect|require)\([ \t]*(Bool\([ \t]*)?true[ \t]*\)/ || code ~ /\.disabled\(/ ||
        code ~ /XCTAssert(True)?\([ \t]*true[ \t]*\)/ || code ~ /withKnownIssue/) {
        report(FNR, "idle-test", "a test that can't fail or doesn't run: " trimmed($0))
    }
    # The name of the function is the sentence.
    if (code ~ /@Test\([ \t]*"/ || (isOpenTest && code ~ /^[ \t]*"/)) {
        report(FNR, "test-name", "a display name: name the function instead: " trimmed($0))
    }
    isOpenTest = code ~ /@Test\([ \t]*$/
}

function check_source(    rest, before, name) {
    if (code ~ /(^|[ \t;])import[ \t]/) check_import()

    # Identifiers one by one: what stands before one, the name, and what follows.
    if (code ~ /csqlite_|sqlite3_/ || target == "QuarrySQL") {
        rest = code
        before = ""
        while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
            name = substr(rest, RSTART, RLENGTH)
            before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
            rest = substr(rest, RSTART + RLENGTH)
            check_identifier(name, before, rest)
        }
    }

    # Handles casts SQLite's constants.
    if (code ~ /(^|[^A-Za-z0-9_])unsafeBitCast([^A-Za-z0-9_]|$)/ && FILENAME !~ /\/SwiftLayout\// && !inHandles) {
        report(FNR, "swift-layout", "unsafeBitCast outside a folder SwiftLayout: " trimmed($0))
    }
    if (target == "QuarryCore" && $0 ~ upperWord) {
        report(FNR, "upper-layer", "a word of the layers above Core: " trimmed($0))
    }

    if (!inHotFolder) check_inlining()
}

function check_import(    text, module) {
    text = code
    sub(/^.*(^|[ \t;])import[ \t]+/, "", text)
    sub(/^(struct|class|enum|protocol|typealias|func|let|var|actor)[ \t]+/, "", text)
    module = text
    sub(/[^A-Za-z0-9_].*$/, "", module)

    if (module ~ /^Foundation/ && target != "quarry-codegen" &&
        FILENAME !~ /^Sources\/Quarry(Access|CJKTokenizer|Changesets|CodeGeneration|Records|Recovery|TableSchemas)\/Foundation\//) {
        report(FNR, "foundation-import", "only the command quarry-codegen, and folders Foundation of QuarryAccess, QuarryRecords and five products import " module)
    } else if (target == "QuarryCore" && !(module in coreMayImport)) {
        report(FNR, "target-order", "QuarryCore doesn't import " module)
    } else if (target != "QuarryCore" && module ~ /^(Quarry|CSQLite)/ && !((target, module) in mayImport)) {
        report(FNR, "target-order", target " doesn't import " module)
    }
}

function check_identifier(name, before, rest) {
    if (name ~ /^(sqlite3|csqlite)_/ && !(name in isNoSQLiteCall)) {
        if (!inHandles) report(FNR, "sqlite-call", name " outside Sources/QuarryCore/Handles")
        if (name in slot) note_slot(slot[name])
    }
    if (target == "QuarrySQL") {
        # `Database` too: neither a value of it nor a name in it, but for comments.
        if (name in isConnection) {
            report(FNR, "builder-connection", "the query interface reaches no connection: " name)
        }
        if (before == "." && rest ~ /^[ \t]*[({]/ && name ~ /^(execute|makeStatement|cachedStatement|allStatements)$/) {
            report(FNR, "builder-connection", "the query interface runs no SQL: ." name)
        }
    }
}

# Who sets a slot: reported at the end, where more than one file does.
function note_slot(name) {
    if ((name, FILENAME) in slotLine) return
    slotLine[name, FILENAME] = FNR
    slotFiles[name] = slotFiles[name] "\n" FILENAME
    slotCount[name]++
}

function check_inlining() {
    # A record's init(row:) and encode(to:) are the client's, and so are the loops that call them.
    if (FILENAME ~ /Sources\/QuarryRecords\/(Records\/FetchableRecord|RecordCoding\/PersistenceContainer)\.swift$/) return
    if (match(code, /@(inlinable|_alwaysEmitIntoClient|_transparent)/)) {
        report(FNR, "inlinable", substr(code, RSTART, RLENGTH) " outside Core's hot folders")
    }
    # What inlinable code calls may stand anywhere in Core.
    if (target != "QuarryCore" && code ~ /@usableFromInline/) {
        report(FNR, "inlinable", "@usableFromInline outside QuarryCore")
    }
    # @inline(__always) crosses a module only where the declaration is public.
    if (code ~ /@inline\(__always\)/) inlineAlwaysLine = FNR
    if (inlineAlwaysLine > 0 && code ~ /(func|init|var|subscript|get|set)([^A-Za-z0-9_]|$)/) {
        if (code ~ /(^|[^A-Za-z0-9_])public[ \t]/) {
            report(inlineAlwaysLine, "inlinable", "public @inline(__always) outside Core's hot folders")
        }
        inlineAlwaysLine = -100
    }
}

END {
    finish_file()
    for (name in slotCount) {
        if (slotCount[name] < 2) continue
        count = split(substr(slotFiles[name], 2), files, "\n")
        for (i = 1; i <= count; i++) {
            print files[i] ":" slotLine[name, files[i]] ": hook-owner: the " name " is set in " count " files"
        }
    }
}
