/// The values that `page.mustache` and `results.mustache` show.
///
/// Mustache looks a name up in the innermost value first, and then in those around it: hence optional properties have
/// names that no enclosing value has.
struct PageModel {
    struct Figure {
        var key, term, value: String
    }

    struct SectionOption {
        var section, caption: String
        var isChosen: Bool
    }

    struct Row {
        var rowKey, name, version, href: String
        var isOpen: Bool
        var segments, excerpt: [TextSegment]
        var hasExcerpt: Bool
        var rowSection, rowSize: String?
    }

    var title: String
    var query: String
    var maximumQueryLength: Int
    var sections: [SectionOption]
    var figures: [Figure]
    var jsonHref: String?

    // The results
    var heading: String
    var problem, firstHref: String?
    var isEmpty: Bool
    var importCommand = "curl --data-binary @/var/lib/dpkg/status \(importAddress)"
    var noMatch, everywhereHref: String?
    var hasRows: Bool
    var firstNumber: Int
    var rows: [Row]
    var hasPages: Bool
    var pageNumber, pageCount: Int
    var previousHref, nextHref: String?

    // Beside the results
    var hasPackage: Bool
    var besideLabel: String
    var details: PackageModel?
    var unknown: String?
    var closeHref: String
    var overview: OverviewModel?

    private static let importAddress = "'http://127.0.0.1:8080/imports?source=status'"

    init(_ content: PageContent) {
        let request = content.request
        let address = PageAddress(request)
        let packages = content.packages
        query = request.query ?? ""
        maximumQueryLength = content.maximumQueryLength
        sections = Self.options(content.statistics, chosen: request.section)
        figures = content.statistics.map(Self.figures) ?? []
        jsonHref = packages == nil ? nil : address.jsonPath

        isEmpty = content.statistics?.packageCount == 0 && content.problem == nil
        problem = content.problem
        firstHref = content.problem != nil && request.page > 1 ? address.with(page: 1).path : nil
        let isUnmatched = packages?.matchCount == 0 && !isEmpty && content.problem == nil
        noMatch = isUnmatched ? Self.complaint(request) : nil
        everywhereHref =
            isUnmatched && request.section != nil && request.query != nil
            ? address.with(section: nil).path : nil
        rows = (packages?.packages ?? []).map { Row($0, address: address) }
        hasRows = !rows.isEmpty
        pageNumber = packages?.page ?? request.page
        pageCount = packages?.pageCount ?? 1
        firstNumber = 1 + (pageNumber - 1) * content.rowsPerPage
        hasPages = hasRows && pageCount > 1
        previousHref = hasPages && pageNumber > 1 ? address.with(page: pageNumber - 1).path : nil
        nextHref = hasPages && pageNumber < pageCount ? address.with(page: pageNumber + 1).path : nil
        heading =
            content.problem != nil || isEmpty ? "Packages" : Self.heading(request, count: packages?.matchCount ?? 0)

        closeHref = address.with(package: nil).path
        details = content.details.map { PackageModel($0, address: address) }
        unknown = request.package.flatMap { name in
            content.details == nil && content.problem == nil ? "No package is named “\(name)”." : nil
        }
        hasPackage = details != nil || unknown != nil
        if !hasPackage, !isEmpty, let statistics = content.statistics {
            overview = OverviewModel(statistics, address: address)
        }
        besideLabel = hasPackage ? "Package" : "Overview"
        title =
            content.details.map { "\($0.name) · Package catalogue" }
            ?? request.query.map { "“\($0)” · Package catalogue" } ?? "Package catalogue"
    }

    private static func options(_ statistics: CatalogStatistics?, chosen: String?) -> [SectionOption] {
        var options = (statistics?.sections ?? []).compactMap { section in
            section.section.map { name in
                SectionOption(
                    section: name, caption: "\(name) (\(PageQuantities.count(section.packageCount)))",
                    isChosen: name == chosen)
            }
        }
        options.sort { $0.section < $1.section }
        // A section without packages stays chosen, so that the form searches it again.
        if let chosen, !options.contains(where: \.isChosen) {
            options.insert(SectionOption(section: chosen, caption: "\(chosen) (0)", isChosen: true), at: 0)
        }
        return options
    }

    private static func figures(_ statistics: CatalogStatistics) -> [Figure] {
        [
            Figure(key: "packages", term: "packages", value: PageQuantities.count(statistics.packageCount)),
            Figure(key: "dependencies", term: "dependencies", value: PageQuantities.count(statistics.dependencyCount)),
            Figure(key: "size", term: "installed", value: PageQuantities.bytes(statistics.installedSize)),
        ]
    }

    private static func heading(_ request: PageRequest, count: Int) -> String {
        let packages = PageQuantities.count(count, "package", "packages")
        return switch (request.query, request.section) {
        case (let query?, let section?): "\(packages) in \(section) for “\(query)”"
        case (let query?, nil): "\(packages) for “\(query)”"
        case (nil, let section?): "\(packages) in \(section)"
        case (nil, nil): packages
        }
    }

    private static func complaint(_ request: PageRequest) -> String {
        switch (request.query, request.section) {
        case (let query?, let section?): "No package in \(section) matches “\(query)”."
        case (let query?, nil): "No package matches “\(query)”."
        case (nil, let section): "No package is in the section \(section ?? "")."
        }
    }
}

extension PageModel.Row {
    init(_ package: PackagePage.Package, address: PageAddress) {
        self.init(
            rowKey: "\(package.name) \(package.version) \(package.architecture)", name: package.name,
            version: package.version, href: address.with(package: package.name).path,
            isOpen: address.package == package.name, segments: package.summary, excerpt: package.excerpt ?? [],
            hasExcerpt: package.excerpt?.isEmpty == false, rowSection: package.section,
            rowSize: package.installedSize.map(PageQuantities.bytes))
    }
}

extension PageAddress {
    init(_ request: PageRequest) {
        self.init(query: request.query, section: request.section, page: request.page, package: request.package)
    }
}
