# Splits the lines of Swift files into code and comment, for lint-layers.awk and lint-folders.awk.
#
# A rule about code sees neither comments nor the text of string literals (it does see the code of interpolations).
# Strings, raw strings, multi-line strings, interpolations and nested block comments are followed across lines.

# To be called at the first line of each file.
function begin_lines() {
    depth = 0
    mode[0] = "code"
}

# Splits a line into the globals `code` and `comment`. The stack (`mode`, `hashes`, `isMultiline`, `parentheses`) says
# what the line starts in: "code", "string" or "comment".
function split_line(line,    rest, start, hashCount, delimiter) {
    code = ""
    comment = ""
    rest = line
    while (rest != "") {
        if (mode[depth] == "comment") {
            if (!match(rest, /\/\*|\*\//)) {
                comment = comment rest
                break
            }
            comment = comment substr(rest, 1, RSTART + 1)
            if (substr(rest, RSTART, 2) == "/*") {
                mode[++depth] = "comment"
            } else {
                depth--
            }
            rest = substr(rest, RSTART + 2)
        } else if (mode[depth] == "string") {
            delimiter = isMultiline[depth] ? "\"\"\"" : "\""
            if (!match(rest, /["\\]/)) {
                break
            }
            start = RSTART
            rest = substr(rest, start)
            if (substr(rest, 1, length(delimiter) + hashes[depth]) == delimiter hash_run(hashes[depth])) {
                rest = substr(rest, length(delimiter) + hashes[depth] + 1)
                code = code "\""
                depth--
            } else if (substr(rest, 1, 1 + hashes[depth]) == "\\" hash_run(hashes[depth])) {
                rest = substr(rest, 2 + hashes[depth])
                if (substr(rest, 1, 1) == "(") {
                    mode[++depth] = "code"
                    parentheses[depth] = 0
                }
                rest = substr(rest, 2)
            } else {
                rest = substr(rest, 2)
            }
        } else {
            if (!match(rest, /["#()]|\/\/|\/\*/)) {
                code = code rest
                break
            }
            code = code substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART)
            if (substr(rest, 1, 2) == "//") {
                comment = comment rest
                break
            } else if (substr(rest, 1, 2) == "/*") {
                comment = comment "/*"
                mode[++depth] = "comment"
                rest = substr(rest, 3)
            } else if (match(rest, /^#*"/)) {
                hashCount = RLENGTH - 1
                rest = substr(rest, hashCount + 1)
                code = code "\""
                mode[++depth] = "string"
                hashes[depth] = hashCount
                isMultiline[depth] = substr(rest, 1, 3) == "\"\"\""
                rest = substr(rest, isMultiline[depth] ? 4 : 2)
            } else {
                if (depth > 0 && substr(rest, 1, 1) == "(") parentheses[depth]++
                if (depth > 0 && substr(rest, 1, 1) == ")" && parentheses[depth]-- == 0) {
                    depth--
                } else {
                    code = code substr(rest, 1, 1)
                }
                rest = substr(rest, 2)
            }
        }
    }
    # A literal of one line ends with it.
    if (mode[depth] == "string" && !isMultiline[depth]) depth--
}

function hash_run(count,    text) {
    text = ""
    while (count-- > 0) text = text "#"
    return text
}
