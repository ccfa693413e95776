# Reads the Swift files of a target and prints `file:line: folder-order: text` for each name of a higher room. `target` is
# the target's name, and `order` the file that lists its rooms: Scripts/folder-orders/QuarryCore says how. Read together with swift-lines.awk.
#
# A name is a type or a function that a file declares at the top level, and that one room alone declares.

BEGIN {
    while ((getline line < order) > 0) {
        lineNumber++
        if (line ~ /^[ \t]*(#|$)/) continue
        if (split(line, exception, / *[>:] */) > 2) {
            reasonLine[exception[1], exception[2]] = lineNumber
            if (++exceptionCount > 4) print order ":" lineNumber ": folder-order: at most four exceptions"
            continue
        }
        rank++
        count = split(line, folders, " ")
        for (i = 1; i <= count; i++) roomOf[folders[i]] = folders[1]
        rankOf[folders[1]] = rank
    }
    close(order)
}

FNR == 1 {
    begin_lines()
    folder = FILENAME
    folder = substr(folder, length("Sources/" target "/") + 1)
    if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
    room = roomOf[folder]
    if (room == "") print FILENAME ":1: folder-order: the folder " folder " is missing in Scripts/folder-orders/" target
}

{
    isTopLevel = depth == 0 && $0 ~ /^[a-z@]/
    split_line($0)
    if (isTopLevel) note_declaration(code)
    rest = code
    while (match(rest, /\.?[A-Za-z_][A-Za-z0-9_]*/)) {
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        # A member isn't a declaration of the top level.
        if (name !~ /^\./ && !((FILENAME, name) in lineOf)) {
            lineOf[FILENAME, name] = FNR
            roomOfFile[FILENAME] = room
        }
    }
}

function note_declaration(text,    name) {
    gsub(/@[A-Za-z_]+(\([^)]*\))?[ \t]*/, "", text)
    if (text ~ /(^|[ \t])(private|fileprivate)[ \t]/) return
    sub(/^((public|package|internal|final|indirect|nonisolated)[ \t]+)*/, "", text)
    if (!match(text, /^(struct|class|enum|protocol|typealias|actor|func)[ \t]+[A-Za-z_][A-Za-z0-9_]*/)) return
    name = substr(text, 1, RLENGTH)
    sub(/^[a-z]+[ \t]+/, "", name)
    if (!(name in declaredIn)) declaredIn[name] = room
    else if (declaredIn[name] != room) isAmbiguous[name] = 1
}

END {
    for (key in lineOf) {
        split(key, parts, SUBSEP)
        name = parts[2]
        if (!(name in declaredIn) || name in isAmbiguous) continue
        lower = roomOfFile[parts[1]]
        higher = declaredIn[name]
        if (lower == "" || higher == "" || rankOf[lower] >= rankOf[higher]) continue
        if ((lower, higher) in reasonLine) {
            isUsed[lower, higher] = 1
        } else {
            print parts[1] ":" lineOf[key] ": folder-order: " lower " is below " higher ", and names its " name
        }
    }
    for (key in reasonLine) {
        split(key, parts, SUBSEP)
        if (!(key in isUsed)) {
            print order ":" reasonLine[key] ": folder-order: no file of " parts[1] " names a type of " parts[2]
        }
    }
}
