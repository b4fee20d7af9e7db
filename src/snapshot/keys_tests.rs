//! Keys as OpenSSL writes and reads them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::super::testing::{RFC8037_PEM, key};
use super::*;

#[test]
fn the_key_of_rfc_8037_has_the_key_id_of_rfc_8037() {
    assert_eq!(key().public().jwk_x(), "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    assert_eq!(key().public().kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    assert_eq!(key().public().base64(), "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
}

#[test]
fn a_key_is_written_for_openssl_and_never_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bureau.pem");
    let made = BureauKey::generate().unwrap();
    made.write_new(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert!(matches!(BureauKey::generate().unwrap().write_new(&path), Err(SnapshotError::KeyExists(_))));
    assert_eq!(BureauKey::from_file(&path).unwrap().public(), made.public());
    let openssl =
        |arguments: &[&str]| Command::new("openssl").args(arguments).current_dir(folder.path()).output().unwrap();
    let public = openssl(&["pkey", "-in", "bureau.pem", "-pubout"]);
    assert_eq!(PublicKey::from_text(&String::from_utf8(public.stdout).unwrap()).as_ref(), Some(made.public()));
    // What openssl makes of the key is what we wrote, to the byte.
    assert_eq!(openssl(&["pkey", "-in", "bureau.pem"]).stdout, fs::read(&path).unwrap());
    // And its signature over the same text is ours.
    fs::write(folder.path().join("text"), b"fdbk-report-v1\n{}").unwrap();
    let signed = openssl(&["pkeyutl", "-sign", "-rawin", "-inkey", "bureau.pem", "-in", "text"]);
    assert_eq!(signed.stdout, made.sign("fdbk-report-v1", b"{}"));
}

#[test]
fn a_key_of_openssl_is_read_from_file_and_variable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.pem");
    assert!(
        Command::new("openssl")
            .args(["genpkey", "-algorithm", "ed25519", "-out"])
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let read = BureauKey::from_file(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for spelt in [text.clone(), text.trim_end().to_owned(), text.replace('\n', "\r\n"), format!("\n{text}\n")] {
        assert_eq!(BureauKey::from_pem(&spelt, "test").unwrap().public(), read.public(), "{spelt:?}");
    }
    assert!(
        BureauKey::from_env("BUREAU_NO_SUCH_VARIABLE").unwrap_err().to_string().contains("BUREAU_NO_SUCH_VARIABLE")
    );
}

#[test]
fn version_two_is_read_and_its_public_half_must_be_right() {
    // RFC 8410 section 10.3: version 2 with an attribute and the public key.
    let pem = "-----BEGIN PRIVATE KEY-----\nMHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\noB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB\nZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PRIVATE KEY-----\n";
    let read = BureauKey::from_pem(pem, "test").unwrap();
    assert_eq!(read.public().base64(), "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=");
    let wrong = pem.replace("WmEzf6FQbrB", "WmEzf6FQbrC");
    assert!(BureauKey::from_pem(&wrong, "test").is_err());
}

#[test]
fn a_key_that_others_may_touch_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.pem");
    fs::write(&path, RFC8037_PEM).unwrap();
    for mode in [0o644, 0o640, 0o620, 0o604, 0o602, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = BureauKey::from_file(&path).unwrap_err();
        assert_eq!(refused.exit_code(), 1);
        assert!(refused.to_string().contains(&format!("chmod 600 {}", path.display())), "{refused}");
    }
    for mode in [0o600, 0o400, 0o700] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        BureauKey::from_file(&path).unwrap();
    }
}

#[test]
fn a_key_that_is_missing_or_no_file_is_the_inputs_fault() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(BureauKey::from_file(&folder.path().join("none")).unwrap_err().exit_code(), 1);
    // Below a file there is nothing to be missing: the system's own refusal.
    let long = folder.path().join("long.pem");
    fs::write(&long, "x".repeat(70_000)).unwrap();
    assert_eq!(BureauKey::from_file(&long.join("k.pem")).unwrap_err().exit_code(), 3);
    fs::set_permissions(&long, fs::Permissions::from_mode(0o600)).unwrap();
    for (path, reason) in [
        (folder.path(), "a directory, where a regular file should be"),
        (std::path::Path::new("/dev/zero"), "a device, where a regular file should be"),
        (long.as_path(), "is too long"),
    ] {
        let refused = BureauKey::from_file(path).unwrap_err();
        assert_eq!(refused.exit_code(), 1);
        assert!(refused.to_string().contains(reason) && !refused.to_string().contains("chmod"), "{refused}");
    }
}

#[test]
fn what_is_no_signing_key_is_refused_without_showing_it() {
    let secret = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
    let rsa = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n";
    for (text, reason) in [
        (secret, "not an Ed25519 private key"),
        (rsa, "not an Ed25519 private key"),
        ("", "not an Ed25519 private key"),
        ("-----BEGIN PUBLIC KEY-----\n", "is a public key"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "is encrypted"),
        (&"x".repeat(20_000), "too long"),
    ] {
        let refused = BureauKey::from_pem(text, "k").unwrap_err().to_string();
        assert!(refused.contains(reason) && !refused.contains(secret), "{refused}");
    }
    let shown = format!("{:?}", key());
    assert_eq!(shown, "BureauKey(kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k)");
}

#[test]
fn verification_is_strict() {
    let key = key();
    let signature = key.sign("t", b"{}");
    assert!(key.public().verify("t", b"{}", &signature));
    assert!(!key.public().verify("u", b"{}", &signature) && !key.public().verify("t", b"{ }", &signature));
    // S plus the group order says the same and is not canonical (RFC 8032 5.1.7).
    let order: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut other = signature;
    let mut carry = 0;
    for (byte, add) in other[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        (*byte, carry) = ((sum & 255) as u8, sum >> 8);
    }
    assert!(!key.public().verify("t", b"{}", &other));
    // Keys of small order, and one spelt with a y beyond the field.
    let mut identity = [0u8; 32];
    identity[0] = 1;
    assert!(PublicKey::from_bytes(&identity).is_none() && PublicKey::from_bytes(&[0; 32]).is_none());
    let mut beyond = [0xff; 32];
    (beyond[0], beyond[31]) = (0xf0, 0x7f);
    assert!(PublicKey::from_bytes(&beyond).is_none());
}

#[test]
fn base64_has_one_spelling() {
    let good = key().public().base64();
    assert!(PublicKey::from_base64(&good).is_some());
    let loose = good.replace("Ro=", "Rp=");
    for other in
        [good.trim_end_matches('='), &loose, &format!("{good}\n"), &good.replace('/', "_"), &format!("{good}AAAA")]
    {
        assert!(PublicKey::from_base64(other).is_none(), "{other}");
    }
}
