import Mustache

/// The templates of the page, which are part of the program.
struct PageTemplates: Sendable {
    static let shared = PageTemplates()

    private let library: MustacheLibrary

    /// - precondition: the templates are well formed, which a test checks by rendering all of them.
    private init() {
        MustacheContentTypes.register(PageEscaping(), named: PageEscaping.name)
        var library = MustacheLibrary()
        for (name, bytes) in [
            ("page", PackageResources.page_mustache), ("results", PackageResources.results_mustache),
            ("package", PackageResources.package_mustache), ("branch", PackageResources.branch_mustache),
            ("unknown", PackageResources.unknown_mustache), ("overview", PackageResources.overview_mustache),
        ] {
            // A partial doesn't inherit the content type of the template that includes it.
            let text = "{{% CONTENT_TYPE: \(PageEscaping.name)}}" + String(decoding: bytes, as: UTF8.self)
            do {
                try library.register(text, named: name)
            } catch {
                preconditionFailure("the template \(name) is malformed: \(error)")
            }
        }
        self.library = library
    }

    func render(_ page: PageModel) -> String {
        library.render(page, withTemplate: "page") ?? ""
    }
}
