internal import NIOCore
internal import PackageCatalog

/// An event of the answer of `POST /imports`.
enum ImportAnswer: Sendable, Equatable {
    case progress(Progress)
    case done(Done)
    case failed(Failure)

    struct Progress: Codable, Sendable, Equatable {
        var packageCount: Int
        var byteCount: Int
        /// Absent if the client hasn't told it.
        var totalByteCount: Int?
    }

    struct Done: Codable, Sendable, Equatable {
        var packageCount, newCount, updatedCount, removedCount: Int
        var skippedCount: Int
        /// The first malformed stanzas.
        var skipped: [Skipped]
    }

    struct Skipped: Codable, Sendable, Equatable {
        var line: Int
        var reason: String
    }

    struct Failure: Codable, Sendable, Equatable {
        var reason: String
    }

    func buffer() throws -> ByteBuffer {
        switch self {
        case .progress(let progress): try ServerSentEvent.buffer("progress", progress)
        case .done(let done): try ServerSentEvent.buffer("done", done)
        case .failed(let failure): try ServerSentEvent.buffer("failed", failure)
        }
    }
}

extension ImportAnswer.Progress {
    init(_ progress: ImportProgress) {
        self.init(
            packageCount: progress.packages, byteCount: progress.bytesRead, totalByteCount: progress.byteCount)
    }
}

extension ImportAnswer.Done {
    init(_ progress: ImportProgress, skipped: [ImportAnswer.Skipped]) {
        self.init(
            packageCount: progress.packages, newCount: progress.added, updatedCount: progress.updated,
            removedCount: progress.removed, skippedCount: progress.skipped, skipped: skipped)
    }
}
