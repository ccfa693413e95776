# Reads Markdown, and the comments of Swift files, and prints `file:line: prose: text` for each banned opening of a
# sentence and each banned word: Documentation/StyleGuide.md lists them. POSIX awk only, in the C locale.
#
# Lines are joined to paragraphs, list items, headings and table cells first, because a sentence may span lines. Code,
# text in double quotes and the targets of links are skipped.

function report(number, text) {
    print file ":" number ": prose: " text
}

# Adds a line of prose to the current paragraph.
function add(text) {
    if (paragraph == "") {
        firstLine = FNR
        offsets = 0
    }
    starts[++offsets] = length(paragraph) + 1
    lines[offsets] = FNR
    paragraph = paragraph text " "
}

# The line of a position of the paragraph.
function line_at(position,    i) {
    for (i = offsets; i > 1 && starts[i] > position; i--) {}
    return lines[i]
}

# Replaces each match of a pattern by `filler` and spaces, so that positions stay.
function blank(text, pattern,    result) {
    result = ""
    while (match(text, pattern)) {
        result = result substr(text, 1, RSTART - 1) filler sprintf("%" (RLENGTH - 1) "s", "")
        text = substr(text, RSTART + RLENGTH)
    }
    return result text
}

# Checks the paragraph, and begins a new one.
function finish(    text, rest, at, sentence, size, ending) {
    if (paragraph == "") return
    text = paragraph
    paragraph = ""
    # Code and quotations count as one word, and never open a sentence with a banned one.
    filler = "x"
    text = blank(text, "``[^`]*``")
    text = blank(text, "`[^`]*`")
    text = blank(text, "\"[^\"]*\"")
    filler = " "
    text = blank(text, "\\]\\([^)]*\\)")
    text = blank(text, "<[a-z!/][^>]*>")
    gsub(/[*\[\]]/, " ", text)
    check_words(text)
    at = 1
    while (at <= length(text)) {
        rest = substr(text, at)
        match(rest, /^[ (]*/)
        at += RLENGTH
        rest = substr(text, at)
        # A sentence ends with the text, or with a mark before a space.
        if (match(rest, /[.!?][)]* /)) size = RSTART + RLENGTH - 1
        else size = length(rest)
        sentence = substr(rest, 1, size)
        ending = sentence
        sub(/[ )]*$/, "", ending)
        if (sentence ~ /^(What|Who|Those)[^A-Za-z]/ && ending !~ /\?$/ || sentence ~ /^One (that|who|which)[^A-Za-z]/) {
            match(sentence, /^(One )?[A-Za-z]+/)
            report(line_at(at), "no sentence opens with \"" substr(sentence, 1, RLENGTH) "\": name the subject")
        }
        at += size
        if (size == 0) break
    }
}

function check_words(text,    i, padded, position, found) {
    padded = " " text
    gsub(/[\n\t]/, " ", padded)
    for (i = 1; i <= bannedCount; i++) {
        position = 1
        while (match(substr(padded, position), "[^A-Za-z-]" banned[i] "[^A-Za-z-]")) {
            found = substr(padded, position + RSTART, RLENGTH - 2)
            report(line_at(position + RSTART - 1), "\"" found "\": " instead[i])
            position += RSTART + RLENGTH - 2
        }
    }
}

function ban(pattern, advice) {
    banned[++bannedCount] = pattern
    instead[bannedCount] = advice
}

BEGIN {
    ban("[Ss]omebody", "name the subject")
    ban("[Bb]esides", "also, prefetched, in addition")
    ban("([Ii]s|[Aa]re|[Ww]as|[Ww]ere|be|been) over", "has ended, exceeds")
    ban("(is|are|was|were|isn't|aren't|wasn't|weren't) there", "exists, existing, present")
    ban("(stands?|stood)", "is, applies, appears")
    ban("(lies|lay)", "is")
}

FNR == 1 {
    finish()
    file = FILENAME
    inFence = 0
    isSwift = FILENAME ~ /\.swift$/
}

{
    text = $0
    if (isSwift) {
        if (text !~ /^[ \t]*\/\//) {
            finish()
            inFence = 0
            next
        }
        sub(/^[ \t]*\/\/+[ \t]?/, "", text)
    }
    if (text ~ /^[ \t]*```/) {
        finish()
        inFence = !inFence
        next
    }
    if (inFence) next
    if (text ~ /^[ \t]*$/) {
        finish()
    } else if (text ~ /^[ \t]*\|/) {
        # Each cell of a table is a paragraph.
        finish()
        count = split(text, cells, "|")
        for (i = 1; i <= count; i++) {
            add(cells[i])
            finish()
        }
    } else if (text ~ /^#+ /) {
        finish()
        sub(/^#+ /, "", text)
        add(text)
        finish()
    } else if (match(text, /^[ \t]*([*+-]|[0-9]+\.) /)) {
        finish()
        add(substr(text, RLENGTH + 1))
    } else {
        add(text)
    }
}

END { finish() }
