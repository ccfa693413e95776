import Foundation

/// An authority, and a certificate that it signed, in files. They are for these tests alone, from 2020 to 2120.
final class TestCertificates {
    let certificate: String
    let key: String
    let authority: String
    private let folder: URL

    private init(certificate: String, key: String, authority: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "quarry-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        (self.certificate, self.key, self.authority) = (
            folder.appending(path: "node.pem").path, folder.appending(path: "node.key").path,
            folder.appending(path: "ca.pem").path
        )
        try certificate.write(toFile: self.certificate, atomically: true, encoding: .utf8)
        try key.write(toFile: self.key, atomically: true, encoding: .utf8)
        try authority.write(toFile: self.authority, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The cluster's.
    static func own() throws -> TestCertificates {
        try TestCertificates(certificate: ownCertificate, key: ownKey, authority: ownAuthority)
    }

    /// A stranger's, with an authority of the same name.
    static func other() throws -> TestCertificates {
        try TestCertificates(certificate: otherCertificate, key: otherKey, authority: otherAuthority)
    }

    private static let ownCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARqgAwIBAgIUXH+O4cS6WwB4UfWWGanJdjUowOAwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAPMQ0wCwYDVQQDDARub2RlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
        QgAE3V1h4tC7RI1LxWbKjZ1s88MaKyw0gTRvTRxR/xGjBQ3AXPWrXW+gAdSNqSuB
        AXPCv7hqaX5oLVVJ2Xn0cZZCVKNNMEswCQYDVR0TBAIwADAdBgNVHQ4EFgQUYoOX
        tLP8str6ZcjAiFU7sX9/nTkwHwYDVR0jBBgwFoAUE+WOavvxjhUb0Mi6lAJnf4w6
        P+UwCgYIKoZIzj0EAwIDSAAwRQIgOJcmqF2etXrprZG08Cz7DJCA2Q8BRF7su8kF
        CHuV1EACIQC8ue8mu1MetavtCx/ONpeftgnwPFI7J0qhhkRJNdzWAA==
        -----END CERTIFICATE-----
        """

    private static let ownKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgxUsl34rFV3PLaZql
        5HIBoSthorBrfO+xwDgT9tqpWzGhRANCAATdXWHi0LtEjUvFZsqNnWzzwxorLDSB
        NG9NHFH/EaMFDcBc9atdb6AB1I2pK4EBc8K/uGppfmgtVUnZefRxlkJU
        -----END PRIVATE KEY-----
        """

    private static let ownAuthority = """
        -----BEGIN CERTIFICATE-----
        MIIBXzCCAQSgAwIBAgIUWdVVUzdnzto+RSCA3cq0+AvKUIkwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQ1vWBi6sLXojafNN6CG0A2ZjK2bqe6ftp6U4BA5p1PhaBrJpgaGTq5
        HJBOvWBDwV8YjR5XkUmgxlBhnptrhgsbozIwMDAPBgNVHRMBAf8EBTADAQH/MB0G
        A1UdDgQWBBQT5Y5q+/GOFRvQyLqUAmd/jDo/5TAKBggqhkjOPQQDAgNJADBGAiEA
        zZ8ywhviNcSOfeQ4e5+JwoLTnM1Oa2KEd2wcTWwdTxkCIQDTyOO9cX0bqhkTkTfP
        4GeqIehe1UOKI3N3APHpFNTRAQ==
        -----END CERTIFICATE-----
        """

    private static let otherCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARqgAwIBAgIUEa4uleGSMmuzeESlTy1BVBBx7fYwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAPMQ0wCwYDVQQDDARub2RlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
        QgAEj4ZupzajemC5myskBFRC1j3GU3FQntDo/ZX5Zacpmm1QuMdf7yFSY7r47afE
        LV7aORW/BeQ58I8vQZt5MiXcY6NNMEswCQYDVR0TBAIwADAdBgNVHQ4EFgQUYBTq
        w0CTlVfifZkuYJLdIKTl5R0wHwYDVR0jBBgwFoAUaFffssHrKlIcf43HoJHmXWYo
        hPkwCgYIKoZIzj0EAwIDSAAwRQIhAJuZQ93fp+XTQwY1IPjk5KCnyDP3u2gESwPX
        ireQ1dujAiBS2BxzjIW5LsXCYjpYC81zlV2D6qPKD3yAX1ekTFPrGQ==
        -----END CERTIFICATE-----
        """

    private static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgw5uGnt2z6kCEGwc/
        FfBKq7aBmOL+0w1kcw696JRJ3OihRANCAASPhm6nNqN6YLmbKyQEVELWPcZTcVCe
        0Oj9lfllpymabVC4x1/vIVJjuvjtp8QtXto5Fb8F5Dnwjy9Bm3kyJdxj
        -----END PRIVATE KEY-----
        """

    private static let otherAuthority = """
        -----BEGIN CERTIFICATE-----
        MIIBXzCCAQSgAwIBAgIUbmIJZ8aHJOGyymNM6pm6b91wlZUwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQnUEQ2nkPdg/BGjf2Has5HcL4LO0wxISE8jenLAqyT63gLZjbA2dU8
        UDuphNGxZ4XwqCS3a1vp2M4K6YsgDHdYozIwMDAPBgNVHRMBAf8EBTADAQH/MB0G
        A1UdDgQWBBRoV9+ywesqUhx/jcegkeZdZiiE+TAKBggqhkjOPQQDAgNJADBGAiEA
        llCkG/avgsp+Mv9hSIW6/6ejMxbwWR6qdOu5YtGFscoCIQDTSAjtMp4oZ04v02oI
        jZSmFfX7sQdLmvVZvgWc9Fc03A==
        -----END CERTIFICATE-----
        """
}
