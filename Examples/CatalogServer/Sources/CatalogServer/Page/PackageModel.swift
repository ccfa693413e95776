/// The values that `package.mustache` and `branch.mustache` show: one package, and the packages that it needs.
struct PackageModel {
    struct Fact {
        var fact, content: String
        var factHref: String?
        var isExternal = false
    }

    struct Block {
        var paragraph: String?
        var items: [String]
        var hasItems: Bool
    }

    /// A package of the tree, with the packages that it needs.
    struct Branch {
        var branchKey, branchName: String
        /// Nil if the catalogue has no package of this name.
        var branchHref: String?
        var children: [Branch]
        var hasChildren: Bool
        var childrenCaption: String
    }

    var packageName: String
    var packageSummary: String?
    var facts: [Fact]
    var blocks: [Block]
    var hasDescription: Bool
    var treeNote: String
    var branches: [Branch]
    var hasBranches: Bool

    init(_ details: PackageDetails, address: PageAddress) {
        packageName = details.name
        packageSummary = details.summary.isEmpty ? nil : details.summary
        facts = Self.facts(details)
        blocks = DescriptionBlock.blocks(of: details.description).map { block in
            Block(paragraph: block.paragraph, items: block.items, hasItems: block.hasItems)
        }
        hasDescription = !blocks.isEmpty
        branches = Self.branches(details.dependencies, of: details.name, address: address)
        hasBranches = !branches.isEmpty
        treeNote = Self.note(details)
    }

    private static func facts(_ details: PackageDetails) -> [Fact] {
        var facts: [Fact] = []
        func add(_ fact: String, _ content: String?, href: String? = nil, isExternal: Bool = false) {
            guard let content, !content.isEmpty else { return }
            facts.append(Fact(fact: fact, content: content, factHref: href, isExternal: isExternal))
        }
        add("Version", details.version)
        add("Architecture", details.architecture)
        add("Section", details.section, href: details.section.map { PageAddress(section: $0).path })
        add("Installed size", details.installedSize.map(PageQuantities.bytes))
        add("State", details.state)
        add("Needed by", PageQuantities.count(details.dependentCount, "package", "packages"))
        add("Maintainer", details.maintainer?.split(separator: "<").first.map(String.init))
        add(
            "Homepage", details.homepage.map(displayed), href: details.homepage.flatMap(webAddress), isExternal: true)
        let others = details.otherVersions.joined(separator: ", ")
        add("Other versions", details.hasMoreVersions ? others + " and more" : others)
        return facts
    }

    /// A homepage that is a link to the web. Another scheme, such as `javascript:`, is shown as text.
    private static func webAddress(_ homepage: String) -> String? {
        let text = homepage.lowercased()
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return nil }
        return homepage.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F } ? homepage : nil
    }

    /// An address without its scheme, and without the slash at its end.
    private static func displayed(_ homepage: String) -> String {
        guard let address = webAddress(homepage), let separator = address.firstRange(of: "://") else { return homepage }
        let text = address[separator.upperBound...]
        return String(text.hasSuffix("/") ? text.dropLast() : text)
    }

    /// The branches of a tree that is listed depth by depth. Each name occurs once, so that the recursion ends.
    private static func branches(
        _ dependencies: [PackageDetails.Dependency], of root: String, address: PageAddress
    ) -> [Branch] {
        let byParent = Dictionary(grouping: dependencies) { Place(parent: $0.neededBy, depth: $0.depth) }
        func branches(of parent: String, depth: Int) -> [Branch] {
            (byParent[Place(parent: parent, depth: depth)] ?? []).map { dependency in
                let children = branches(of: dependency.name, depth: depth + 1)
                let count = children.count
                return Branch(
                    branchKey: dependency.name, branchName: dependency.name,
                    branchHref: dependency.isKnown ? address.with(package: dependency.name).path : nil,
                    children: children, hasChildren: count > 0,
                    childrenCaption: "\(PageQuantities.count(count)) more")
            }
        }
        return branches(of: root, depth: 1)
    }

    private struct Place: Hashable {
        var parent: String
        var depth: Int
    }

    private static func note(_ details: PackageDetails) -> String {
        guard let depth = details.dependencies.map(\.depth).max() else { return "It needs no other package." }
        let packages = PageQuantities.count(details.dependencies.count, "package", "packages")
        let levels = PageQuantities.count(depth, "level", "levels")
        return details.hasMoreDependencies
            ? "The first \(packages) of those that it needs, in \(levels)."
            : "\(packages) in \(levels), each at its first occurrence."
    }
}
