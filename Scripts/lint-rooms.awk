# Reads paths of Swift files and prints `file:line: rooms: text` for the first file of each folder of a target that
# Documentation/Architecture.md has no row for, and for each row without a folder.
#
# A table of folders begins with the line "| folder of `QuarryCore` | contains |"; a row is "| `Rows` | … |".

BEGIN {
    tables = "Documentation/Architecture.md"
    while ((getline line < tables) > 0) {
        lineNumber++
        if (match(line, /^\| folder of `[^`]+` \|/)) {
            split(line, parts, "`")
            target = parts[2]
            hasTable[target] = 1
        } else if (line !~ /^\|/) {
            target = ""
        } else if (target != "" && match(line, /^\| `[^`]+` \|/)) {
            split(line, parts, "`")
            rowLine[target, parts[2]] = lineNumber
        }
    }
    close(tables)
}

split($0, path, "/") > 3 && path[1] == "Sources" && hasTable[path[2]] && !seen[path[2], path[3]]++ {
    if (!((path[2], path[3]) in rowLine)) {
        print $0 ":1: rooms: the folder " path[3] " of " path[2] " has no row in " tables
    }
}

END {
    for (row in rowLine) {
        split(row, names, SUBSEP)
        if (!(row in seen) && names[2] !~ /\.docc$/) {
            print "Sources/" names[1] "/" names[2] ":1: rooms: no such folder: " tables " has it in line " rowLine[row]
        }
    }
}
