import Foundation

/// Folds texts with the same meaning into one text: NFKC, ignoring case.
enum CompatibilityFolding {
    /// The text in lower case, with full-width, half-width, composed and other variants of characters replaced by plain
    /// ones (NFKC), and without invisible characters.
    ///
    /// - parameter removesDiacritics: whether Latin letters lose their accents.
    static func fold(_ text: String, removesDiacritics: Bool) -> String {
        // Upper case first: `ß` and `ss`, and `ς` and `σ`, have the same capitals.
        let letters = text.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
        var scalars = String.UnicodeScalarView()
        var isLatin = false
        for scalar in letters.decomposedStringWithCompatibilityMapping.unicodeScalars {
            if scalar.properties.isDefaultIgnorableCodePoint { continue }
            if 0x0300...0x036F ~= scalar.value {
                if removesDiacritics, isLatin { continue }
            } else {
                isLatin = scalar.value < 0x0250
            }
            scalars.append(scalar)
        }
        return String(scalars).precomposedStringWithCompatibilityMapping
    }
}
