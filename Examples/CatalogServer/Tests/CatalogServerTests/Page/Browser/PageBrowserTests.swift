import Foundation
import PackageCatalog
import Testing

/// The page in headless Chromium.
@Suite(.serialized, .enabled(if: Browser.isInstalled, Browser.missing))
struct PageBrowserTests {
    private let heading = "document.querySelector('#results-heading').textContent"
    private let focus = "document.activeElement"

    @Test func searchesAsOneTypes() async throws {
        try await PageServer.browse { browser, _ in
            try await browser.open("/")
            #expect(try await browser.text("#results-heading") == "45 packages")
            try await browser.click("#q")
            try await browser.type("edit")
            try await browser.wait(until: "\(heading) === '2 packages for “edit”'")
            #expect(try await browser.value("location.search") == "?q=edit")
            #expect(try await browser.value("\(focus).id") == "q")
            #expect(try await browser.value("document.querySelector('#rows mark').textContent") == "editor")
            #expect(try await browser.value("document.title") == "“edit” · Package catalogue")
            #expect(try await browser.text("#announcer") == "2 packages for “edit”")

            try await browser.type("or fri")
            try await browser.wait(until: "\(heading) === '1 package for “editor fri”'")
            #expect(try await browser.text("#rows .row-name") == "nano")
            try await browser.type("x")
            try await browser.wait(until: "document.querySelector('#no-match')")
            #expect(try await browser.text("#no-match .state-title") == "No package matches “editor frix”.")

            // The words that were typed are one step of the history.
            try await browser.back()
            try await browser.wait(until: "\(heading) === '45 packages'")
            #expect(try await browser.value("document.querySelector('#q').value") == "")
            #expect(try await browser.value("location.search") == "")
        }
    }

    @Test func keysReachEverything() async throws {
        try await PageServer.browse { browser, _ in
            try await browser.open("/?q=editor")
            try await browser.press(.slash)
            try await browser.wait(until: "\(focus).id === 'q'")
            try await browser.press(.down)
            try await browser.wait(until: "\(focus).matches('#rows li:nth-child(1) a')")
            try await browser.press(.down)
            try await browser.wait(until: "\(focus).matches('#rows li:nth-child(2) a')")
            let outline: String = try await browser.value("getComputedStyle(\(focus)).outlineStyle")
            #expect(outline == "solid")
            let name: String = try await browser.value("\(focus).querySelector('.row-name').textContent")

            try await browser.press(.enter)
            try await browser.wait(until: "document.querySelector('#package-name')?.textContent === \(name.json)")
            #expect(try await browser.value("\(focus).getAttribute('aria-current')") == "true")
            #expect(try await browser.value("location.search") == "?q=editor&package=\(name)")

            try await browser.press(.escape)
            try await browser.wait(until: "!document.querySelector('#package') && \(focus).matches('#rows a')")
            #expect(try await browser.value("\(focus).querySelector('.row-name').textContent") == name)
            try await browser.press(.up)
            try await browser.press(.up)
            try await browser.wait(until: "\(focus).id === 'q'")
            try await browser.press(.escape)
            try await browser.wait(until: "\(heading) === '45 packages'")
        }
    }

    @Test func filtersBySectionAndTurnsPages() async throws {
        try await PageServer.browse { browser, _ in
            try await browser.open("/")
            try await browser.click("#section option[value=games]")
            try await browser.wait(until: "\(heading) === '40 packages in games'")
            #expect(try await browser.value("location.search") == "?section=games")
            try await browser.click(".pages a[rel=next]")
            try await browser.wait(until: "document.querySelector('.place').textContent === 'Page 2 of 2'")
            #expect(try await browser.value("document.querySelector('.pages a[rel=next]') === null"))
            try await browser.back()
            try await browser.wait(until: "document.querySelector('.place').textContent === 'Page 1 of 2'")
            try await browser.open("/")
            try await browser.click(".tile[data-key=editors]")
            try await browser.wait(until: "\(heading) === '2 packages in editors'")
            #expect(try await browser.value("document.querySelector('#section').value") == "editors")
        }
    }

    @Test func anOpenPackageKeepsItsBranches() async throws {
        try await PageServer.browse { browser, server in
            try await browser.open("/?q=nano")
            try await browser.click("#rows a")
            try await browser.wait(until: "document.querySelector('#package-name')?.textContent === 'nano'")
            try await browser.click(".tree [data-key=libncurses6] summary")
            try await browser.wait(until: "document.querySelector('.tree details').open")
            #expect(try await browser.text(".tree details ul li a") == "libtinfo6")
            // A commit fetches the page again.
            let list = PageList(
                name: "other", text: PageList.stanza("joe", "user friendly editor", section: "editors", needs: "nano"))
            _ = try await Importer(catalog: server.catalog).run([list]) { _ in }
            try await browser.wait(
                until: "[...document.querySelectorAll('.facts dd')].some((fact) => fact.textContent === '1 package')")
            #expect(try await browser.value("document.querySelector('.tree details').open"))
            try await browser.click(".tree details ul li a")
            try await browser.wait(until: "document.querySelector('#package-name')?.textContent === 'libtinfo6'")
        }
    }

    @Test func showsAnImportOfAnotherProcess() async throws {
        let curl = try #require(RunningProgram.path(of: "curl"))
        try await PageServer.browse { browser, server in
            try await browser.open("/?section=news")
            try await browser.wait(until: "document.querySelector('#connection').dataset.state === 'live'")
            let program = try RunningProgram(
                curl, ["-sS", "-X", "POST", "-T", "-", "\(server.address)/imports?source=late%20list"])
            // Packages are stored in batches of 500.
            try program.write(PageList.more(600, "late", section: "news"))
            try await browser.wait(
                until: "document.querySelector('.import-title').textContent === 'Importing late list'")
            try await browser.wait(
                until: "document.querySelector('.import-figures').textContent.startsWith('500 packages')")
            try await browser.wait(until: "document.querySelector('#figure-packages').textContent === '545'")
            try await browser.wait(until: "\(heading) === '500 packages in news'")
            try program.closeInput()
            try await browser.wait(
                until: "document.querySelector('.import-title').textContent === 'Imported late list'")
            try await browser.wait(until: "document.querySelector('#figure-packages').textContent === '645'")
            try await browser.wait(until: "\(heading) === '600 packages in news'")
            #expect(await program.status() == 0)
        }
    }

    /// The other process opens the file of the catalogue itself: nothing passes through this server.
    @Test func showsCommitsOfAnotherServer() async throws {
        try await PageServer.browse { browser, server in
            try await browser.open("/")
            try await browser.wait(until: "document.querySelector('#connection').dataset.state === 'live'")
            let list = try server.file("late", PageList.more(30, "late", section: "news"))
            let executable =
                URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/catalog-server"
            let program = try RunningProgram(
                executable, ["--database", server.database, "--port", "0", "--import", list])
            try await browser.wait(until: "document.querySelector('#figure-packages').textContent === '75'")
            try await browser.wait(until: "\(heading) === '75 packages'")
            try await browser.wait(until: "document.querySelector('.tile[data-key=news]')")
            program.terminate()
            #expect(await program.status() == 0)
        }
    }

    @Test func importsAFileOfThePerson() async throws {
        try await PageServer.browse(nil) { browser, server in
            try await browser.open("/")
            #expect(try await browser.text("#empty .state-title") == "The catalogue is empty.")
            try await browser.wait(until: "document.querySelector('#connection').dataset.state === 'live'")
            try await browser.send(try server.file("packages", PageList.sample), to: "#import-file")
            try await browser.wait(
                until: "document.querySelector('.import-title')?.textContent === 'Imported packages'")
            try await browser.wait(until: "\(heading) === '45 packages' && document.querySelector('#overview')")
            #expect(try await browser.text("#announcer").hasPrefix("Imported packages"))
        }
    }

    @Test func tellsWhyAFileIsRefused() async throws {
        try await PageServer.run(nil) { server in
            try await Browser.run(at: server.address) { browser in
                try await browser.open("/")
                try await browser.wait(until: "document.querySelector('#connection').dataset.state === 'live'")
                try await browser.send(try server.file("letter", "Dear reader,\n\nno list.\n"), to: "#import-file")
                try await browser.wait(until: "!document.querySelector('#notice').hidden")
                #expect(try await browser.text("#notice").contains("control file"))
                // Chromium notes the status of the answer itself.
                let messages = try await browser.consoleMessages()
                #expect(messages.allSatisfy { $0.contains("/imports") && $0.contains("400") })
            }
        }
    }

    @Test func hostileTextsStayTexts() async throws {
        let text = #""><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"#
        let list = PageList.stanza("hostile", text, section: "odd", description: text)
        try await PageServer.browse(list) { browser, _ in
            try await browser.open("/?package=hostile&q=hostile")
            #expect(try await browser.text("#package .lead") == text)
            #expect(try await browser.text("#package .prose") == text)
            try await browser.press(.slash)
            try await browser.type(text)
            try await browser.wait(until: "\(heading).includes('onerror')")
            #expect(try await browser.value("document.images.length") == 0)
            #expect(try await browser.value("window.hacked === undefined"))
        }
    }

    @Test func worksWithoutJavaScript() async throws {
        try await PageServer.browse { browser, _ in
            try await browser.driver.devTools("Emulation.setScriptExecutionDisabled", #"{"value": true}"#)
            try await browser.open("/")
            #expect(try await browser.value("document.documentElement.classList.contains('is-scripted')") == false)
            try await browser.send("editor", to: "#q")
            try await browser.click("#section option[value=editors]")
            try await browser.click(".search button")
            try await browser.wait(acrossPagesUntil: "location.search === '?q=editor&section=editors'")
            try await browser.wait(acrossPagesUntil: "\(heading) === '2 packages in editors for “editor”'")
            try await browser.click("#rows a")
            try await browser.wait(acrossPagesUntil: "new URLSearchParams(location.search).has('package')")
            try await browser.wait(
                acrossPagesUntil: "['nano', 'vim'].includes(document.querySelector('#package-name').textContent)")
            try await browser.click("#close")
            try await browser.wait(
                acrossPagesUntil: "!new URLSearchParams(location.search).has('package') && \(heading)")
            #expect(try await browser.value("document.querySelector('#package') === null"))
            try await browser.open("/?section=games")
            try await browser.click(".pages a[rel=next]")
            try await browser.wait(
                acrossPagesUntil: "document.querySelector('.place').textContent.trim() === 'Page 2 of 2'")
        }
    }
}
