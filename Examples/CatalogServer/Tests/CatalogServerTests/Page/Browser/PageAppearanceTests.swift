import Foundation
import Testing

/// How the page looks, in headless Chromium.
@Suite(.serialized, .enabled(if: Browser.isInstalled, Browser.missing))
struct PageAppearanceTests {
    /// The texts whose contrast with the ground behind them is below 4.5, as Chromium computes their colours.
    private static let paleTexts = """
        (() => {
            const parse = (color) => color.match(/[\\d.]+/g).map(Number);
            const linear = (value) => value <= 10.31475 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
            const luminance = ([red, green, blue]) =>
                0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
            const ground = (element) => {
                for (let place = element; place; place = place.parentElement) {
                    const tile = place.closest("a.tile");
                    if (tile) return parse(getComputedStyle(tile.querySelector("rect")).fill);
                    const color = parse(getComputedStyle(place).backgroundColor);
                    if (color.length < 4 || color[3] === 1) return color;
                }
                return [255, 255, 255];
            };
            const pale = [];
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const element = texts.currentNode.parentElement;
                if (!texts.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
                if (element.closest(".unseen, title")) continue;
                const style = getComputedStyle(element);
                const text = luminance(parse(element.closest("a.tile") ? style.fill : style.color));
                const behind = luminance(ground(element));
                const contrast = (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
                if (contrast < 4.5) pale.push(`${contrast.toFixed(2)}: ${texts.currentNode.data.trim()}`);
            }
            return pale;
        })()
        """

    @Test(arguments: ["light", "dark"])
    func allTextsCanBeRead(scheme: String) async throws {
        try await PageServer.browse { browser, _ in
            try await browser.emulate("prefers-color-scheme", scheme)
            for path in ["/", "/?q=editor&package=nano", "/?q=xyzzy", "/?section=games&page=2"] {
                try await browser.open(path)
                #expect(try await browser.value(Self.paleTexts, as: [String].self) == [], "\(scheme) \(path)")
            }
            let ground: String = try await browser.value("getComputedStyle(document.body).backgroundColor")
            #expect(ground == (scheme == "dark" ? "rgb(23, 21, 18)" : "rgb(246, 243, 236)"))
        }
    }

    @Test func narrowScreensHaveOneColumn() async throws {
        try await PageServer.browse { browser, _ in
            try await browser.resize(width: 360, height: 740, isMobile: true)
            for path in ["/", "/?q=editor&package=nano", "/?q=xyzzy&section=games"] {
                try await browser.open(path)
                #expect(try await browser.value("document.documentElement.scrollWidth") == 360, "\(path)")
            }
            try await browser.open("/?q=editor")
            try await browser.click("#rows a")
            try await browser.wait(until: "document.activeElement.id === 'package-name'")
            let isAbove: Bool = try await browser.value(
                "document.querySelector('#package').getBoundingClientRect().bottom <= "
                    + "document.querySelector('#results').getBoundingClientRect().top")
            #expect(isAbove)
        }
    }

    @Test func motionIsReducedOnDemand() async throws {
        try await PageServer.browse { browser, _ in
            try await browser.open("/")
            let duration = "getComputedStyle(document.querySelector('.tile rect')).transitionDuration"
            #expect(try await browser.value("\(duration).startsWith('0.4s')"))
            try await browser.emulate("prefers-reduced-motion", "reduce")
            #expect(try await browser.value("\(duration) === '0s'"))
        }
    }

    /// Pictures of this machine's packages, in the folder that `CATALOG_PAGE_FIGURES` names. The texts have the page's
    /// first font if it is installed: Debian's `fonts-inter`.
    @Test(.enabled(if: PageAppearanceTests.figures != nil, "CATALOG_PAGE_FIGURES names no folder"))
    func drawsFigures() async throws {
        let folder = try #require(PageAppearanceTests.figures)
        let list = try String(contentsOfFile: "/var/lib/dpkg/status", encoding: .utf8)
        try await PageServer.browse(list) { browser, _ in
            let live = "document.querySelector('#connection').dataset.state === 'live'"
            for (name, scheme, path, width, height) in [
                ("catalog-light", "light", "/?q=database&package=sqlite3", 1180, 760),
                ("catalog-dark", "dark", "/", 1180, 760),
                ("catalog-narrow", "light", "/?q=library%20data&section=libs", 390, 760),
            ] {
                try await browser.resize(width: width, height: height, isMobile: width < 500)
                try await browser.emulate("prefers-color-scheme", scheme)
                try await browser.open(path)
                try await browser.wait(until: live)
                try await browser.screenshot().write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
            }
        }
    }

    private static let figures = ProcessInfo.processInfo.environment["CATALOG_PAGE_FIGURES"].flatMap { folder in
        folder.isEmpty ? nil : folder
    }
}
