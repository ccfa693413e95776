#if !(CodeGeneration || AllButTLS)
import Foundation

/// The command when its trait isn't enabled: the library builds without swift-argument-parser.
@main
struct CodegenCommand {
    static func main() {
        let message = """
            quarry-codegen: built without its trait: add traits: ["CodeGeneration"] to the dependency on Quarry; in \
            Quarry's own folder, swift run --traits CodeGeneration quarry-codegen

            """
        FileHandle.standardError.write(Data(message.utf8))
        exit(69)
    }
}
#endif
