// The page works without this script: every control is a link or a form. The script fetches the same page instead of
// loading it, and changes the elements that differ, so that focus, scrolling and open branches stay as they are.

const find = (selector, root = document) => root.querySelector(selector);
const form = find("#search");
const field = find("#q");
const section = find("#section");
const notice = find("#notice");
const announcer = find("#announcer");
const connection = find("#connection");
const imports = find("#imports");
const importButton = find("#import-button");
const importFile = find("#import-file");
const number = new Intl.NumberFormat("en");

const typingPause = 150;
const refreshPause = 1000;

document.documentElement.classList.add("is-scripted");
for (const id of ["import-form", "keys", "connection"]) find(`#${id}`).hidden = false;

// MARK: - Changing the page

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key ?? (node.id || undefined) : undefined);

const fits = (old, node) =>
    old.nodeType === node.nodeType && old.nodeName === node.nodeName && keyOf(old) === keyOf(node);

/** Makes a node equal to another one of the same kind and key, with as few changes as possible. */
function morph(old, node) {
    if (old.isEqualNode(node)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
        old.data = node.data;
        return;
    }
    const isDisclosure = old.nodeName === "DETAILS";
    for (const { name } of [...old.attributes]) {
        if (!node.hasAttribute(name) && !(isDisclosure && name === "open")) old.removeAttribute(name);
    }
    for (const { name, value } of node.attributes) {
        if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    morphChildren(old, node);
}

function morphChildren(old, node) {
    const keyed = new Map();
    for (const child of old.childNodes) {
        const key = keyOf(child);
        if (key !== undefined) keyed.set(key, child);
    }
    let next = old.firstChild;
    for (const child of [...node.childNodes]) {
        const key = keyOf(child);
        let match = key === undefined ? next : keyed.get(key);
        if (match && !fits(match, child)) match = undefined;
        if (!match) {
            old.insertBefore(child, next);
            continue;
        }
        if (match === next) next = next.nextSibling;
        else old.insertBefore(match, next);
        morph(match, child);
    }
    while (next) {
        const rest = next.nextSibling;
        next.remove();
        next = rest;
    }
}

/** Changes the parts of the page that the server renders. The form's text belongs to the person who types. */
function show(page) {
    const focused = document.activeElement;
    const chosen = find("option[selected]", page)?.value ?? "";
    for (const part of page.querySelectorAll("[data-live]")) morph(find(`#${part.id}`), part);
    document.title = page.title;
    if (document.activeElement !== section) section.value = chosen;
    if (document.activeElement !== field) field.value = find("#q", page).value;
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

/** Shows a sentence about the page or an import until the page has been fetched, or another one is opened. */
function complain(sentence, about = "page") {
    notice.dataset.about = about;
    notice.hidden = !sentence;
    if (notice.textContent !== sentence) notice.textContent = sentence;
}

// MARK: - Fetching the page

let fetching;
let retry;

/**
 * Shows the page of an address.
 *
 * A later call cancels an earlier one, whose answer is never shown. `history` is how the address enters the history:
 * "push", "replace" or "keep".
 */
async function visit(address, { history: entry = "push", quiet = false } = {}) {
    fetching?.abort();
    clearTimeout(retry);
    const mine = (fetching = new AbortController());
    if (entry === "push") history.pushState(null, "", address);
    if (entry === "replace") history.replaceState(null, "", address);
    if (!quiet) find("#results").setAttribute("aria-busy", "true");
    try {
        const answer = await fetch(address, { signal: mine.signal, headers: { Accept: "text/html" } });
        const text = await answer.text();
        if (answer.status === 503 || !answer.headers.get("Content-Type")?.startsWith("text/html")) {
            postpone(address, answer, sentenceOf(text, answer));
            return false;
        }
        show(new DOMParser().parseFromString(text, "text/html"));
        // A person who has read of a refused import goes on to another page; a live change is none of theirs.
        if (!quiet || notice.dataset.about === "page") complain("");
        if (!quiet) announce();
        return true;
    } catch (error) {
        if (error.name === "AbortError") return false;
        complain("The server can’t be reached. The page continues when it is back.");
        return false;
    } finally {
        if (fetching === mine) {
            fetching = undefined;
            find("#results").removeAttribute("aria-busy");
        }
    }
}

/** The server's sentence about a request that it refused: it comes as a page, or as JSON. */
function sentenceOf(text, answer) {
    if (answer.headers.get("Content-Type")?.startsWith("text/html")) {
        return find("#problem .state-title", new DOMParser().parseFromString(text, "text/html"))?.textContent ?? "";
    }
    try {
        return JSON.parse(text).error ?? "";
    } catch {
        return "";
    }
}

/** Tells of an answer without a page, and asks again if the server named a time. */
function postpone(address, answer, sentence) {
    const seconds = Number(answer.headers.get("Retry-After"));
    const again = seconds > 0 ? ` Trying again in ${seconds === 1 ? "a second" : `${seconds} seconds`}.` : "";
    complain((sentence || `The server answered with status ${answer.status}.`) + again);
    if (seconds > 0) retry = setTimeout(() => visit(address, { history: "keep" }), Math.min(seconds, 60) * 1000);
}

function announce() {
    const open = find("#package-name");
    const heading = find("#results-heading").textContent;
    announcer.textContent = open ? `${open.textContent} is open. ${heading}` : heading;
}

// MARK: - Search as you type

let typing;
/** While a word is typed, the addresses replace each other: Back returns to the page before. */
let isTyping = false;

function searchAddress() {
    const parameters = new URLSearchParams();
    const text = field.value.trim();
    if (text) parameters.set("q", text);
    if (section.value) parameters.set("section", section.value);
    const open = new URL(location).searchParams.get("package");
    if (open) parameters.set("package", open);
    return parameters.size ? `/?${parameters}` : "/";
}

function search(entry) {
    clearTimeout(typing);
    const address = searchAddress();
    if (address !== location.pathname + location.search) visit(address, { history: entry });
}

field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
        search(isTyping ? "replace" : "push");
        isTyping = true;
    }, typingPause);
});

field.addEventListener("change", () => (isTyping = false));
section.addEventListener("change", () => search("push"));
form.addEventListener("submit", (event) => {
    event.preventDefault();
    search(isTyping ? "replace" : "push");
    isTyping = false;
});

// MARK: - Links and history

const isNarrow = () => matchMedia("(max-width: 56rem)").matches;

/** Follows a link, which may be one of a chart. */
async function open(link, address = new URL(link.href)) {
    const isTurn = link.classList.contains("turn");
    const isClosing = link.id === "close";
    const name = new URL(location).searchParams.get("package");
    if (!(await visit(address.pathname + address.search))) return;
    if (isTurn) {
        scrollTo({ top: 0 });
        find("#results").focus({ preventScroll: true });
    } else if (isClosing) {
        focusRow(name);
    } else if (address.searchParams.has("package")) {
        find("#beside").scrollTop = 0;
        if (isNarrow() || !link.isConnected) find("#package-name")?.focus({ preventScroll: true });
        if (isNarrow()) find("#beside").scrollIntoView();
    }
}

function focusRow(name) {
    const row = name && find(`#rows > [data-key^="${CSS.escape(name)} "] > a`);
    (row || find("#results")).focus();
}

document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href]");
    if (!link) return;
    const address = new URL(link.getAttribute("href"), location);
    if (address.origin !== location.origin || address.pathname !== "/" || address.hash) return;
    event.preventDefault();
    open(link, address);
});

addEventListener("popstate", () => {
    isTyping = false;
    field.value = new URL(location).searchParams.get("q") ?? "";
    visit(location.pathname + location.search, { history: "keep" });
});

// MARK: - Keyboard

document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
    const target = event.target;
    const isEditing = target === field || target === section || target === importFile;
    if (event.key === "/" && !isEditing) {
        event.preventDefault();
        field.focus();
        field.select();
    } else if (event.key === "Escape") {
        escape(event, target);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && target !== section) {
        if (move(target, event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    }
});

/** Closes the open package; in the search field, removes its text first. */
function escape(event, target) {
    if (target === field && field.value) {
        event.preventDefault();
        field.value = "";
        search("push");
        return;
    }
    const close = find("#close");
    if (close) open(close);
}

/** Moves the focus between the search field and the rows. Elsewhere, the arrows scroll. */
function move(target, step) {
    const rows = [...document.querySelectorAll("#rows a")];
    const index = rows.indexOf(target);
    if (index < 0 && target !== field && target !== document.body) return false;
    if (index < 0 && (step < 0 || !rows.length)) return false;
    const next = index + step;
    if (next < 0) field.focus();
    else rows[Math.min(next, rows.length - 1)].focus();
    return true;
}

// MARK: - Live changes

let refreshing;
let refreshedAt = 0;

/** Fetches the page again, once a second at most. Requests of the person who uses the page go first. */
function refresh() {
    if (refreshing || document.hidden) return;
    refreshing = setTimeout(async () => {
        refreshing = undefined;
        if (fetching) return refresh();
        refreshedAt = performance.now();
        await visit(location.pathname + location.search, { history: "keep", quiet: true });
    }, Math.max(0, refreshedAt + refreshPause - performance.now()));
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });

function state(name, text) {
    connection.dataset.state = name;
    connection.textContent = text;
}

let lastStatistics;

/** Shows new counts at once, and fetches the rest of the page. The first event says what the page says already. */
function showStatistics(text) {
    if (text === lastStatistics) return;
    lastStatistics = text;
    const { packageCount, dependencyCount } = JSON.parse(text);
    let hasChanged = false;
    for (const [key, count] of [["packages", packageCount], ["dependencies", dependencyCount]]) {
        const figure = find(`#figure-${key}`);
        const shown = number.format(count);
        if (!figure || figure.textContent === shown) continue;
        figure.textContent = shown;
        hasChanged = true;
    }
    if (hasChanged) refresh();
}

function pulse() {
    connection.classList.remove("is-fresh");
    requestAnimationFrame(() => connection.classList.add("is-fresh"));
}

let waitBeforeListening = 1000;

function listen() {
    state("off", "Connecting");
    const events = new EventSource("/events");
    events.addEventListener("open", () => {
        state("live", "Live");
        forgetRunningImports();
        waitBeforeListening = 1000;
        if (!notice.hidden && notice.dataset.about === "page") visit(location.pathname + location.search, { history: "keep", quiet: true });
    });
    events.addEventListener("statistics", (event) => showStatistics(event.data));
    events.addEventListener("commit", () => { pulse(); refresh(); });
    events.addEventListener("import", (event) => showImport(JSON.parse(event.data)));
    events.addEventListener("error", () => {
        state("lost", "Reconnecting");
        if (events.readyState !== EventSource.CLOSED) return;
        // The browser doesn't try again after an answer with an error, such as a 503.
        setTimeout(listen, waitBeforeListening);
        waitBeforeListening = Math.min(waitBeforeListening * 2, 30_000);
    });
    addEventListener("pagehide", () => events.close(), { once: true });
}

// MARK: - Imports

const megabytes = (count) => `${number.format(Math.round(count / 100_000) / 10)} MB`;

function importEntry({ id, source }) {
    const list = find("ul", imports);
    const known = find(`li[data-key="import-${id}"]`, list);
    if (known) return known;
    const entry = document.createElement("li");
    entry.dataset.key = `import-${id}`;
    for (const [name, className] of [["span", "import-title"], ["span", "import-figures"], ["progress", "import-bar"]]) {
        const part = document.createElement(name);
        part.className = className;
        entry.append(part);
    }
    find(".import-title", entry).textContent = `Importing ${source}`;
    find(".import-bar", entry).setAttribute("aria-label", `Import of ${source}`);
    list.append(entry);
    imports.hidden = false;
    announcer.textContent = `Importing ${source}`;
    return entry;
}

/** Shows how far an import of any client is. */
function showImport(status) {
    const entry = importEntry(status);
    if (status.state !== "running") return finishImport(entry, status);
    const bar = find(".import-bar", entry);
    if (status.totalByteCount) {
        bar.max = status.totalByteCount;
        bar.value = status.byteCount;
    }
    const bytes = status.totalByteCount
        ? `${megabytes(status.byteCount)} of ${megabytes(status.totalByteCount)}` : megabytes(status.byteCount);
    find(".import-figures", entry).textContent = `${number.format(status.packageCount)} packages, ${bytes}`;
}

function finishImport(entry, { source, state: end, packageCount, reason }) {
    if ("finished" in entry.dataset) return;
    entry.dataset.finished = "";
    const hasFailed = end === "failed";
    entry.classList.toggle("has-failed", hasFailed);
    find(".import-bar", entry).remove();
    const title = hasFailed ? `The import of ${source} failed` : `Imported ${source}`;
    const figures = hasFailed ? reason ?? "" : `${number.format(packageCount)} packages`;
    find(".import-title", entry).textContent = title;
    find(".import-figures", entry).textContent = figures;
    announcer.textContent = `${title}: ${figures}`;
    setTimeout(() => removeImport(entry), hasFailed ? 20_000 : 8_000);
    refresh();
}

function removeImport(entry) {
    entry.remove();
    imports.hidden = !find("li", imports);
}

/** After a new connection, the server tells the imports that still run. */
function forgetRunningImports() {
    for (const entry of imports.querySelectorAll("li:not([data-finished])")) removeImport(entry);
}

importButton.addEventListener("click", () => importFile.click());
importFile.addEventListener("change", async () => {
    const [file] = importFile.files;
    if (!file) return;
    importFile.value = "";
    importButton.disabled = true;
    try {
        const answer = await fetch(`/imports?source=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
        const text = await answer.text();
        if (answer.ok) complain("");
        else complain(sentenceOf(text, answer) || `The server refused the import with status ${answer.status}.`, "import");
    } catch {
        complain(`The import of ${file.name} was interrupted.`, "import");
    } finally {
        importButton.disabled = false;
        importButton.focus();
    }
});

listen();
