import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * A probe of the JDK's PBKDF2WithHmac...: it answers requests for keys until
 * its input ends, and times the derivation alone. See ../../docs/protocol.md.
 */
public final class Probe {
    private static final int MAX_LINE = 64 << 10; // with its line feed
    private static final int MAX_KEY = (MAX_LINE - 28) / 2; // what surely fits an answer
    private static final Map<String, String> ALGORITHMS = Map.of(
            "sha1", "PBKDF2WithHmacSHA1", "sha256", "PBKDF2WithHmacSHA256", "sha512", "PBKDF2WithHmacSHA512");

    /** What a request is refused with; the message is the answer. */
    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        Refusal(String message) {
            super(message);
        }
    }

    private Probe() {}

    public static void main(String[] args) throws IOException {
        // Not System.in and System.out: these bytes are no text of a locale.
        InputStream in = new BufferedInputStream(new FileInputStream(FileDescriptor.in), MAX_LINE);
        OutputStream out = new FileOutputStream(FileDescriptor.out); // unbuffered
        ByteArrayOutputStream line = new ByteArrayOutputStream(MAX_LINE);
        String answer = hello();
        for (;;) {
            out.write((answer + "\n").getBytes(StandardCharsets.US_ASCII));
            if (!readLine(in, line)) {
                return;
            }
            answer = line.size() < MAX_LINE
                    ? respond(line.toString(StandardCharsets.ISO_8859_1))
                    : "error the request is over 64 KiB";
        }
    }

    /** Reads up to a line feed, and of what is too long the beginning; false at the end of the input. */
    private static boolean readLine(InputStream in, ByteArrayOutputStream line) throws IOException {
        line.reset();
        for (int c; (c = in.read()) != '\n'; ) {
            if (c < 0) {
                return false;
            }
            if (line.size() < MAX_LINE) {
                line.write(c);
            }
        }
        return true;
    }

    private static String hello() {
        return "pbkdf2-probe/1 java"
                + word("version", System.getProperty("java.version"))
                + word("toolchain", System.getProperty("java.vm.name") + "-" + System.getProperty("java.vm.version"))
                + word("mode", System.getProperty("java.vm.info"))
                + word("vendor", System.getProperty("java.vendor"));
    }

    private static String word(String key, String value) {
        return " " + key + "=" + value.replaceAll("[^!-~]", "_");
    }

    private static String respond(String request) {
        try {
            return derive(request);
        } catch (Refusal refusal) {
            return "error " + refusal.getMessage();
        } catch (GeneralSecurityException | RuntimeException e) { // the library's
            return "error " + e.toString().replaceAll("\\s+", " ");
        }
    }

    private static String derive(String request) throws Refusal, GeneralSecurityException {
        String[] words = request.split(" ", -1);
        if (!words[0].equals("derive") || words.length < 6) {
            throw new Refusal("unknown request: send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX");
        }
        String algorithm = ALGORITHMS.get(words[1]);
        if (algorithm == null) {
            throw new Refusal("unknown prf: use sha1, sha256 or sha512");
        }
        int iterations = number("iterations", words[2], Integer.MAX_VALUE);
        int keyBytes = number("key bytes", words[3], MAX_KEY);
        byte[] salt = unhex("salt", words[4]);
        char[] password = chars(unhex("password", words[5]));
        SecretKeyFactory factory = SecretKeyFactory.getInstance(algorithm);
        PBEKeySpec spec = new PBEKeySpec(password, salt, iterations, 8 * keyBytes);

        long start = System.nanoTime();
        byte[] key = factory.generateSecret(spec).getEncoded();
        long ns = System.nanoTime() - start;

        return "key " + HexFormat.of().formatHex(key) + " ns " + ns;
    }

    private static int number(String name, String word, int most) throws Refusal {
        long n = word.matches("[0-9]{1,10}") ? Long.parseLong(word) : 0;
        if (n < 1 || n > most) {
            throw new Refusal(name + ": send 1 to " + most);
        }
        return (int) n;
    }

    private static byte[] unhex(String name, String word) throws Refusal {
        if (word.equals("-")) {
            return new byte[0];
        }
        if (word.length() % 2 != 0 || !word.matches("[0-9a-f]+")) {
            throw new Refusal(name + ": send two lower-case hex digits a byte, or - for none");
        }
        return HexFormat.of().parseHex(word);
    }

    /** The library takes characters, and turns them into UTF-8: only ASCII keeps its bytes. */
    private static char[] chars(byte[] password) throws Refusal {
        char[] chars = new char[password.length];
        for (int i = 0; i < chars.length; i++) {
            if (password[i] < 0) {
                throw new Refusal("password: only ASCII is supported");
            }
            chars[i] = (char) password[i];
        }
        return chars;
    }
}
